import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { fromSource } from '../support/from-source.js';
import { held, heldChild } from '../support/held.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { testServer } from '../support/test-run.js';

const SERVICE = 'src/main.ts';
const MIGRATE = 'src/migrate.ts';
const SECRETS = { ADMIN_TOKEN: 'test-admin-token-0123456789', SECRETS_KEY: '5a'.repeat(32), LOG_LEVEL: 'silent' };

let database: TestDatabase;
beforeAll(async () => void (database = await createTestDatabase()));
afterAll(() => database.drop());

/** Runs a source with these variables alone, and waits for its end. The shell runs the command `first` before. */
async function runToEnd(program: string, variables: Readonly<Record<string, string>>, first = ':') {
  const command = [process.execPath, ...fromSource(program)];
  const child = spawn('sh', ['-c', `${first} && exec "$@"`, 'sh', ...command], {
    env: { PATH: process.env['PATH'], ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // An embedded server would outlive a kill.
  heldChild(child, 'SIGTERM');
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, out, err };
}

/** The address of the test database with other parts. */
function elsewhere(parts: Partial<Record<'hostname' | 'port' | 'username' | 'pathname', string>>): string {
  return Object.assign(new URL(database.url), parts).href;
}

const databaseAt = async (hostname: string) => elsewhere({ hostname, port: String(await freePort()) });

describe('a database that is not reachable is reported in one sentence', () => {
  test.each<[string, string, Record<string, string>]>([
    ['the service', SERVICE, {}],
    ['the service that does not migrate', SERVICE, { MIGRATE_ON_START: 'false' }],
    ['npm run migrate', MIGRATE, {}],
  ])('by %s', async (_, program, variables) => {
    const DATABASE_URL = await databaseAt('127.0.0.1');
    const { code, err } = await runToEnd(program, { ...SECRETS, ...variables, DATABASE_URL });
    const sentence = /^DATABASE_URL: the database cannot be reached: connect ECONNREFUSED 127\.0\.0\.1:\d+\n$/;
    expect([code, err]).toEqual([1, expect.stringMatching(sentence)]);
  });
});

describe('an address that the service cannot listen on is reported in one sentence', () => {
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
  });
});

describe('a fault that an operator can fix is reported without a stack', () => {
  test.each([SERVICE, MIGRATE])(
    'a role that may not create tables: %s',
    async (program) => {
      const used = await createTestDatabase({ migrated: false });
      const owner = await used.connect(1);
      const role = `plain_${randomBytes(4).toString('hex')}`;
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
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(/^DATA_DIR: initdb ended with 1: [^]*could not write to file/),
    ]);
    expect(err).not.toMatch(/\n {4}at /);
  });
});

test('a start that fails ends, also where its log is on a full disk', async () => {
  const variables = { DATA_DIR: '/proc/nothing/data', NODE_ENV: 'production', EMBEDDED_DATABASE: 'true' };
  const { code, err } = await runToEnd(SERVICE, variables, 'exec > /dev/full');
  expect([code, err]).toEqual([1, expect.stringMatching(/^DATA_DIR \/proc\/nothing\/data cannot be created: .*\.\n$/)]);
});

/** A line of the log. */
interface Line {
  readonly level: number;
  readonly msg: string;
}

const WARN = 40;

const linesOf = (text: string): Line[] =>
  text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));

test('missing migrations are reported at the start, without the errors that follow from them', async () => {
  const empty = await createTestDatabase({ migrated: false });
  const service = await startService({ databaseUrl: empty.url, env: { MIGRATE_ON_START: 'false' } });
  const missing = /^MIGRATE_ON_START: \d\d migrations are missing: run npm run migrate\. Until then calls fail\.$/;
  await eventually(() =>
    expect(linesOf(service.output())).toContainEqual(
      expect.objectContaining({ level: WARN, msg: expect.stringMatching(missing) }),
    ),
  );
  expect((await fetch(`${service.url}/health/ready`)).status).toBe(503);
  expect(linesOf(service.output()).filter(({ msg }) => msg.includes('STORAGE_URL'))).toEqual([]);
  expect(await service.end()).toBe(0);
  await empty.drop();
});

describe('a rejection that nothing handles', () => {
  // The signal drops a promise, as a fault of the service would.
  const drop = encodeURIComponent(`process.on('SIGUSR2', () => Promise.reject(new Error('dropped')))`);
  const start = (env: Record<string, string> = {}) =>
    startService({
      databaseUrl: database.url,
      env: { LOG_LEVEL: 'info', ...env },
      nodeOptions: [`--import=data:text/javascript,${drop}`],
    });
  const dropped = (output: string) =>
    linesOf(output).filter(({ msg }) => msg === 'a rejection without a handler').length;

  test('is logged, and the service goes on', async () => {
    const service = await start();
    service.child.kill('SIGUSR2');
    await eventually(() => expect(dropped(service.output())).toBe(1));
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    expect(await service.end()).toBe(0);
  });

  test('is logged, and in production the service stops as after SIGTERM, with the exit code 1', async () => {
    const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://haulbridge.example' };
    const service = await start(production);
    expect(await service.end('SIGUSR2')).toBe(1);
    expect(dropped(service.output())).toBe(1);
    expect(linesOf(service.output()).map(({ msg }) => msg)).toEqual(expect.arrayContaining(['stopping', 'stopped']));
  });
});
