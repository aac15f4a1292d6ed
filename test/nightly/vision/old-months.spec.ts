import { afterEach, describe, expect, test } from '@jest/globals';
import { PartitionPlanner } from '../../../src/core/database/partition-planner.js';
import { PARTITIONED } from '../../../src/core/database/partitions.rules.js';
import { Retention } from '../../../src/vision/retention/retention.job.js';
import { type Footage, insertFootage } from '../../support/held-footage.js';
import { deleteKeptRows, hasMonth } from '../../support/rows.js';
import { ageFiles, ageRecordings } from '../../support/time.js';
import { useVision } from '../../support/vision-scene.js';

const vision = useVision({ VIDEO_RETENTION_DAYS: 30 });

afterEach(() => deleteKeptRows(vision.app));

const run = (app = vision.app) => app.app.get(Retention, { strict: false }).run();

/** A time of the month that was so many months ago. */
const at = (months: number, day = 15, clock = '08:00:00'): string => {
  const now = new Date();
  const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, day));
  return `${start.toISOString().slice(0, 10)}T${clock}Z`;
};
const later = (time: string, minutes: number) => new Date(Date.parse(time) + minutes * 60_000).toISOString();

const exists = (time: string) => hasMonth(vision.app, time);

/** A recording of a minute whose file is due, in a partition of its month. */
async function footage(start: string, fields: Partial<Footage> = {}): Promise<string> {
  const planner = vision.app.app.get(PartitionPlanner);
  await planner.plan();
  await planner.ensure(PARTITIONED.recordings, [Date.parse(start)]);
  const { haulerId, connectionId } = vision;
  const row = { haulerId, connectionId, start, end: later(start, 1), storedDays: 31, ...fields };
  const [id = ''] = await insertFootage(vision.app, [row]);
  return id;
}

const MONTH = at(24);

describe('the recordings of a month long ago', () => {
  test('are deleted with the month when their files are, and each call for one of them gets a clear answer', async () => {
    await vision.connect();
    const ids = [await footage(MONTH), await footage(later(MONTH, 5))];
    const failed = await footage(later(MONTH, 10), { status: 'failed' });
    await ageRecordings(vision.app, 31, [failed]);
    const share = await vision.app.admin<{ url: string; id: string }>('POST', `/recordings/${ids[0]}/shares`, {
      reason: 'Dispute',
    });
    expect(await run()).toMatchObject({ recordings: 2 });
    expect(await exists(MONTH)).toBe(false);
    for (const id of [...ids, failed])
      for (const path of ['', '/content', '/shares', '/tickets'])
        expect([path, (await vision.app.admin('GET', `/recordings/${id}${path}`)).status]).toEqual([path, 404]);
    expect((await vision.app.admin('POST', `/recordings/${ids[0]}/retry`)).status).toBe(404);
    expect((await fetch(share.body.url)).status).toBe(404);
    expect((await vision.app.admin('DELETE', `/shares/${share.body.id}`)).status).toBe(204);
    expect((await vision.app.admin('GET', '/shares')).status).toBe(200);
    expect((await vision.app.admin('GET', '/actions')).status).toBe(200);
    expect((await vision.app.admin<{ data: object[] }>('GET', '/doctor')).body.data).toEqual([]);
  });

  test('stay one by one while they are kept: the others go, and the month when none is left', async () => {
    await vision.connect();
    const { haulerId, connectionId } = vision;
    const range = { from: at(24, 15, '08:05:00'), to: at(24, 15, '08:06:00') };
    const [gone, held] = [await footage(MONTH), await footage(range.from)];
    const young = await footage(later(MONTH, 10), { storedDays: 1 });
    const failed = await footage(later(MONTH, 15), { status: 'failed' });
    const hold = await vision.app.admin<{ id: string }>('POST', '/holds', {
      ...{ caseId: 'C', reason: 'r', connectionId, truckId: 'TRUCK-7', ...range },
    });
    const statuses = () =>
      Promise.all(
        [gone, held, young, failed].map(async (id) => (await vision.app.admin('GET', `/recordings/${id}`)).status),
      );
    await run();
    expect(await statuses()).toEqual([404, 200, 200, 200]);
    const wide = await vision.app.admin<{ id: string; missing: { cause: string }[] }>('POST', '/holds', {
      ...{ caseId: 'D', reason: 'r', connectionId, truckId: 'TRUCK-7', from: MONTH, to: later(MONTH, 5) },
    });
    expect(wide.body.missing).toEqual([
      expect.objectContaining({ from: MONTH.replace('.000', ''), cause: 'monthRemoved' }),
    ]);
    for (const { body } of [hold, wide]) await vision.app.admin('POST', `/holds/${body.id}/release`, { reason: 'r' });
    const days = { onDemandDays: 1, continuousDays: 1 };
    await vision.app.admin('PUT', `/haulers/${haulerId}/retention`, days);
    await ageRecordings(vision.app, 31, [failed]);
    await ageFiles(vision.app, 31, [young]);
    await run();
    expect([await statuses(), await exists(MONTH)]).toEqual([[404, 404, 404, 404], false]);
  });

  test('of a hauler that keeps for ever stay', async () => {
    await vision.connect();
    const failed = await footage(MONTH, { status: 'failed' });
    await ageRecordings(vision.app, 900, [failed]);
    await vision.app.admin('PUT', `/haulers/${vision.haulerId}/retention`, {
      onDemandDays: null,
      continuousDays: null,
    });
    await run();
    expect([(await vision.app.admin('GET', `/recordings/${failed}`)).status, await exists(MONTH)]).toEqual([200, true]);
  });
});
