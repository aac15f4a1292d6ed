import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { runToEnd } from '../support/boot-process.js';
import { freePort } from '../support/free-port.js';
import { held } from '../support/held.js';
import { createTestDatabase, type TestDatabase, testServer } from '../support/test-database.js';

const SERVICE = 'service-main.mjs';
const MIGRATE = 'migrate-main.mjs';
const SECRETS = { ADMIN_TOKEN: 'test-admin-token-0123456789', SECRETS_KEY: '5a'.repeat(32), LOG_LEVEL: 'silent' };

let database: TestDatabase;
beforeAll(async () => void (database = await createTestDatabase()));
afterAll(() => database.drop());

/** The address of the test database with other parts. */
function elsewhere(parts: Partial<Record<'hostname' | 'port' | 'username' | 'pathname', string>>): string {
  return Object.assign(new URL(database.url), parts).href;
}

const at = async (hostname: string) => elsewhere({ hostname, port: String(await freePort()) });

describe('a database that is not reachable is reported in one sentence', () => {
  async function expectSentence(program: string, variables: Record<string, string>, reason: RegExp): Promise<void> {
    const { code, err } = await runToEnd(program, { ...SECRETS, ...variables });
    expect([code, err.trimEnd().split('\n')]).toEqual([1, [expect.stringMatching(reason)]]);
    expect(err).toMatch(/^DATABASE_URL: the database cannot be reached: /);
  }

  test.each<[string, string, Record<string, string>]>([
    ['the service', SERVICE, {}],
    ['the service that does not migrate', SERVICE, { MIGRATE_ON_START: 'false' }],
    ['npm run migrate', MIGRATE, {}],
  ])('by %s', async (_, program, variables) => {
    const refused = /connect ECONNREFUSED 127\.0\.0\.1:\d+$/;
    await expectSentence(program, { ...variables, DATABASE_URL: await at('127.0.0.1') }, refused);
  });

  test.each<[string, RegExp, () => Promise<string> | string]>([
    ['a name of several addresses', /connect ECONNREFUSED /, () => at('localhost')],
    ['an unknown host', /getaddrinfo (ENOTFOUND|EAI_AGAIN) nowhere\.invalid$/, () => at('nowhere.invalid')],
    ['an unknown role', /"nobody"( does not exist)?$/, () => elsewhere({ username: 'nobody' })],
    ['an unknown database', /database "nothing" does not exist$/, () => elsewhere({ pathname: '/nothing' })],
  ])('for %s', async (_, reason, address) => expectSentence(MIGRATE, { DATABASE_URL: await address() }, reason));
});

describe('an address that the service cannot listen on is reported in one sentence', () => {
  test('an unknown host', async () => {
    const { code, err } = await runToEnd(SERVICE, {
      ...SECRETS,
      DATABASE_URL: database.url,
      HOST: 'nowhere.invalid',
      PORT: '0',
    });
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^HOST\/PORT: the service cannot listen there: getaddrinfo .*nowhere\.invalid\n$/),
    ]);
  }, 60_000);

  test('a used port; the jobs end before the embedded database, so that no job fails', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    held(async () => void taken.close());
    await once(taken, 'listening');
    const { code, out, err } = await runToEnd(SERVICE, {
      DATA_DIR: mkdtempSync(join(testServer().folder, 'boot-')),
      PORT: String((taken.address() as AddressInfo).port),
    });
    const logged = out.split('\n').filter((line) => line !== '');
    const warnings = logged.map((line) => JSON.parse(line) as { level: number; msg: string });
    expect(warnings.filter(({ level, msg }) => level >= 40 && !msg.includes('EADDRINUSE'))).toEqual([]);
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^HOST\/PORT: the service cannot listen there: listen EADDRINUSE: .*\n$/),
    ]);
  }, 60_000);
});

describe('a fault that an operator can fix is reported without a stack', () => {
  test.each([SERVICE, MIGRATE])(
    'a role that may not create tables: %s',
    async (program) => {
      const used = await createTestDatabase({ migrated: false });
      const owner = await used.connect(1);
      const role = `plain_${program.slice(0, 4)}_${process.pid}`;
      await owner.query(`CREATE ROLE ${role} LOGIN PASSWORD 'plain'`);
      const url = Object.assign(new URL(used.url), { username: role, password: 'plain' }).href;
      const { code, err } = await runToEnd(program, { ...SECRETS, DATABASE_URL: url });
      await owner.query(`DROP ROLE ${role}`);
      await used.drop();
      const expected =
        'DATABASE_URL: its role lacks a privilege that the migrations need: permission denied for schema public\n';
      expect([code, err]).toEqual([1, expected]);
    },
    60_000,
  );

  test('a disk without space for the embedded database', async () => {
    const folder = mkdtempSync(join(testServer().folder, 'boot-'));
    const { code, err } = await runToEnd(SERVICE, { DATA_DIR: folder }, 'ulimit -f 200');
    expect([code, err]).toEqual([1, expect.stringMatching(/^initdb ended with 1: [^]*could not write to file/)]);
    expect(err).not.toMatch(/\n {4}at /);
  }, 60_000);

  test('a disk without any space', async () => {
    const folder = mkdtempSync(join(testServer().folder, 'boot-'));
    const { code, err } = await runToEnd(SERVICE, { DATA_DIR: folder }, 'ulimit -f 0');
    expect([code, err]).toEqual([1, 'EFBIG: file too large, write\n']);
  }, 60_000);
});

test('an unexpected error at the start is reported with its stack', async () => {
  const used = await createTestDatabase({ migrated: false });
  await (await used.connect(1)).query('CREATE TABLE haulers (id int)');
  const { code, err } = await runToEnd(SERVICE, { ...SECRETS, DATABASE_URL: used.url });
  expect([code, err]).toEqual([1, expect.stringMatching(/relation "haulers" already exists\n {4}at /)]);
  await used.drop();
}, 60_000);
