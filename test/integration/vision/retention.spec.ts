import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { existsSync } from 'node:fs';
import { mkdir, rename, rmdir, utimes } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { StorageUnavailableError } from '../../../src/core/storage/storage-errors.js';
import { recordingFile } from '../../../src/vision/recordings/recording.rules.js';
import { Retention } from '../../../src/vision/retention/retention.job.js';
import type { HaulerRetention } from '../../../src/contracts/admin/retention.routes.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type Footage, insertFootage, videoConnection } from '../../support/held-footage.js';
import type { HoldDetails } from '../../../src/contracts/admin/holds.routes.js';
import { addOldFindings, readOldFindings, withoutTable } from '../../support/rows.js';
import { sampleVideo } from '../../support/sample-video.js';
import { orderVideo, readRequest, requestBecomes } from '../../support/video-requests.js';
import { accepts, element, lists, POST, startVisionPartner, VIDEOS } from '../../support/scripted-vision.js';
import { ageFiles } from '../../support/time.js';
import { connectVision } from '../../support/vision-partner.js';
import { VisionFindings } from '../../../src/vision/client/findings.repository.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { VIDEO_RETENTION_DAYS: 30, OUTBOUND_ALLOW_PRIVATE: true }, ticks: false });
  // The run of the start would take what the first test stores.
  await app.app.get(Retention, { strict: false }).beforeApplicationShutdown();
});
afterAll(() => app.close());

type Scene = Awaited<ReturnType<typeof videoConnection>>;

const settings = async (haulerId: string, on = app) =>
  (await on.admin<HaulerRetention>('GET', `/haulers/${haulerId}/retention`)).body;
const set = (haulerId: string, body: object) =>
  app.admin<HaulerRetention>('PUT', `/haulers/${haulerId}/retention`, body);
const preview = async (haulerId: string, days: object) => (await set(haulerId, { ...days, dryRun: true })).body.preview;
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
    expect((await app.admin('POST', '/retention', { dryRun: true })).body).toMatchObject({
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

  const pathOf = (id: string) => fileURLToPath(`${app.env.STORAGE_URL}/${recordingFile(id)}`);

  test('ends the next batch alone while the mount is missing, and deletes its files when it is back', async () => {
    const scene = await videoConnection(app);
    const ids = await insertFootage(
      app,
      Array.from({ length: 120 }, (_, i) => ({
        ...{ ...scene, storedDays: 31, start: new Date(Date.UTC(2026, 0, 31, 8, i)).toISOString() },
        end: new Date(Date.UTC(2026, 0, 31, 8, i + 1)).toISOString(),
      })),
    );
    const folder = fileURLToPath(`${app.env.STORAGE_URL}/recordings`);
    await rename(folder, `${folder}.aside`);
    for (let run = 0; run < 3; run++) await expect(runRetention()).rejects.toThrow(StorageUnavailableError);
    await rename(`${folder}.aside`, folder);
    expect(await left(scene)).toBe(20);
    expect(ids.filter((id) => existsSync(pathOf(id)))).toHaveLength(120);
    expect(await runRetention()).toMatchObject({ recordings: 120, bytes: 120_000 });
    expect(ids.filter((id) => existsSync(pathOf(id)))).toEqual([]);
  });

  test('deletes the younger files after one that cannot be deleted, which is no lost row', async () => {
    const scene = await videoConnection(app);
    const [stuck = '', young = ''] = await stored(scene, [31, 30.5]);
    const path = pathOf(stuck);
    await rename(path, `${path}.aside`);
    await mkdir(path);
    await expect(runRetention()).rejects.toThrow();
    expect([await statusesOf([stuck, young]), existsSync(pathOf(young))]).toEqual([['expired', 'expired'], false]);
    await rmdir(path);
    await rename(`${path}.aside`, path);
    const old = new Date(Date.now() - 86_400_000);
    await utimes(path, old, old);
    expect((await app.admin<{ data: object[] }>('GET', '/doctor')).body.data).toEqual([]);
    expect(await runRetention()).toMatchObject({ recordings: 1 });
    expect(existsSync(path)).toBe(false);
  });
});

const HOUR = { from: '2026-01-31T08:00:00Z', to: '2026-01-31T09:00:00Z' };
const BETWEEN = { start: '2026-01-31T08:30:00Z', end: '2026-01-31T08:31:00Z' };

const hold = async (connectionId: string, fields: object = {}) =>
  (
    await app.admin<HoldDetails>('POST', '/holds', {
      ...{ caseId: 'CLAIM-1', reason: 'collision', connectionId, truckId: 'TRUCK-7', ...HOUR, ...fields },
    })
  ).body;
