import { afterEach, describe, expect, test } from '@jest/globals';
import { PartitionPlanner } from '../../../src/database/partition-planner.js';
import { PARTITIONED } from '../../../src/database/partitions.rules.js';
import { Retention } from '../../../src/vision/recordings/retention.job.js';
import { type Footage, insertFootage } from '../../support/held-footage.js';
import { deleteKeptRows, hasMonth } from '../../support/rows.js';
import { ageRecordings } from '../../support/time.js';
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

describe('a month of recordings that ended long ago', () => {
  test('is dropped when its files are deleted, and each call for one of them gets a clear answer', async () => {
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
});
