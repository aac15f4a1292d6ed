import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { onServer, testServer } from '../../support/test-run.js';
import { type ErrorBody, flow, Hauler, ONE_SITE } from '../../acceptance/support/hauler.js';
import { ownDatabase, startOwnService } from '../../acceptance/support/service.js';
import { call } from '../../acceptance/support/target.js';

/** What an operator of a database, or a tool of one, does to it with psql. */
type OperatorChange = (url: string) => Promise<unknown>;

const run =
  (...statements: string[]): OperatorChange =>
  (url) =>
    onServer(url, async (client) => {
      for (const statement of statements) await client.query(statement);
    });

const publishAllTables = run('CREATE PUBLICATION warehouse FOR ALL TABLES');
const enableRowSecurity = run('ALTER TABLE write_probes ENABLE ROW LEVEL SECURITY');
const failByTrigger = run(
  `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not audited'; END $$`,
  'CREATE TRIGGER refuse BEFORE INSERT OR DELETE ON write_probes FOR EACH ROW EXECUTE FUNCTION refuse()',
);
/** The address of the database for an ordinary role, which may read and change each table but delete no probe. */
async function ordinaryRole(url: string): Promise<string> {
  const role = `ordinary_${randomBytes(6).toString('hex')}`;
  await onServer(testServer().adminUrl, (client) => client.query(`CREATE ROLE ${role} LOGIN PASSWORD 'x'`));
  await run(
    `GRANT ALL ON ALL TABLES IN SCHEMA public TO ${role}`,
    `GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO ${role}`,
    `REVOKE DELETE ON write_probes FROM ${role}`,
  )(url);
  const address = new URL(url);
  [address.username, address.password] = [role, 'x'];
  return address.href;
}

/** The role of an address may no longer read which migrations were applied. */
const hideMigrations = (url: string, ofRole: string) =>
  run(`REVOKE SELECT ON migrations FROM ${new URL(ofRole).username}`)(url);

/** The tables without a primary key. */
const tablesWithoutKey = (url: string): Promise<string[]> =>
  onServer(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT c.relname AS name FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
          AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)`,
    );
    return rows.map(({ name }) => name);
  });

const NOTHING: OperatorChange = () => Promise.resolve();
const linesWith = (output: string, text: string) => output.split('\n').filter((line) => line.includes(text)).length;

test.each([
  ['a publication of all tables', publishAllTables, 0],
  ['a trigger that fails', failByTrigger, 1],
  ['no privilege to delete', NOTHING, 0],
  ['row security', enableRowSecurity, 1],
])('an instance is ready where a push works: %s (decision 13)', async (_what, change, warnings) => {
  const { url } = await ownDatabase();
  await change(url);
  const service = await startOwnService({ databaseUrl: await ordinaryRole(url) });
  const hauler = await Hauler.create({ sites: ONE_SITE, service });
  for (let n = 0; n < 3; n++) {
    expect((await call('GET', '/health/ready', {}, service)).status).toBe(200);
    expect((await hauler.push({ inboundFlow: flow(`N-${n}`) })).status).toBe(200);
  }
  // Once, and not at each check.
  await eventually(() => expect(linesWith(service.output(), 'a check of the database failed')).toBe(warnings));
  expect(await service.end()).toBe(0);
});

test('an unknown error of a check is said as it is, and logged once (decision 13)', async () => {
  const { url } = await ownDatabase();
  const databaseUrl = await ordinaryRole(url);
  const service = await startOwnService({ databaseUrl });
  await hideMigrations(url, databaseUrl);
  const message = 'a check of the database failed: permission denied for table migrations';
  for (let n = 0; n < 3; n++) {
    const { status, body } = await call<ErrorBody>('GET', '/health/ready', {}, service);
    expect([status, body.error.message]).toEqual([503, message]);
  }
  await eventually(() => expect(linesWith(service.output(), message)).toBe(1));
});

test('every table has a key, so that a publication may send all changes (issue 46)', async () => {
  expect(await tablesWithoutKey((await ownDatabase()).url)).toEqual([]);
});
