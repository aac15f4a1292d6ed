import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdir, rename, rmdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { StorageUnavailableError } from '../../../src/storage/storage-errors.js';
import { recordingFile } from '../../../src/vision/recordings/recording.rules.js';
import { Retention } from '../../../src/vision/recordings/retention.job.js';
import type { HaulerRetention, RetentionPreview } from '../../../src/contracts/admin/retention.dto.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type Footage, insertFootage, videoConnection } from '../../support/held-footage.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { VIDEO_RETENTION_DAYS: 30 }, ticks: false });
  // The run of the start would take what the first test stores.
  await app.app.get(Retention, { strict: false }).beforeApplicationShutdown();
});
afterAll(() => app.close());

type Scene = Awaited<ReturnType<typeof videoConnection>>;

const settings = async (haulerId: string, on = app) =>
  (await on.admin<HaulerRetention>('GET', `/haulers/${haulerId}/retention`)).body;
const set = (haulerId: string, body: object) =>
  app.admin<HaulerRetention & { error: { details?: object } }>('PUT', `/haulers/${haulerId}/retention`, body);
const preview = async (haulerId: string, query: string) =>
  (await app.admin<RetentionPreview>('GET', `/retention/preview?haulerId=${haulerId}&${query}`)).body;
const runRetention = (on = app) => on.app.get(Retention, { strict: false }).run();

/** One recording a day, each stored so many days ago. */
const stored = (scene: Scene, days: readonly number[], fields: Partial<Footage> = {}) =>
  insertFootage(
    app,
    days.map((storedDays) => ({
      ...{
        ...scene,
        storedDays,
        start: `2026-01-${Math.floor(storedDays)}T08:00:00Z`,
        end: `2026-01-${Math.floor(storedDays)}T08:01:00Z`,
      },
      ...fields,
    })),
  );

const left = async ({ connectionId }: Scene) =>
  (await app.admin<{ data: { id: string }[] }>('GET', `/recordings?connectionId=${connectionId}&status=stored`)).body
    .data.length;

describe('the retention of files', () => {
  test('has a dry run that counts; then older files are deleted, and their recordings expire', async () => {
    const scene = await videoConnection(app);
    const [old = '', young = ''] = await stored(scene, [31, 10]);
    expect(await app.app.get(Retention, { strict: false }).run({ dryRun: true })).toMatchObject({
      recordings: 1,
      bytes: 1000,
    });
    expect(await left(scene)).toBe(2);
    expect(await runRetention()).toMatchObject({ recordings: 1, bytes: 1000 });
    expect(await runRetention()).toMatchObject({ recordings: 0 });
    const gone = (await app.admin('GET', `/recordings/${old}`)).body;
    expect(gone).toMatchObject({ status: 'expired', reason: expect.stringContaining('30 days') });
    const contents = await Promise.all([old, young].map((id) => app.admin('GET', `/recordings/${id}/content`)));
    expect(contents.map(({ status }) => status)).toEqual([404, 200]);
  });

  test('keeps the row of a file that cannot be deleted because its mount is missing', async () => {
    const scene = await videoConnection(app);
    await stored(scene, [31]);
    const folder = fileURLToPath(`${app.env.STORAGE_URL}/recordings`);
    await rename(folder, `${folder}.aside`);
    await expect(runRetention()).rejects.toThrow(StorageUnavailableError);
    expect(await left(scene)).toBe(1);
    await rename(`${folder}.aside`, folder);
    expect(await runRetention()).toMatchObject({ recordings: 1 });
  });

  test('deletes the younger files after one that cannot be deleted', async () => {
    const scene = await videoConnection(app);
    const [stuck = '', young = ''] = await stored(scene, [31, 30.5]);
    const path = fileURLToPath(`${app.env.STORAGE_URL}/${recordingFile(stuck)}`);
    await rename(path, `${path}.aside`);
    await mkdir(path);
    await expect(runRetention()).rejects.toThrow();
    const statuses = await Promise.all(
      [stuck, young].map(async (id) => (await app.admin<{ status: string }>('GET', `/recordings/${id}`)).body.status),
    );
    expect(statuses).toEqual(['stored', 'expired']);
    await rmdir(path);
    await rename(`${path}.aside`, path);
    expect(await runRetention()).toMatchObject({ recordings: 1 });
  });
});

