import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { HoldDetails } from '../../../src/contracts/admin/holds.routes.js';
import { STORAGE, type Storage } from '../../../src/core/storage/storage.js';
import { recordingFile } from '../../../src/vision/recordings/recording.rules.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { readBundle, requestBundle } from '../../support/bundle.js';
import { type Footage, insertFootage, videoConnection } from '../../support/held-footage.js';
import { type S3Server, startS3Server } from '../../support/s3-server.js';
import { addViews } from '../../support/rows.js';
import { extractZip } from '../../support/zip.js';

const HOUR = { from: '2026-01-31T08:00:00Z', to: '2026-01-31T09:00:00Z' };

let app: TestApp;
let folder: string;
beforeAll(async () => {
  app = await startTestApp();
  folder = await mkdtemp(join(tmpdir(), 'haulbridge-bundle-'));
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

const hold = async (service: TestApp, connectionId: string, fields: object = {}) =>
  (
    await service.admin<HoldDetails>('POST', '/holds', {
      ...{ caseId: '=CLAIM/1', reason: 'collision', connectionId, truckId: 'TRUCK-7', ...HOUR, ...fields },
    })
  ).body;

/** Minutes of an hour, one recording each. */
const minutes = (scene: Pick<Footage, 'haulerId' | 'connectionId'>, count: number, fields: Partial<Footage> = {}) =>
  Array.from({ length: count }, (_, i): Footage => {
    const at = (second: number) => new Date(Date.parse(HOUR.from) + second * 1_000).toISOString();
    return { ...scene, start: at(i * 5), end: at(i * 5 + 5), ...fields };
  });

describe('the bundle of a hold', () => {
  test('has every file with its source, sums and views', async () => {
    const scene = await videoConnection(app);
    const ids = await insertFootage(app, [
      ...minutes(scene, 20),
      ...minutes(scene, 3, { cameraId: '../=rear "1"' }),
      // More rows than one read has.
      ...minutes(scene, 505, { cameraId: 'left', status: 'available' }),
      ...minutes(scene, 1, { truckId: 'TRUCK-8' }),
    ]);
    const created = await hold(app, scene.connectionId);
    await addViews(app, ids[0] ?? '', ids.at(-1) ?? '');
    await readBundle(app, `/holds/${created.id}/bundle`);
    await app.admin('POST', `/holds/${created.id}/release`, { reason: 'settled' });
    const { response, names, manifest } = await readBundle(app, `/holds/${created.id}/bundle`);
    expect(response.headers).toMatchObject({
      'content-type': 'application/zip',
      'content-disposition': expect.stringMatching(/^attachment; filename="hold-CLAIM-1-\d{8}T\d{6}Z\.zip"$/),
    });
    const videos = names.filter((name) => name.endsWith('.mp4'));
    expect(videos.filter((name) => !/^recordings\/[\w-]+\/[\w-]+\.mp4$/.test(name))).toEqual([]);
    expect(names.slice(-2)).toEqual(['manifest.json', 'SHA256SUMS']);
    const { recordings, views } = manifest;
    expect(new Set(recordings.map(({ id }) => id))).toEqual(new Set(ids.slice(0, -1)));
    expect(recordings.filter(({ file: name }) => name !== undefined)).toHaveLength(23);
    expect(recordings.find(({ id }) => id === ids[0])).toMatchObject({
      ...{ haulerId: scene.haulerId, connectionId: scene.connectionId, connectionUrl: 'https://partner.example' },
      ...{ truckId: 'TRUCK-7', cameraId: 'front', status: 'stored', source: 'continuous', startTime: HOUR.from },
      ...{ partnerRecordingId: `partner-${ids[0]}`, sizeBytes: 1000, writtenBytes: 1000 },
    });
    expect(recordings.every(({ sha256, writtenSha256 }) => sha256 === writtenSha256)).toBe(true);
    expect(manifest.hold).toMatchObject({
      ...{ caseId: '=CLAIM/1', reason: 'collision', createdBy: 'admin', status: 'released' },
      ...{ releaseReason: 'settled', releasedBy: 'admin' },
    });
    expect(manifest.hold.missing.map(({ cause }) => cause)).toContain('notListed');
    expect(views).toMatchObject([
      { recordingId: ids[0], action: 'recording.viewed', actor: 'console' },
      { recordingId: ids[0], action: 'share.viewed', actor: 'share', address: '192.0.2.1' },
    ]);
    expect(manifest.earlierExports).toMatchObject([{ action: 'hold.exported', actor: 'admin' }]);
    const { body } = await app.admin<{ data: { sentence: string }[] }>('GET', `/actions?resource=hold:${created.id}`);
    expect(body.data.map(({ sentence }) => sentence)).toContainEqual(
      expect.stringMatching(
        /^An admin with the token downloaded all that is kept by the hold of TRUCK-7 for =CLAIM\/1/,
      ),
    );
  });

  test('names a file that is gone, and one that differs, and is whole all the same', async () => {
    const scene = await videoConnection(app);
    const [gone = '', differs = '', longer = '', good = ''] = await insertFootage(app, minutes(scene, 4));
    const storage = app.app.get<Storage>(STORAGE, { strict: false });
    await storage.delete(recordingFile(gone));
    await storage.store(recordingFile(differs), Readable.from([Buffer.alloc(1000, 1)]));
    await storage.store(recordingFile(longer), Readable.from([Buffer.alloc(2000, 1)]));
    const { id } = await hold(app, scene.connectionId);
    const { manifest } = await readBundle(app, `/holds/${id}/bundle`);
    expect(
      manifest.recordings.map(({ id: recording, problem, writtenBytes }) => [recording, problem, writtenBytes]),
    ).toEqual([
      [gone, 'gone', undefined],
      [differs, 'differs', 1000],
      [longer, 'differs', 2000],
      [good, undefined, 1000],
    ]);
  });
});

const LARGE = Buffer.alloc(2 * 1024 * 1024, 7);

/** Stores recordings of 2 MB. Returns an empty object, for the fields of the hold. */
async function stored(service: TestApp, scene: Pick<Footage, 'haulerId' | 'connectionId'>, count: number) {
  await insertFootage(service, minutes(scene, count, { bytes: LARGE }));
  return {};
}

describe('the bundle of files in S3', () => {
  let server: S3Server;
  let service: TestApp;
  beforeAll(async () => {
    server = await startS3Server();
    service = await startTestApp({ env: { STORAGE_URL: server.storageUrl('bundle/') } });
  });
  afterAll(async () => {
    await service.close();
    await server.stop();
  });

  test('is whole, and cut off where the storage fails in the middle', async () => {
    const scene = await videoConnection(service);
    const { id } = await hold(service, scene.connectionId, await stored(service, scene, 30));
    const { manifest } = await readBundle(service, `/holds/${id}/bundle`);
    expect(manifest.recordings.map(({ writtenBytes }) => writtenBytes)).toEqual(Array(30).fill(LARGE.length));

    const response = await requestBundle(service, `/holds/${id}/bundle`);
    const chunks: Buffer[] = [((await once(response, 'data')) as [Buffer])[0]];
    const end = once(response, 'end').then(
      () => 'whole',
      (error: NodeJS.ErrnoException) => error.code,
    );
    response.pause();
    await server.stop();
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.resume();
    expect([await end, response.complete]).toEqual(['ECONNRESET', false]);
    const file = join(folder, 'cut.zip');
    await writeFile(file, Buffer.concat(chunks));
    await expect(extractZip(file, folder)).rejects.toThrow();

    const away = await service.admin('GET', `/holds/${id}/bundle`);
    expect(away.status).toBe(503);
  });
});
