import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { inHours } from '../../support/scripted-vision.js';
import { Footage, minute } from '../support/footage.js';
import { type ErrorBody, paths, type Plain } from '../support/hauler.js';
import { admin, administer, target } from '../support/target.js';

interface Hold extends ErrorBody {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  readonly stored: number;
  readonly waiting: number;
  readonly missing: readonly Plain[];
}

let footage: Footage;
beforeAll(async () => {
  footage = await Footage.create();
  await footage.add(
    { from: 0, to: 10 },
    { from: 10, to: 20 },
    { from: 30, to: 40 },
    // Its link ends soon.
    { from: 40, to: 50, isAway: true, fields: { expiresAt: inHours(2) } },
  );
});

const hold = (from: string, to: string, more: Plain = {}) =>
  admin<Hold>('POST', '/holds', { caseId: 'CLAIM-1', reason: 'collision', ...footage.truck, from, to, ...more });
const holdIds = async (from: number) =>
  (await administer<{ holdIds: string[] }>('GET', `/recordings/${await footage.idOf(from)}`)).holdIds;

describe('a hold', () => {
  test('is on what overlaps its range by any part, whatever the offset of its times, until it is released', async () => {
    const [from, to] = [minute(9), minute(30)];
    const local = new Date(Date.parse(from) + 9 * 3_600_000).toISOString().replace('.000Z', '+09:00');
    const { status, body } = await hold(local, to);
    expect([status, body.from, body.to, body.stored, body.waiting]).toEqual([201, from, to, 2, 0]);
    expect([await holdIds(0), await holdIds(10), await holdIds(30)]).toEqual([[body.id], [body.id], []]);
    const released = await admin('POST', `/holds/${body.id}/release`, { reason: 'settled' });
    expect(released).toMatchObject({
      status: 200,
      body: { status: 'released', releaseReason: 'settled', releasedBy: 'admin' },
    });
    expect(await holdIds(0)).toEqual([]);
    expect((await admin('POST', `/holds/${body.id}/release`, { reason: 'again' })).status).toBe(409);
    const list = await administer<{ data: Plain[] }>('GET', `/holds?connectionId=${footage.truck.connectionId}`);
    expect(list.data).toContainEqual(expect.objectContaining({ id: body.id, status: 'released' }));
  });

  test('names what is missing of its range, and what waits for its download', async () => {
    const { body } = await hold(minute(15), minute(60), { cameraId: 'front' });
    expect(body).toMatchObject({ stored: 2, waiting: 1 });
    expect(body.missing).toEqual([
      { cameraId: 'front', from: minute(20), to: minute(30), cause: 'notListed' },
      { cameraId: 'front', from: minute(50), to: minute(60), cause: 'notListed' },
    ]);
  });

  test('is also on recordings that are listed after it', async () => {
    const { body } = await hold(minute(70), minute(75));
    expect([body.stored, body.waiting]).toEqual([0, 0]);
    await footage.add({ from: 70, to: 75 });
    expect(await holdIds(70)).toEqual([body.id]);
  });

  test('over footage that may be lost at the partner needs attention now (decision 69)', async () => {
    await hold(minute(40), minute(50), { caseId: 'CLAIM-2' });
    const { data } = await administer<{ data: Plain[] }>('GET', '/attention');
    const own = data.filter(({ hauler }) => (hauler as Plain | undefined)?.['id'] === footage.vision.hauler.id);
    expect(own).toContainEqual(
      expect.objectContaining({ kind: 'held-at-risk', severity: 'now', sentence: expect.stringContaining('CLAIM-2') }),
    );
  });

  test('is downloaded as one archive, with the sums of its files', async () => {
    const { body } = await hold(minute(0), minute(20), { caseId: '=CLAIM/3' });
    const headers = { Authorization: `Bearer ${target.adminToken}` };
    const response = await fetch(`${target.url}/admin/v1/holds/${body.id}/bundle`, { headers });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/zip']);
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="hold-CLAIM-3-.*\.zip"$/);
    const bytes = Buffer.from(await response.arrayBuffer());
    expect(bytes.toString('latin1', 0, 2)).toBe('PK');
    for (const name of [`${await footage.idOf(0)}.mp4`, 'manifest.json', 'SHA256SUMS']) {
      expect(bytes.includes(name)).toBe(true);
    }
  });

  test.each<[string, Plain, string]>([
    ['an unknown truck, which may be misspelt', { truckId: 'TRUCK-77' }, 'truckId'],
    ['an unknown connection', { connectionId: randomUUID() }, 'connectionId'],
    ['an end at its start', { to: minute(0) }, 'to'],
    ['more than 366 days', { from: minute(-530_000) }, 'to'],
    ['a blank case', { caseId: ' ' }, 'caseId'],
    ['no reason', { reason: undefined }, 'reason'],
    ['a time without an offset', { from: '2026-01-31T08:00:00' }, 'from'],
    ['an empty camera', { cameraId: '' }, 'cameraId'],
    ['a character that cannot be stored', { reason: 'a\u0000b' }, 'reason'],
  ])('is refused for %s', async (_, fields, path) => {
    const reply = await hold(minute(0), minute(20), fields);
    expect([reply.status, paths(reply)]).toEqual([400, [path]]);
  });

  test('that is unknown is 404, and a release without a reason 400', async () => {
    const id = randomUUID();
    expect((await admin('GET', `/holds/${id}`)).status).toBe(404);
    expect((await admin('POST', `/holds/${id}/release`, { reason: 'x' })).status).toBe(404);
    expect((await admin('POST', `/holds/${id}/release`, {})).status).toBe(400);
  });
});
