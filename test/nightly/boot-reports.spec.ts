import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { migrate } from '../../src/database/migrate.js';
import { reasonOf } from '../../src/database/reason.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { type Ended, runToEnd } from '../support/boot-process.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { held } from '../support/held.js';
import { at, CUSTOMER, demoVideo, TRUCK } from '../support/reference-vision.js';
import { startServiceProcess } from '../support/service-process.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { testServer } from '../support/test-run.js';

const SERVICE = 'src/main.ts';
const MIGRATE = 'src/database/migrate-command.ts';
const SECRETS = { ADMIN_TOKEN: 'test-admin-token-0123456789', SECRETS_KEY: '5a'.repeat(32), LOG_LEVEL: 'silent' };

let database: TestDatabase;
beforeAll(async () => void (database = await createTestDatabase()));
afterAll(() => database.drop());

/** The folder of an embedded database that two cases use: its creation takes longer than a start. */
let dataDir: string;
let migrated: Ended;
beforeAll(async () => {
  dataDir = mkdtempSync(join(testServer().folder, 'notice-'));
  // Only the first start finds an empty database.
  migrated = await runToEnd(MIGRATE, { DATA_DIR: dataDir, DATABASE_URL: '' });
});

const noticeOf = (folder: string) =>
  `uses the embedded PostgreSQL under ${join(folder, 'postgres')}, since DATABASE_URL is not set`;

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

  test.each<[string, RegExp, () => Promise<string> | string]>([
    ['a name of several addresses', /connect ECONNREFUSED [^\n]*$/, () => databaseAt('localhost')],
    ['an unknown host', /getaddrinfo (ENOTFOUND|EAI_AGAIN) nowhere\.invalid$/, () => databaseAt('nowhere.invalid')],
    ['an unknown role', /"nobody"( does not exist)?$/, () => elsewhere({ username: 'nobody' })],
    ['an unknown database', /database "nothing" does not exist$/, () => elsewhere({ pathname: '/nothing' })],
  ])('for %s', async (_, reason, address) => {
    const printed = await migrate(await address()).then(() => 'nothing', reasonOf);
    expect(printed).toMatch(new RegExp(`^DATABASE_URL: the database cannot be reached: [^\n]*${reason.source}`));
  });
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
  });

  test('a used port; the jobs end before the embedded database, so that no job fails', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    held(async () => void taken.close());
    await once(taken, 'listening');
    const { code, out, err } = await runToEnd(SERVICE, {
      DATA_DIR: dataDir,
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
    expect([code, err]).toEqual([1, expect.stringMatching(/^initdb ended with 1: [^]*could not write to file/)]);
    expect(err).not.toMatch(/\n {4}at /);
  });

  test('a disk without any space', async () => {
    const folder = mkdtempSync(join(testServer().folder, 'boot-'));
    const { code, err } = await runToEnd(SERVICE, { DATA_DIR: folder }, 'ulimit -f 0');
    expect([code, err]).toEqual([1, 'EFBIG: file too large, write\n']);
  });
});

test('an unexpected error at the start is reported with its stack', async () => {
  const used = await createTestDatabase({ migrated: false });
  await (await used.connect(1)).query('CREATE TABLE haulers (id int)');
  const { code, err } = await runToEnd(SERVICE, { ...SECRETS, DATABASE_URL: used.url });
  expect([code, err]).toEqual([1, expect.stringMatching(/relation "haulers" already exists\n {4}at /)]);
  await used.drop();
});

/** A line of the log. */
interface Line {
  readonly level: number;
  readonly msg: string;
  readonly reason?: string;
  readonly path?: string;
  readonly status?: number;
}

const WARN = 40;
const REASON = 'The video storage failed: not a directory (ENOTDIR).';

let service: TestApp;
beforeAll(async () => void (service = await startTestApp()));
afterAll(() => service.close());

const linesOf = (text: string): Line[] =>
  text.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as Line] : []));

test('missing migrations are reported at the start, without the errors that follow from them', async () => {
  const empty = await createTestDatabase({ migrated: false });
  const variables = { DATABASE_URL: empty.url, MIGRATE_ON_START: 'false', LOG_LEVEL: 'warn' };
  const { child, url, output, ended } = await startServiceProcess(service.env, variables);
  const missing = /^MIGRATE_ON_START: \d\d migrations are missing: run npm run migrate\. Until then calls fail\.$/;
  await eventually(() =>
    expect(linesOf(output())).toContainEqual(
      expect.objectContaining({ level: WARN, msg: expect.stringMatching(missing) }),
    ),
  );
  expect((await fetch(`${url}/health/ready`)).status).toBe(503);
  expect(linesOf(output()).filter(({ msg }) => msg.includes('STORAGE_URL'))).toEqual([]);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  await empty.drop();
});

