import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { HoldDetails } from '../../../src/contracts/admin/hold.dto.js';
import { isNameOf } from '../../../src/vision/recordings/camera-names.rules.js';
import { Retention } from '../../../src/vision/recordings/retention.job.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type Footage, insertFootage, videoConnection } from '../../support/held-footage.js';
import { addCameraNames, deleteKeptRows, deleteVideoRows, withoutTable } from '../../support/rows.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { VIDEO_RETENTION_DAYS: 30 }, ticks: false });
});
afterAll(() => app.close());

const HOUR = { from: '2026-01-31T08:00:00Z', to: '2026-01-31T09:00:00Z' };
const BETWEEN = { start: '2026-01-31T08:30:00Z', end: '2026-01-31T08:31:00Z' };

const retention = () => app.app.get(Retention, { strict: false });
const hold = async (connectionId: string, fields: object = {}) =>
  (
    await app.admin<HoldDetails>('POST', '/holds', {
      ...{ caseId: 'CLAIM-1', reason: 'collision', connectionId, truckId: 'TRUCK-7', ...HOUR, ...fields },
    })
  ).body;
const read = async (id: string) =>
  (await app.admin<{ status: string; holdIds: string[] }>('GET', `/recordings/${id}`)).body;
const statusesOf = (ids: readonly string[]) => Promise.all(ids.map(async (id) => (await read(id)).status));

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
    await retention().run();
    const kept = [...footage.map(([, , isKept]) => isKept), false];
    expect(await statusesOf(ids)).toEqual(kept.map((isKept) => (isKept ? 'stored' : 'expired')));
    await app.admin('POST', `/holds/${id}/release`, { reason: 'settled' });
    await retention().run();
    expect(await statusesOf(ids)).toEqual(ids.map(() => 'expired'));
  });

  test('at the same time leave each recording either held or named as missing', async () => {
    const scene = await videoConnection(app);
    const minutes = Array.from({ length: 60 }, (_, i) => `2026-01-31T08:${String(i).padStart(2, '0')}`);
    const ids = await insertFootage(
      app,
      minutes.map((minute) => ({ ...scene, storedDays: 60, start: `${minute}:00Z`, end: `${minute}:30Z` })),
    );
    const [, { stored, missing }] = await Promise.all([retention().run(), hold(scene.connectionId)]);
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
    await withoutTable(app, 'holds', () => expect(retention().run()).rejects.toThrow());
    expect([(await read(id)).status, await needsAttention()]).toEqual(['stored', true]);
    const { text } = await app.call('GET', '/metrics', { headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` } });
    expect(text).toMatch(/^video_retention_failures_total [1-9]/m);
    await retention().run();
    expect([(await read(id)).status, await needsAttention()]).toEqual(['expired', false]);
  });
});

test('a hold names what is missing, by camera and cause', async () => {
  const scene = await videoConnection(app);
  await addCameraNames(app, scene, [{ requested: 'front', returned: '1' }]);
  const at = (from: string, to: string, fields: Partial<Footage> = {}): Footage => ({
    ...{ ...scene, start: `2026-01-31T08:${from}:00Z`, end: `2026-01-31T08:${to}:00Z`, ...fields },
  });
  await insertFootage(app, [
    at('00', '20'),
    at('20', '30', { cameraId: '1' }),
    at('30', '40', { status: 'available' }),
    at('40', '45', { status: 'failed' }),
    at('45', '50', { storedDays: 60 }),
    at('00', '59', { cameraId: 'rear' }),
  ]);
  await retention().run();
  const { missing, ...rest } = await hold(scene.connectionId);
  const part = (cameraId: string, from: string, to: string, cause: string) => ({
    ...{ cameraId, from: `2026-01-31T08:${from}:00Z`, to, cause },
  });
  expect(missing).toEqual([
    part('1', '40', '2026-01-31T08:45:00Z', 'lost'),
    part('1', '45', '2026-01-31T08:50:00Z', 'deleted'),
    part('1', '50', HOUR.to, 'notListed'),
    part('rear', '59', HOUR.to, 'notListed'),
  ]);
  expect(rest).toMatchObject({ stored: 3, bytes: 3000, waiting: 1 });
});

test('a hold is on the cameras that its name stands for, as the lists decide it', async () => {
  const scene = await videoConnection(app);
  const name = fc.constantFrom('front', 'Front ', 'rear', '1', '2');
  const samples = fc.sample(
    fc.tuple(fc.array(fc.record({ requested: name, returned: name }), { maxLength: 4 }), name, name),
    { numRuns: 50, seed: 39 },
  );
  const wrong: unknown[] = [];
  for (const [pairs, held, camera] of samples) {
    await deleteKeptRows(app);
    await deleteVideoRows(app);
    await addCameraNames(app, scene, pairs);
    const [id = ''] = await insertFootage(app, [{ ...scene, ...BETWEEN, cameraId: camera, status: 'available' }]);
    await hold(scene.connectionId, { cameraId: held });
    const isHeld = (await read(id)).holdIds.length > 0;
    if (isHeld !== isNameOf(camera, held, pairs)) wrong.push({ pairs, held, camera, isHeld });
  }
  expect(wrong).toEqual([]);
});
