import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Erasure } from '../../../src/contracts/admin/erasures.routes.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { insertFootage, videoConnection } from '../../support/held-footage.js';
import { addErasure, addHold, addRawFindings } from '../../support/rows.js';

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});
afterAll(() => app.close());

const RANGE = { from: '2026-01-31T08:00:00Z', to: '2026-01-31T09:00:00Z' };
const minute = (at: string) => ({ start: `2026-01-31T${at}:00Z`, end: `2026-01-31T${at}:59Z` });

const preview = async (body: object) => (await app.admin<Erasure>('POST', '/erasures', { ...body, dryRun: true })).body;
const receipt = async (id: string) => (await app.admin<Erasure>('GET', `/erasures/${id}`)).body;

async function erase(body: object): Promise<Erasure> {
  const { id = '' } = (await app.admin<Erasure>('POST', '/erasures', body)).body;
  return eventually(async () => {
    const shown = await receipt(id);
    expect(shown.status).toBe('done');
    return shown;
  });
}

async function files(): Promise<string> {
  const folder = fileURLToPath(`${app.env.STORAGE_URL}/recordings`);
  return (await readdir(folder, { recursive: true })).join();
}

describe('an erasure of footage', () => {
  test('deletes the files, and reaches the kept parts of lists by the exact name of the truck (decision 68)', async () => {
    const scene = await videoConnection(app);
    const [inside = '', outside = ''] = await insertFootage(app, [
      { ...scene, ...minute('08:30') },
      { ...scene, ...minute('09:30') },
    ]);
    const { connectionId } = scene;
    const part = (truckId: string, times: object) => JSON.stringify({ id: 'chunk', truckId, ...times });
    const times = (startTime: string, endTime: string) => ({ startTime, endTime });
    const parts = {
      within: part('TRUCK-7', times('2026-01-31T08:10:00Z', '2026-01-31T08:11:00Z')),
      // Of another form, and the end before the start: each is why it is a finding.
      turned: part('TRUCK-7', times('2026-01-31 10:59:30+02:00', '2026-01-31T08:58:00Z')),
      timeless: part('TRUCK-7', { startTime: 'yesterday' }),
      cut: part('TRUCK-7', times('2026-01-31T08:10:00Z', '2026-01-31T08:11:00Z')).slice(0, 60),
      later: part('TRUCK-7', times('2026-01-31T09:00:00Z', '2026-01-31T09:01:00Z')),
      other: part('TRUCK-77', times('2026-01-31T08:10:00Z', '2026-01-31T08:11:00Z')),
      // Another truck, with a camera and a note of this name.
      camera: `{"cameraId":"TRUCK-7","note":"\\"truckId\\":\\"TRUCK-7\\",","truckId":"T","startTime":"2026-01-31T08:10:00Z"}`,
    };
    await addRawFindings(app, scene, parts);
    const range = { connectionId, truckId: 'TRUCK-7', ...RANGE };
    const counts = { recordings: 1, findings: 4 };
    expect((await preview(range)).preview).toMatchObject(counts);
    expect((await erase(range)).erased).toMatchObject(counts);
    expect([(await files()).includes(inside), (await files()).includes(outside)]).toEqual([false, true]);
    const query = `/vision-findings?connectionId=${connectionId}`;
    const { body: found } = await app.admin<{ data: { raw: string }[] }>('GET', query);
    expect(found.data.map(({ raw }) => raw).sort()).toEqual(
      [...Array<string>(4).fill('[erased]'), parts.later, parts.other, parts.camera].sort(),
    );
  });

  test('stops where a hold is created while it runs, and names what it has erased', async () => {
    const scene = await videoConnection(app);
    await insertFootage(app, [
      { ...scene, ...minute('08:10') },
      { ...scene, ...minute('08:20') },
    ]);
    await addHold(app, scene, { ...RANGE, caseId: 'CLAIM-9' });
    const id = await addErasure(app, scene, RANGE);
    await eventually(async () =>
      expect(await receipt(id)).toMatchObject({
        ...{ status: 'stopped', erased: { recordings: 0 }, reason: expect.stringContaining('CLAIM-9') },
      }),
    );
  });
});