const readRecording = async (id: string) =>
  (await app.admin<{ status: string; holdIds: string[] }>('GET', `/recordings/${id}`)).body;
const statusesOf = (ids: readonly string[]) => Promise.all(ids.map(async (id) => (await readRecording(id)).status));

describe('the retention and a hold', () => {
  test('what overlaps the hold by any part is kept until it is released, to the microsecond', async () => {
    const scene = await videoConnection(app);
    const footage: (readonly [string, string, boolean])[] = [
      ['2026-01-31T07:50:00Z', '2026-01-31T08:00:00Z', false],
      ['2026-01-31T07:50:00Z', '2026-01-31T08:00:00.000001Z', true],
      ['2026-01-31T07:00:00Z', '2026-01-31T10:00:00Z', true],
      ['2026-01-31T08:59:59.999999Z', '2026-01-31T09:10:00Z', true],
      ['2026-01-31T09:00:00Z', '2026-01-31T09:10:00Z', false],
    ];
    const old = { ...scene, storedDays: 60 };
    const ids = await insertFootage(app, [
      ...footage.map(([start, end]) => ({ ...old, start, end })),
      { ...old, ...BETWEEN, truckId: 'TRUCK-8' },
    ]);
    const { id } = await hold(scene.connectionId);
    await runRetention();
    const kept = [...footage.map(([, , isKept]) => isKept), false];
    expect(await statusesOf(ids)).toEqual(kept.map((isKept) => (isKept ? 'stored' : 'expired')));
    await app.admin('POST', `/holds/${id}/release`, { reason: 'settled' });
    await runRetention();
    expect(await statusesOf(ids)).toEqual(ids.map(() => 'expired'));
  });

  test('at the same time leave each recording either held or named as missing', async () => {
    const scene = await videoConnection(app);
    const minutes = Array.from({ length: 60 }, (_, i) => `2026-01-31T08:${String(i).padStart(2, '0')}`);
    const ids = await insertFootage(
      app,
      minutes.map((minute) => ({ ...scene, storedDays: 60, start: `${minute}:00Z`, end: `${minute}:30Z` })),
    );
    const [, { stored, missing }] = await Promise.all([runRetention(), hold(scene.connectionId)]);
    const kept = (await statusesOf(ids)).filter((status) => status === 'stored').length;
    const deleted = missing
      .filter(({ cause }) => cause === 'deleted')
      .reduce((sum, { from, to }) => sum + (Date.parse(to) - Date.parse(from)) / 1_000, 0);
    expect([stored, deleted]).toEqual([kept, 30 * (60 - kept)]);
  });

  test('where the holds cannot be read: nothing is deleted, and it needs attention', async () => {
    const scene = await videoConnection(app);
    const [id = ''] = await insertFootage(app, [{ ...scene, ...BETWEEN, storedDays: 60 }]);
    const needsAttention = async () => {
      const { body } = await app.admin<{ data: { kind: string }[] }>('GET', '/attention');
      return body.data.some(({ kind }) => kind === 'retention-stopped');
    };
    await withoutTable(app, 'holds', () => expect(runRetention()).rejects.toThrow());
    expect([(await readRecording(id)).status, await needsAttention()]).toEqual(['stored', true]);
    const { text } = await app.call('GET', '/metrics', { headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` } });
    expect(text).toMatch(/^video_retention_failures_total [1-9]/m);
    await runRetention();
    expect([(await readRecording(id)).status, await needsAttention()]).toEqual(['expired', false]);
  });
});

test('a clip whose file was deleted by retention is expired with its request, which names the reason and the way back', async () => {
  const partner = await startVisionPartner();
  const { id: connectionId } = await connectVision(app, partner.url);
  partner.on(POST, accepts({ requestId: 'removed' }));
  const clips = [1_000, 2_000].map((size, i) => {
    const times = { startTime: `2026-01-31T08:3${i}:00Z`, endTime: `2026-01-31T08:3${i + 1}:00Z` };
    return element({
      requestId: 'removed',
      id: `removed-${i}`,
      downloadUrl: partner.link(sampleVideo(size)),
      ...times,
    });
  });
  const request = { requestId: 'removed', status: 'ready' };
  partner.on(
    VIDEOS,
    lists('videos', () => clips, { request }),
  );
  const id = await orderVideo(app, connectionId);
  await requestBecomes(app, id, { status: 'stored' });
  const [first = '', second = ''] = (await readRequest(app, id)).recordingIds;
  await ageFiles(app, 31, [first]);
  expect(await runRetention()).toMatchObject({ recordings: 1 });
  const why = {
    status: 'expired',
    reasonCode: 'fileRemoved',
    reason: expect.stringMatching(/deleted 30 days after .* Request a clip of this range to get it again/),
  };
  expect(await readRequest(app, id)).toMatchObject({ ...why, parts: [why], recordingIds: [first, second] });
  expect((await app.admin('GET', `/recordings/${first}`)).body).toMatchObject(why);
  const kept = (await app.admin('GET', `/recordings/${second}`)).body;
  expect(kept).toMatchObject({ status: 'stored' });
  expect(kept).not.toHaveProperty('reasonCode');
  const query = `connectionId=${connectionId}&status=expired`;
  const { body } = await app.admin<{ data: { id: string }[] }>('GET', `/video-requests?${query}`);
  expect(body.data.map((each) => each.id)).toEqual([id]);
  const history = await app.admin<{ data: { text: string }[] }>('GET', `/video-requests/${id}/history`);
  expect(history.body.data[0]?.text).toContain('The state is expired. The file was deleted');
  await partner.stop();
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
    const shown = await preview(haulerId, { continuousDays: 15 });
    expect(shown).toEqual({
      ...{ recordings: 2, bytes: 2000, held: 1, oldest: '2026-01-20T08:00:00Z', newest: '2026-01-31T08:00:00Z' },
      trucks: [
        expect.objectContaining({ truckId: 'TRUCK-7', recordings: 1, held: 1, oldest: '2026-01-20T08:00:00Z' }),
        expect.objectContaining({ truckId: 'TRUCK-8', recordings: 1, held: 0 }),
      ],
    });
    expect(await preview(haulerId, { onDemandDays: 1 })).toMatchObject({ recordings: 0, trucks: [] });
    expect(await preview(haulerId, {})).toMatchObject({ recordings: 0 });

    const days = { onDemandDays: null, continuousDays: 15 };
    expect((await settings(haulerId)).continuousDays).toBe(null);
    expect((await set(haulerId, days)).status).toBe(200);
    expect(await runRetention()).toMatchObject({ recordings: 2, bytes: 2000 });
    expect(await left(scene)).toBe(2);
  });

  test('of one source does not touch the other, and of one hauler not another', async () => {
    const [one, other] = [await videoConnection(app), await videoConnection(app)];
    await stored(one, [20]);
    await stored(other, [20]);
    await set(one.haulerId, { onDemandDays: 10, continuousDays: 30 });
    await runRetention();
    expect([await left(one), await left(other)]).toEqual([1, 1]);
    await set(one.haulerId, { onDemandDays: 10, continuousDays: 10 });
    await runRetention();
    expect([await left(one), await left(other)]).toEqual([0, 1]);
  });

  test('is that of the default when it was created, whatever the default is later', async () => {
    const scene = await videoConnection(app);
    await stored(scene, [20]);
    const shorter = await startTestApp({ on: app, env: { VIDEO_RETENTION_DAYS: 5 } });
    try {
      await runRetention(shorter);
      expect((await settings(scene.haulerId, shorter)).continuousDays).toBe(30);
      expect(await left(scene)).toBe(1);
      const { haulerId } = await videoConnection(shorter);
      const own = { onDemandDays: 5, continuousDays: 5, isDefault: true };
      expect(await settings(haulerId, shorter)).toEqual({ haulerId, ...own });
      await runRetention();
      expect(await settings(haulerId)).toMatchObject(own);
    } finally {
      await shorter.close();
    }
  });
});

describe('the retention of findings', () => {
  const MAX = 10_000;

  interface Connection {
    readonly haulerId: string;
    readonly id: string;
  }

  let ended: Connection;
  beforeEach(async () => {
    ended = await connectVision(app, 'https://partner.example');
  });

  const sweep = () => app.app.get(VisionFindings).deleteOld();

  const find = (connection: Connection, [from, to]: readonly [number, number], seenDays: number) =>
    addOldFindings(app, connection, { from, to, seenDays });
  const kept = ({ id }: Connection) => readOldFindings(app, id);

  test('deletes those that were not seen for 90 days are deleted, others stay, however old', async () => {
    await find(ended, [1, 3], 90.01);
    await find(ended, [4, 5], 89.9);
    await sweep();
    expect(await kept(ended)).toEqual({ count: 2, first: 4, last: 5 });
  });

  test('keeps the 10,000 last seen ones of a connection, whatever another connection has', async () => {
    const other = await connectVision(app, 'https://partner.example');
    await find(ended, [1, MAX + 2_500], 1);
    await find(other, [1, MAX], 2);
    await sweep();
    expect(await kept(ended)).toEqual({ count: MAX, first: 2_501, last: MAX + 2_500 });
    expect(await kept(other)).toMatchObject({ count: MAX });
  });
});
