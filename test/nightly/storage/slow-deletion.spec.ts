import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { HoldDetails } from '../../../src/contracts/admin/holds.routes.js';
import { Retention } from '../../../src/vision/retention/retention.job.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { insertFootage, videoConnection } from '../../support/held-footage.js';
import { type S3Server, startS3Server } from '../../support/s3-server.js';

describe('a storage that needs a second or two to delete a file', () => {
  let server: S3Server;
  let slow: TestApp;
  beforeAll(async () => {
    server = await startS3Server({ deleteMs: 1_500 });
    slow = await startTestApp({
      env: { VIDEO_RETENTION_DAYS: 30, STORAGE_URL: server.storageUrl('fleet') },
      ticks: false,
    });
    await retention().beforeApplicationShutdown();
  });
  afterAll(async () => {
    await slow.close();
    await server.stop();
  });

  const retention = () => slow.app.get(Retention, { strict: false });
  const objects = () => readdir(join(server.directory, 'objects'));
  const old = (scene: Awaited<ReturnType<typeof videoConnection>>) =>
    insertFootage(
      slow,
      ['08:30', '08:40', '08:50'].map((clock) => ({
        ...{ ...scene, storedDays: 60, start: `2026-01-31T${clock}:00Z`, end: `2026-01-31T${clock}:30Z` },
      })),
    );

  test('does not stop retention, keeps no hold waiting, and a hold names what was removed before it', async () => {
    const scene = await videoConnection(slow);
    const ids = await old(scene);
    const run = retention().run();
    await eventually(async () => {
      const { body } = await slow.admin<{ status: string }>('GET', `/recordings/${ids[0]}`);
      expect(body.status).toBe('expired');
    });
    const hold = await slow.admin<HoldDetails>('POST', '/holds', {
      ...{ caseId: 'C', reason: 'r', connectionId: scene.connectionId, truckId: 'TRUCK-7' },
      ...{ from: '2026-01-31T08:00:00Z', to: '2026-01-31T09:00:00Z' },
    });
    // The files are still being deleted.
    expect(await objects()).toHaveLength(3);
    expect(hold.body).toMatchObject({ stored: 0 });
    expect(hold.body.missing.filter(({ cause }) => cause === 'deleted')).toHaveLength(3);
    expect(await run).toMatchObject({ recordings: 3, bytes: 3_000 });
    expect(await objects()).toEqual([]);
  }, 30_000);

  test('is awaited by a stop, also a run of an admin', async () => {
    await old(await videoConnection(slow));
    const run = retention().run();
    await retention().beforeApplicationShutdown();
    expect(await objects()).toEqual([]);
    expect(await run).toMatchObject({ recordings: 3 });
  }, 30_000);
});