describe('the retention of a hauler', () => {
  test('is the default until it is set; null keeps for ever; a preview says what a shorter one deletes', async () => {
    const scene = await videoConnection(app);
    const { haulerId } = scene;
    expect(await settings(haulerId)).toEqual({ haulerId, onDemandDays: 30, continuousDays: 30, isDefault: true });
    expect(await set(haulerId, { onDemandDays: null, continuousDays: null })).toMatchObject({
      status: 200,
      body: { onDemandDays: null, continuousDays: null, isDefault: false, changedBy: 'admin' },
    });
    await stored(scene, [10, 20, 31], { truckId: 'TRUCK-7' });
    await stored(scene, [31], { truckId: 'TRUCK-8' });
    await runRetention();
    expect(await left(scene)).toBe(4);
    await app.admin('POST', '/holds', {
      ...{ caseId: 'C', reason: 'r', connectionId: scene.connectionId, truckId: 'TRUCK-7' },
      ...{ from: '2026-01-31T00:00:00Z', to: '2026-02-01T00:00:00Z' },
    });
    const shown = await preview(haulerId, 'continuousDays=15');
    expect(shown).toEqual({
      ...{ recordings: 2, bytes: 2000, held: 1, oldest: '2026-01-20T08:00:00Z', newest: '2026-01-31T08:00:00Z' },
      trucks: [
        expect.objectContaining({ truckId: 'TRUCK-7', recordings: 1, held: 1, oldest: '2026-01-20T08:00:00Z' }),
        expect.objectContaining({ truckId: 'TRUCK-8', recordings: 1, held: 0 }),
      ],
    });
    expect(await preview(haulerId, 'onDemandDays=1')).toMatchObject({ recordings: 0, trucks: [] });
    expect(await preview(haulerId, 'continuousDays=0')).toMatchObject({ recordings: 0 });

    const days = { onDemandDays: null, continuousDays: 15 };
    for (const without of [{}, { confirm: true }, { recordings: 2 }, { confirm: true, recordings: 1 }])
      expect(await set(haulerId, { ...days, ...without })).toMatchObject({
        status: 409,
        body: { error: { details: { recordings: 2, bytes: 2000, held: 1 } } },
      });
    expect((await settings(haulerId)).continuousDays).toBe(null);
    expect((await set(haulerId, { ...days, confirm: true, recordings: 2 })).status).toBe(200);
    expect(await runRetention()).toMatchObject({ recordings: 2, bytes: 2000 });
    expect(await left(scene)).toBe(2);
  });

  test('of one source does not touch the other, and of one hauler not another', async () => {
    const [one, other] = [await videoConnection(app), await videoConnection(app)];
    await stored(one, [20]);
    await stored(other, [20]);
    const { recordings } = await preview(one.haulerId, 'onDemandDays=10&continuousDays=10');
    await set(one.haulerId, { onDemandDays: 10, continuousDays: 30, confirm: true, recordings });
    await runRetention();
    expect([await left(one), await left(other)]).toEqual([1, 1]);
    await set(one.haulerId, { onDemandDays: 10, continuousDays: 10, confirm: true, recordings });
    await runRetention();
    expect([await left(one), await left(other)]).toEqual([0, 1]);
  });

  test('is not shortened by a shorter default, and takes a longer one', async () => {
    const scene = await videoConnection(app);
    await stored(scene, [20]);
    const shorter = await startTestApp({ on: app, env: { VIDEO_RETENTION_DAYS: 5 } });
    try {
      await runRetention(shorter);
      expect((await settings(scene.haulerId, shorter)).continuousDays).toBe(30);
      expect(await left(scene)).toBe(1);
      const { haulerId } = await videoConnection(shorter);
      expect((await settings(haulerId, shorter)).continuousDays).toBe(5);
    } finally {
      await shorter.close();
    }
    const longer = await startTestApp({ on: app, env: { VIDEO_RETENTION_DAYS: 90 } });
    try {
      await runRetention(longer);
      expect((await settings(scene.haulerId, longer)).continuousDays).toBe(90);
    } finally {
      await longer.close();
    }
  });

  test.each([
    ['no number', { onDemandDays: 'x', continuousDays: 5 }],
    ['zero days', { onDemandDays: 0, continuousDays: 5 }],
    ['a fraction', { onDemandDays: 1.5, continuousDays: 5 }],
    ['a negative number', { onDemandDays: 5, continuousDays: -1 }],
    ['a number that no time can hold', { onDemandDays: 5, continuousDays: 1e12 }],
    ['a list', []],
  ])('refuses %s', async (_, body) => {
    const { haulerId } = await videoConnection(app);
    expect((await set(haulerId, body)).status).toBe(400);
    expect((await settings(haulerId)).isDefault).toBe(true);
  });

  test('of an unknown hauler is 404, and its preview 400', async () => {
    const id = randomUUID();
    expect((await app.admin('GET', `/haulers/${id}/retention`)).status).toBe(404);
    expect((await set(id, { onDemandDays: 5, continuousDays: 5 })).status).toBe(404);
    expect((await app.admin('GET', `/retention/preview?haulerId=${id}`)).status).toBe(400);
  });
});
