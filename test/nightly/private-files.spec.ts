import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type BuiltService, startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { fromSource } from '../support/from-source.js';
import { heldChild } from '../support/held.js';
import { sampleVideo } from '../support/sample-video.js';
import { createTestDatabase } from '../support/test-database.js';
import { testServer } from '../support/test-run.js';

const UUID = '019a9a3e-5b7c-7def-8123-456789abcdef';
/** Files of an earlier version, whose folders are 0755 as well. */
const EARLIER = [
  'secrets.json',
  'service.json',
  'spool/recordings~ef~x/draft.part',
  'scratch/clip-1/clip.mp4',
  `videos/recordings/ef/${UUID}.mp4`,
  `videos/reference-clips/ef/${UUID}.mp4`,
  'videos/.partial/recordings~ef~x/draft.part',
];

/** For development; each is a warning in production. */
const SWITCHES = { OUTBOUND_ALLOW_PRIVATE: 'true', DEMO: 'true', SANDBOX: 'true' };

let dataDir: string;
let foreign: string;
let service: BuiltService;
beforeAll(async () => {
  dataDir = mkdtempSync(join(testServer().folder, 'private-'));
  for (const file of EARLIER) {
    mkdirSync(dirname(join(dataDir, file)), { recursive: true });
    writeFileSync(join(dataDir, file), 'x');
  }
  foreign = join(mkdtempSync(join(testServer().folder, 'foreign-')), 'file');
  writeFileSync(foreign, 'x');
  symlinkSync(foreign, join(dataDir, 'videos/recordings/ef/link.mp4'));
  for (const path of [dataDir, foreign, ...pathsIn(dataDir)]) openToAll(path);
  const before = process.umask(0);
  try {
    service = await startService({
      databaseUrl: (await createTestDatabase()).url,
      dataDir,
      env: { NODE_ENV: 'production', ...SWITCHES },
    });
  } finally {
    process.umask(before);
  }
});
afterAll(() => service.end());

const openToAll = (path: string): void => {
  const found = lstatSync(path);
  if (!found.isSymbolicLink()) chmodSync(path, found.isDirectory() ? 0o755 : 0o644);
};

const pathsIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? [path, ...pathsIn(path)] : [path];
  });

const modeOf = (path: string): string => (lstatSync(path).mode & 0o7777).toString(8);

const isOpen = (path: string): boolean =>
  !lstatSync(path).isSymbolicLink() && modeOf(path) !== (lstatSync(path).isDirectory() ? '700' : '600');

test('folders of earlier versions are closed at the start; the files in them, of which there may be millions, are not read', async () => {
  const closed = ['', 'secrets.json', 'service.json', 'spool', 'scratch', 'videos', 'videos/.partial'];
  const ofVideos = ['videos/recordings', 'videos/reference-clips'];
  await eventually(() => expect([...closed, ...ofVideos].filter((path) => isOpen(join(dataDir, path)))).toEqual([]));
  expect(EARLIER.slice(2).map((file) => modeOf(join(dataDir, file)))).toEqual(Array(5).fill('644'));
  expect(modeOf(foreign)).toBe('644');
});

test('a folder with files of others, which DATA_DIR names by mistake, stays open', async () => {
  const shared = mkdtempSync(join(testServer().folder, 'shared-'));
  mkdirSync(join(shared, 'home'));
  for (const path of [shared, join(shared, 'home')]) openToAll(path);
  const own = await startService({ databaseUrl: (await createTestDatabase()).url, dataDir: shared });
  await eventually(() => expect(readdirSync(shared)).toContain('videos'));
  expect([modeOf(shared), modeOf(join(shared, 'home')), modeOf(join(shared, 'videos'))]).toEqual(['755', '755', '700']);
  await own.end();
});

test('new files and folders are private, whatever the umask is', async () => {
  const query = new URLSearchParams({ customerId: 'c', truckId: 'T', cameraId: 'front' });
  query.set('startTime', '2026-01-31T08:00:00Z');
  query.set('endTime', '2026-01-31T08:01:00Z');
  const response = await fetch(`${service.url}/admin/v1/hosted/recordings?${query.toString()}`, {
    method: 'POST',
    headers: { Authorization: 'Bearer test-admin-token-0123456789', 'Content-Type': 'video/mp4' },
    body: new Uint8Array(sampleVideo(20_000)),
  });
  expect(response.status).toBe(201);
  const { id } = (await response.json()) as { id: string };
  const [stored = '', ...others] = pathsIn(dataDir).filter((path) => path.includes(id));
  expect([others, [stored, dirname(stored)].filter(isOpen)]).toEqual([[], []]);
});

test('the service warns at its start of each switch for development that is on in production', () => {
  const lines = service.output().split('\n');
  for (const name of Object.keys(SWITCHES)) {
    const [line, ...others] = lines.filter((each) => each.includes(`${name} is on in production: `));
    expect([JSON.parse(line ?? '{}'), others]).toMatchObject([{ level: 40 }, []]);
  }
});

test('SIGTERM ends a start that waits for its database, with the exit code 0', async () => {
  const silent = createServer();
  silent.listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const secrets = { ADMIN_TOKEN: 'a'.repeat(24), SECRETS_KEY: 'ab'.repeat(32) };
  const child = heldChild(
    spawn(process.execPath, fromSource('src/main.ts'), {
      env: {
        PATH: process.env['PATH'],
        DATABASE_URL: `postgres://u@127.0.0.1:${port}/x`,
        DATA_DIR: dataDir,
        ...secrets,
      },
      stdio: 'ignore',
    }),
  );
  const [connection] = (await once(silent, 'connection')) as [Socket];
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  connection.destroy();
  silent.close();
});
