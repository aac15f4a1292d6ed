import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { recordingFile } from '../../src/vision/recordings/recording.rules.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { chunk } from '../support/download-scene.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { serveFile } from '../support/file-host.js';
import { sampleVideo } from '../support/sample-video.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import {
  CONTINUOUS,
  inHours,
  lists,
  sha256,
  startVisionPartner,
  type VisionPartner,
} from '../support/scripted-vision.js';

const DOWNLOADS = 50;
/** The number of complete files at the kill. */
const FIRST = 12;
const BYTES = 200_000;

let database: TestDatabase;
let db: DataSource;
let partner: VisionPartner;
let service: BuiltService | undefined;
beforeAll(async () => {
  [database, partner] = await Promise.all([createTestDatabase(), startVisionPartner()]);
  db = await database.connect(2);
});
afterAll(async () => {
  await service?.end('SIGKILL');
  await partner.stop();
  await database.drop();
});

/** Files below the video folder of the service: path and time of the last write. */
function filesOf(dataDir: string): { readonly path: string; readonly inode: bigint }[] {
  const root = join(dataDir, 'videos');
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .map((name) => ({ path: name, found: statSync(join(root, name), { bigint: true }) }))
    .filter(({ found }) => found.isFile())
    .map(({ path, found }) => ({ path, inode: found.ino }));
}

const published = (dataDir: string) => filesOf(dataDir).filter(({ path }) => path.startsWith('recordings/'));

const begun = (dataDir: string) => filesOf(dataDir).filter(({ path }) => path.endsWith('.part'));

const stored = async () =>
  (await db.query<[{ n: number }]>(`SELECT count(*)::int AS n FROM recordings WHERE status = 'stored'`))[0].n;

async function follow(running: BuiltService): Promise<void> {
  const created = async <T>(path: string, body: object) => (await running.admin<T>('POST', path, body)).body;
  const { id: haulerId } = await created<{ id: string }>('/haulers', { name: 'Killed Hauling' });
  const { id: connectionId } = await created<{ id: string }>('/connections', {
    haulerId,
    interface: 'vision',
    baseUrl: partner.url,
    apiKey: 'the-partners-key',
    customerId: 'customer-1',
  });
  await created('/video-subscriptions', { connectionId, truckId: 'TRUCK-7', startTime: inHours(-4) });
}

test('kill -9 during 50 downloads: 50 complete files, each published once, and no other file', async () => {
  const bodies = Array.from({ length: DOWNLOADS }, () => sampleVideo(BYTES));
  let halted = true;
  let halves = 0;
  const chunks = bodies.map((body, n) => {
    const link = partner.link(body, (req, res) => {
      const serve = serveFile(body, { etag: `"${sha256(body)}"` });
      // Before the kill, hosts send half of a file and stop after the first files: the kill meets four downloads.
      if (!halted || n < FIRST) return serve(req, res);
      halves++;
      res.writeHead(200, { 'content-length': body.length, etag: `"${sha256(body)}"` });
      res.write(body.subarray(0, BYTES / 2));
    });
    return chunk(n, link, { expiresAt: new Date(Date.now() + 8 * 3_600_000 + n * 1_000).toISOString() });
  });
  partner.on(
    CONTINUOUS,
    lists('recordings', () => chunks),
  );

  service = await startService({ databaseUrl: database.url });
  const { dataDir } = service;
  await follow(service);
  await eventually(async () => expect([await stored(), halves, begun(dataDir).length]).toEqual([FIRST, 4, 4]));
  expect(await service.end('SIGKILL')).toBe('SIGKILL');
  const before = published(dataDir);
  expect(before).toHaveLength(FIRST);

  halted = false;
  // As the time would in which a killed process renews no lane.
  await db.query('UPDATE lanes SET owned_until = now()');
  service = await startService({ databaseUrl: database.url, dataDir });
  await eventually(async () => expect(await stored()).toBe(DOWNLOADS));

  const rows = await db.query<{ id: string; n: string; sha256: string; size: string }[]>(
    `SELECT id, partner_recording_id AS n, sha256, size_bytes AS size FROM recordings ORDER BY length(partner_recording_id), n`,
  );
  expect(rows.map((row) => [row.sha256, Number(row.size)])).toEqual(bodies.map((body) => [sha256(body), BYTES]));
  const after = new Map(filesOf(dataDir).map(({ path, inode }) => [path, inode]));
  // Only the files of the rows, and no temporary one.
  expect([...after.keys()].sort()).toEqual(rows.map(({ id }) => recordingFile(id)).sort());
  for (const { id, sha256: sum } of rows) {
    const bytes = readFileSync(join(dataDir, 'videos', recordingFile(id)));
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(sum);
  }
  // A file that was published before the kill is the same, and was requested once.
  expect(before.every(({ path, inode }) => after.get(path) === inode)).toBe(true);
  const asked = (n: number) =>
    partner.fetched.filter((link) => String(chunks[n]?.['downloadUrl']).endsWith(link)).length;
  expect(bodies.map((_, n) => asked(n))).toEqual(bodies.map((_, n) => (n >= FIRST && n < FIRST + 4 ? 2 : 1)));
  reportFigures('downloads killed', { files: DOWNLOADS, 'half fetched when killed': halves, lost: 0, 'left over': 0 });
});