test('the log has one line each for start, stopping and stopped, and none for the framework and for health checks', async () => {
  const { child, url, output, ended } = await startServiceProcess(service.env, { LOG_LEVEL: 'info' });
  for (const path of ['live', 'ready']) expect((await fetch(`${url}/health/${path}`)).status).toBe(200);
  expect((await fetch(`${url}/nothing`)).status).toBe(404);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
  const lines = linesOf(output());
  const texts = lines.map((line) => (line.path === undefined ? line.msg : `${line.path} ${line.status}`));
  expect(texts).toEqual(['started', '/nothing 404', 'stopping', 'stopped']);
  const { pathname } = new URL(service.env.DATABASE_URL);
  const database = expect.stringMatching(new RegExp(`^postgresql://127[^@]*${pathname}$`));
  const storage = expect.stringMatching(/^file:\/.*\/videos$/);
  expect(lines[0]).toMatchObject({ version: expect.any(String), address: url, database, storage });
});

test('a storage that cannot be written is reported at the start, and an upload receives 503 with its reason in the log', async () => {
  const variables = { STORAGE_URL: 'file:/dev/null/videos', LOG_LEVEL: 'warn' };
  const { child, url, output, ended } = await startServiceProcess(service.env, variables);
  const lines = () => linesOf(output());
  await eventually(() =>
    expect(lines()).toContainEqual(
      expect.objectContaining({ level: WARN, msg: expect.stringContaining(`STORAGE_URL: ${REASON} Until it can`) }),
    ),
  );
  expect((await fetch(`${url}/health/ready`)).status).toBe(200);

  const of = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(1) };
  const response = await fetch(`${url}/admin/v1/hosted/recordings?${new URLSearchParams(of).toString()}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, 'Content-Type': 'video/mp4' },
    body: demoVideo(0),
  });
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  const body: unknown = await response.json();
  expect(body).toMatchObject({ success: false, error: { code: 'INTERNAL_ERROR', message: expect.any(String) } });
  expect(JSON.stringify(body)).not.toContain('ENOTDIR');
  await eventually(() =>
    expect(lines()).toContainEqual(
      expect.objectContaining({ level: WARN, reason: REASON, path: '/admin/v1/hosted/recordings' }),
    ),
  );
  expect(lines().filter(({ level }) => level > WARN)).toEqual([]);
  child.kill('SIGTERM');
  expect(await ended).toBe(0);
});

test('npm run migrate reports that it works on the embedded database', () => {
  const { code, out } = migrated;
  expect(code).toBe(0);
  expect(out).toMatch(/^uses .*\nApplied /);
  expect(out.split('\n')[0]).toBe(noticeOf(dataDir));
});

test.each([
  ['npm run start:prod warns of the embedded database', { npm_lifecycle_event: 'start:prod' }, [40]],
  ['a service in production warns of it', { NODE_ENV: 'production', EMBEDDED_DATABASE: 'true', DEMO: 'true' }, [40]],
  ['npm start does not warn of it', { npm_lifecycle_event: 'start' }, []],
])('%s', async (_, variables, expected) => {
  // No data folder: the service ends after its warnings.
  const folder = mkdtempSync(join(testServer().folder, 'notice-'));
  mkdirSync(join(folder, 'postgres'));
  const { code, out } = await runToEnd(SERVICE, { DATA_DIR: folder, DATABASE_URL: '', ...variables });
  expect(code).toBe(1);
  const warned = linesOf(out).filter(({ msg }) => msg === noticeOf(folder));
  expect(warned.map(({ level }) => level)).toEqual(expected);
});

describe('a rejection that nothing handles', () => {
  // The signal drops a promise, as a fault of the service would.
  const drop = encodeURIComponent(`process.on('SIGUSR2', () => Promise.reject(new Error('dropped')))`);
  const variables = { LOG_LEVEL: 'info', NODE_OPTIONS: `--import=data:text/javascript,${drop}` };
  const dropped = (output: string) =>
    linesOf(output).filter(({ msg }) => msg === 'a rejection without a handler').length;

  test('is logged, and the service goes on', async () => {
    const { child, url, output, ended } = await startServiceProcess(service.env, variables);
    child.kill('SIGUSR2');
    await eventually(() => expect(dropped(output())).toBe(1));
    expect((await fetch(`${url}/health/live`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
  });

  test('is logged, and in production the service stops as after SIGTERM, with the exit code 1', async () => {
    const production = { ...variables, NODE_ENV: 'production', PUBLIC_URL: 'https://haulbridge.example' };
    const { child, output, ended } = await startServiceProcess(service.env, production);
    child.kill('SIGUSR2');
    expect(await ended).toBe(1);
    expect(dropped(output())).toBe(1);
    expect(linesOf(output()).map(({ msg }) => msg)).toEqual(expect.arrayContaining(['stopping', 'stopped']));
  });
});
