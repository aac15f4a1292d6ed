import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { canMount } from '../../support/built-service.js';
import { eventually } from '../../support/eventually.js';
import { startS3Server } from '../../support/s3-server.js';
import { sampleVideo } from '../../support/sample-video.js';
import { CONTINUOUS, element, inHours, lists, sha256 } from '../../support/scripted-vision.js';
import { testServer } from '../../support/test-run.js';
import { Hauler, ONE_SITE } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin, call } from '../support/target.js';
import { type ShownRecording, VisionScene } from '../support/vision.js';

const MIB = 1024 * 1024;
/** Videos leave half of it free. */
const DISK_MIB = 32;
/** Two services start. */
const HOOK_MS = 120_000;

interface Storage {
  readonly service: OwnService;
  fill(): unknown;
  makeRoom(): unknown;
}

async function smallDisk(): Promise<Storage> {
  const folder = mkdtempSync(join(testServer().folder, 'full-disk-'));
  const data = join(folder, 'data');
  mkdirSync(data);
  const service = await startOwnService({ dataDir: data, smallDisk: { folder: data, mib: DISK_MIB } });
  // The file system is seen by the service alone.
  const filler = join(`/proc/${service.child.pid}/root`, data, 'filler');
  return {
    service,
    fill: () => writeFileSync(filler, Buffer.alloc((DISK_MIB - 8) * MIB)),
    makeRoom: () => rmSync(filler),
  };
}

async function fullBucket(): Promise<Storage> {
  const s3 = await startS3Server();
  const env = { ...s3.credentials, STORAGE_URL: s3.storageUrl('full-disk') };
  const service = await startOwnService({ env });
  return { service, fill: () => s3.fill(), makeRoom: () => s3.makeRoom() };
}

/** Where Linux or its configuration lets nobody mount, a bucket that takes no more shows the promise. */
const open = canMount() ? smallDisk : fullBucket;

describe('a storage that is full', () => {
  const video = sampleVideo(2 * MIB);
  let storage: Storage;
  let scene: VisionScene;
  beforeAll(async () => {
    storage = await open();
    scene = await VisionScene.create({ service: storage.service });
    await storage.fill();
  }, HOOK_MS);

  let minute = 0;
  const upload = () => {
    const at = (n: number) => new Date(Date.UTC(2026, 0, 31, 8, n)).toISOString();
    const query = { customerId: 'c', truckId: 't', cameraId: 'front', startTime: at(minute), endTime: at(++minute) };
    const headers = { Authorization: `Bearer ${storage.service.adminToken}`, 'Content-Type': 'video/mp4' };
    const path = `/admin/v1/hosted/recordings?${new URLSearchParams(query).toString()}`;
    return call<Record<string, never>>('POST', path, { headers, body: video }, storage.service);
  };

  test('refuses an upload with 503 and Retry-After, and still accepts tickets and accounts', async () => {
    const refused = await upload();
    expect(refused).toMatchObject({ status: 503, body: { success: false, error: { code: 'INTERNAL_ERROR' } } });
    expect(refused.headers.get('Retry-After')).toMatch(/^[1-9]\d*$/);
    const hauler = await Hauler.create({ sites: ONE_SITE, service: storage.service });
    expect((await hauler.push()).status).toBe(200);
    expect((await hauler.createAccount({ accountName: 'Full' })).status).toBe(200);
    expect((await admin('GET', '/tickets', undefined, storage.service)).status).toBe(200);
  });

  test('keeps a download waiting with its reason, and stores it when there is room again (decisions 47, 54)', async () => {
    const chunk = element({
      ...{ startTime: inHours(-3), endTime: inHours(-2.9), durationSeconds: 360 },
      downloadUrl: scene.partner.link(video),
    });
    scene.partner.on(
      CONTINUOUS,
      lists('recordings', () => [chunk]),
    );
    await scene.follow({ startTime: inHours(-4) });
    const waiting = await eventually(async () => {
      const [recording] = await scene.recordings();
      expect(recording?.reason).toEqual(expect.stringContaining('storage is full'));
      return recording as ShownRecording;
    });
    expect(['available', 'downloading']).toContain(waiting.status);
    await storage.makeRoom();
    const [stored] = await scene.recordingsBecome([{ status: 'stored', sha256: sha256(video) }]);
    expect(stored?.sizeBytes).toBe(video.length);
    expect((await upload()).status).toBe(201);
  });
});
