import { randomBytes } from 'node:crypto';
import { onServer, testServer } from './test-run.js';

/** What an operator of a database, or a tool of one, does to it with psql. */
export type OperatorChange = (url: string) => Promise<unknown>;

const run =
  (...statements: string[]): OperatorChange =>
  (url) =>
    onServer(url, async (client) => {
      for (const statement of statements) await client.query(statement);
    });

export const publishAllTables = run('CREATE PUBLICATION warehouse FOR ALL TABLES');
export const enableRowSecurity = run('ALTER TABLE write_probes ENABLE ROW LEVEL SECURITY');
export const failByTrigger = run(
  `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not audited'; END $$`,
  'CREATE TRIGGER refuse BEFORE INSERT OR DELETE ON write_probes FOR EACH ROW EXECUTE FUNCTION refuse()',
);
/** The address of the database for an ordinary role, which may read and change each table but delete no probe. */
export async function ordinaryRole(url: string): Promise<string> {
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
export const hideMigrations = (url: string, ofRole: string) =>
  run(`REVOKE SELECT ON migrations FROM ${new URL(ofRole).username}`)(url);

/** The tables without a primary key. */
export const tablesWithoutKey = (url: string): Promise<string[]> =>
  onServer(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT c.relname AS name FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
          AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)`,
    );
    return rows.map(({ name }) => name);
  });
