import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import { isNameOf } from '../../../src/vision/recordings/camera-names.rules.js';
import { lockRemoval } from '../../../src/vision/holds/holds.repository.js';
import { Retention } from '../../../src/vision/recordings/retention.job.js';
import type { HoldDetails } from '../../../src/contracts/admin/hold.dto.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { type Footage, insertFootage, insertNames, videoConnection } from '../../support/held-footage.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ env: { VIDEO_RETENTION_DAYS: 30 } });
});
afterAll(() => app.close());

const HOUR = { from: '2026-01-31T08:00:00Z', to: '2026-01-31T09:00:00Z' };
const BETWEEN = { start: '2026-01-31T08:30:00Z', end: '2026-01-31T08:31:00Z' };

const retention = () => app.app.get(Retention, { strict: false });

const hold = (connectionId: string, fields: object = {}) =>
  app.admin<HoldDetails>('POST', '/holds', {
    ...{ caseId: 'CLAIM-1', reason: 'collision', connectionId, truckId: 'TRUCK-7', ...HOUR, ...fields },
  });

const statusOf = async (id: string) =>
  (await app.admin<{ status: string; holdIds: string[] }>('GET', `/recordings/${id}`)).body;

describe('a hold', () => {
  test('keeps what overlaps its range by any part, whatever the time zone it was written in, until it is released', async () => {
    const scene = await videoConnection(app);
    const old = { ...scene, storedDays: 60 };
    const footage: (readonly [string, string, boolean])[] = [
      ['2026-01-31T07:50:00Z', '2026-01-31T08:00:00Z', false],
      ['2026-01-31T07:50:00Z', '2026-01-31T08:00:00.000001Z', true],
      ['2026-01-31T08:10:00Z', '2026-01-31T08:20:00Z', true],
      ['2026-01-31T07:00:00Z', '2026-01-31T10:00:00Z', true],
      ['2026-01-31T08:59:59.999999Z', '2026-01-31T09:10:00Z', true],
      ['2026-01-31T09:00:00Z', '2026-01-31T09:10:00Z', false],
    ];
    const ids = await insertFootage(
      app,
      footage.map(([start, end]) => ({ ...old, start, end })),
    );
    const [other] = await insertFootage(app, [{ ...old, ...BETWEEN, truckId: 'TRUCK-8' }]);
    const { status, body } = await hold(scene.connectionId, {
      from: '2026-01-31T02:00:00-06:00',
      to: '2026-01-31T18:00:00+09:00',
    });
    expect([status, body.from, body.to, body.stored]).toEqual([201, HOUR.from, HOUR.to, 4]);
    await retention().run();
    const kept = await Promise.all(ids.map(async (id) => (await statusOf(id)).status === 'stored'));
    expect(kept).toEqual(footage.map(([, , isKept]) => isKept));
    expect(await statusOf(other ?? '')).toMatchObject({ status: 'expired', holdIds: [] });
    expect((await statusOf(ids[2] ?? '')).holdIds).toEqual([body.id]);

    const released = await app.admin('POST', `/holds/${body.id}/release`, { reason: 'settled' });
    expect(released).toMatchObject({
      status: 200,
      body: { status: 'released', releaseReason: 'settled', releasedBy: 'admin' },
    });
    expect((await app.admin('POST', `/holds/${body.id}/release`, { reason: 'again' })).status).toBe(409);
    await retention().run();
    expect(await Promise.all(ids.map(async (id) => (await statusOf(id)).status))).toEqual(ids.map(() => 'expired'));
    const { body: list } = await app.admin<{ data: object[] }>('GET', `/holds?connectionId=${scene.connectionId}`);
    expect(list.data).toMatchObject([{ id: body.id, status: 'released', releaseReason: 'settled' }]);
  });

  test('holds recordings that are listed after it was created', async () => {
    const scene = await videoConnection(app);
    await insertFootage(app, [{ ...scene, ...BETWEEN, start: '2025-01-01T00:00:00Z', end: '2025-01-01T00:01:00Z' }]);
    const { body } = await hold(scene.connectionId, { from: '2026-01-31T08:00:00Z', to: '2026-12-31T00:00:00Z' });
    expect(body).toMatchObject({ stored: 0, waiting: 0 });
    const [id = ''] = await insertFootage(app, [{ ...scene, ...BETWEEN, storedDays: 60 }]);
    await retention().run();
    expect(await statusOf(id)).toMatchObject({ status: 'stored', holdIds: [body.id] });
  });

  test('is about the same cameras as their names are, by whichever name it was created', async () => {
    const scene = await videoConnection(app);
    const name = fc.constantFrom('front', 'Front ', 'rear', 'left', '1', '2', '3');
    const samples = fc.sample(
      fc.tuple(fc.array(fc.record({ requested: name, returned: name }), { maxLength: 4 }), name, name),
      { numRuns: 120, seed: 39 },
    );
    const wrong: unknown[] = [];
    for (const [pairs, held, camera] of samples) {
      await app.dataSource.query('DELETE FROM partner_camera_names; DELETE FROM holds; DELETE FROM recordings');
      await insertNames(app.dataSource, scene, pairs);
      const [id = ''] = await insertFootage(app, [{ ...scene, ...BETWEEN, cameraId: camera, status: 'available' }]);
      await hold(scene.connectionId, { cameraId: held });
      const isHeld = (await statusOf(id)).holdIds.length > 0;
      if (isHeld !== isNameOf(camera, held, pairs)) wrong.push({ pairs, held, camera, isHeld });
    }
    expect(wrong).toEqual([]);
  });

  test('names what is missing, by camera and cause', async () => {
    const scene = await videoConnection(app);
    await insertNames(app.dataSource, scene, [{ requested: 'front', returned: '1' }]);
    const at = (from: string, to: string, fields: Partial<Footage> = {}): Footage => ({
      ...{ ...scene, start: `2026-01-31T08:${from}:00Z`, end: `2026-01-31T08:${to}:00Z` },
      ...fields,
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
    const { body } = await hold(scene.connectionId);
    const missing = (cameraId: string, from: string, to: string, cause: string) => ({
      ...{ cameraId, cause, from: `2026-01-31T08:${from}:00Z` },
      to: to === '60' ? HOUR.to : `2026-01-31T08:${to}:00Z`,
    });
    expect(body.missing).toEqual([
      missing('1', '40', '45', 'lost'),
      missing('1', '45', '50', 'deleted'),
      missing('1', '50', '60', 'notListed'),
      missing('rear', '59', '60', 'notListed'),
    ]);
    expect(body).toMatchObject({ stored: 3, bytes: 3000, waiting: 1 });
  });

  test('over footage of which no row is left is created, and says that all of it is missing', async () => {
    const scene = await videoConnection(app);
    await insertFootage(app, [{ ...scene, ...BETWEEN }]);
    const range = { from: '2024-03-01T00:00:00Z', to: '2024-03-02T00:00:00Z' };
    const { status, body } = await hold(scene.connectionId, { ...range, cameraId: 'rear' });
    expect([status, body.missing]).toEqual([201, [{ cameraId: 'rear', ...range, cause: 'notListed' }]]);
  });

  test.each([
    ['an unknown truck, which may be misspelt', { truckId: 'TRUCK-77' }, 'truckId'],
    ['an unknown connection', { connectionId: randomUUID() }, 'connectionId'],
    ['an end at its start', { to: HOUR.from }, 'to'],
    ['more than 366 days', { to: '2027-02-02T08:00:01Z' }, 'to'],
    ['a blank case', { caseId: ' ' }, 'caseId'],
    ['no reason', { reason: undefined }, 'reason'],
    ['a time without an offset', { from: '2026-01-31T08:00:00' }, 'from'],
    ['an empty camera', { cameraId: '' }, 'cameraId'],
    ['a character that cannot be stored', { reason: 'a\u0000b' }, 'reason'],
  ])('is refused for %s', async (_, fields, path) => {
    const scene = await videoConnection(app);
    await insertFootage(app, [{ ...scene, ...BETWEEN }]);
    const { status, body } = await hold(scene.connectionId, fields);
    const { details } = (body as unknown as { error: { details: { violations: { path: string }[] } } }).error;
    expect([status, details.violations.map((each) => each.path)]).toEqual([400, [path]]);
  });

  test('that is unknown is 404, and a release without a reason 400', async () => {
    const id = randomUUID();
    expect((await app.admin('GET', `/holds/${id}`)).status).toBe(404);
    expect((await app.admin('POST', `/holds/${id}/release`, { reason: 'x' })).status).toBe(404);
    expect((await app.admin('POST', `/holds/${id}/release`, {})).status).toBe(400);
  });
});

describe('the retention and a hold at the same time', () => {
  test('the hold waits for a removal that runs, and names what it removed', async () => {
    const scene = await videoConnection(app);
    const [id = ''] = await insertFootage(app, [{ ...scene, ...BETWEEN, storedDays: 60 }]);
    let created: Promise<HoldDetails> | undefined;
    await app.dataSource.transaction(async (manager) => {
      await lockRemoval(manager);
      created = hold(scene.connectionId).then(({ body }) => body);
      await eventually(async () => {
        const waiting = await manager.query<unknown[]>(
          `SELECT FROM pg_locks JOIN pg_database d ON d.oid = database
           WHERE d.datname = current_database() AND locktype = 'advisory' AND NOT granted`,
        );
        expect(waiting).toHaveLength(1);
      });
      await manager.query("UPDATE recordings SET status = 'expired', deleted_at = now() WHERE id = $1", [id]);
    });
    expect((await created)?.missing).toContainEqual({
      ...{ cameraId: 'front', from: BETWEEN.start, to: BETWEEN.end, cause: 'deleted' },
    });
  });

  test('each recording is either held or named as missing, whatever comes first', async () => {
    const scene = await videoConnection(app);
    const minutes = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, '0'));
    const ids = await insertFootage(
      app,
      minutes.map((minute) => ({
        ...{ ...scene, storedDays: 60, start: `2026-01-31T08:${minute}:00Z`, end: `2026-01-31T08:${minute}:30Z` },
      })),
    );
    const [, { body }] = await Promise.all([retention().run(), hold(scene.connectionId)]);
    const kept = await Promise.all(ids.map(async (id) => (await statusOf(id)).status === 'stored'));
    const seconds = body.missing
      .filter(({ cause }) => cause === 'deleted')
      .reduce((sum, { from, to }) => sum + (Date.parse(to) - Date.parse(from)) / 1000, 0);
    expect([body.stored, seconds]).toEqual([kept.filter(Boolean).length, 30 * kept.filter((each) => !each).length]);
  });

  test('deletes nothing while the holds cannot be read, and says so', async () => {
    const scene = await videoConnection(app);
    const [id = ''] = await insertFootage(app, [{ ...scene, ...BETWEEN, storedDays: 60 }]);
    const attention = async () => {
      const { body } = await app.admin<{ data: { kind: string }[] }>('GET', '/attention');
      return body.data.some(({ kind }) => kind === 'retention-stopped');
    };
    await app.dataSource.query('ALTER TABLE holds RENAME TO holds_away');
    await expect(retention().run()).rejects.toThrow();
    await app.dataSource.query('ALTER TABLE holds_away RENAME TO holds');
    expect(await statusOf(id)).toMatchObject({ status: 'stored' });
    expect(await attention()).toBe(true);
    const { text } = await app.call('GET', '/metrics', { headers: { Authorization: `Bearer ${app.env.ADMIN_TOKEN}` } });
    expect(text).toMatch(/^video_retention_failures_total [1-9]/m);
    await retention().run();
    expect([(await statusOf(id)).status, await attention()]).toEqual(['expired', false]);
  });
});

test('held footage that may be lost at the partner needs attention now', async () => {
  const scene = await videoConnection(app);
  const [id = ''] = await insertFootage(app, [{ ...scene, ...BETWEEN, status: 'available' }]);
  await app.dataSource.query(
    "UPDATE recordings SET link = 'https://x.example', expires_at = now() + interval '2 hours' WHERE id = $1",
    [id],
  );
  await hold(scene.connectionId, { caseId: 'CLAIM-2' });
  const { body } = await app.admin<{ data: { kind: string; hauler?: { id: string } }[] }>('GET', '/attention');
  expect(body.data.filter(({ hauler }) => hauler?.id === scene.haulerId)).toEqual([
    expect.objectContaining({ kind: 'held-at-risk', severity: 'now', sentence: expect.stringContaining('CLAIM-2') }),
  ]);
});
