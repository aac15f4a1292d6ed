import { afterEach, describe, expect, test } from '@jest/globals';
import type { HoldDetails } from '../../../src/contracts/admin/hold.dto.js';
import { PartitionPlanner } from '../../../src/database/partition-planner.js';
import { PARTITIONED } from '../../../src/database/partitions.rules.js';
import { Retention } from '../../../src/vision/recordings/retention.job.js';
import { startTestApp } from '../../support/app.js';
import { type Footage, insertFootage } from '../../support/held-footage.js';
import { deleteKeptRows, hasMonth } from '../../support/rows.js';
import { sampleVideo } from '../../support/sample-video.js';
import { accepts, element, POST } from '../../support/scripted-vision.js';
import { ageFiles, ageRecordings } from '../../support/time.js';
import { useVision } from '../../support/vision-scene.js';
import { Subscriptions } from '../../integration/vision/subscriptions.js';

const vision = useVision({ VIDEO_RETENTION_DAYS: 30 });
const subscriptions = new Subscriptions(vision);

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

const statusOf = async (id: string) => (await vision.app.admin('GET', `/recordings/${id}`)).status;

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

  test.each<[string, (id: string) => Promise<unknown>, Partial<Footage>]>([
    ['a file that is not due', () => Promise.resolve(), { storedDays: 29 }],
    ['a recording that waits', () => Promise.resolve(), { status: 'available' }],
    ['a recording that failed lately', () => Promise.resolve(), { status: 'failed' }],
    [
      'a hauler that keeps for ever',
      async (id) => {
        await ageRecordings(vision.app, 99, [id]);
        const forever = { onDemandDays: 30, continuousDays: null };
        await vision.app.admin('PUT', `/haulers/${vision.haulerId}/retention`, forever);
      },
      { status: 'failed' },
    ],
    ['a hold over another part of it', () => hold(later(MONTH, 7_000), later(MONTH, 7_060)), {}],
  ])('stays for %s', async (_, keep, fields) => {
    await vision.connect();
    const id = await footage(MONTH, fields);
    await keep(id);
    await run();
    expect([await exists(MONTH), await statusOf(id)]).toEqual([true, 200]);
  });

  test('stays for a hold that begins after it, over a recording that reaches there, until the hold is released', async () => {
    await vision.connect();
    const [start, next] = [at(24, 28, '23:00:00'), at(23, 1, '00:00:00')];
    const id = await footage(start, { end: later(next, 120) });
    const held = await hold(later(next, 60), later(next, 180));
    await run();
    expect([await exists(start), await statusOf(id)]).toEqual([true, 200]);
    await vision.app.admin('POST', `/holds/${held.body.id}/release`, { reason: 'settled' });
    await run();
    expect(await exists(start)).toBe(false);
  });

  test('stays while VIDEO_ROWS_DAYS have not passed since its end, and for ever with 0', async () => {
    await vision.connect();
    const [old, young] = [MONTH, at(12)];
    await footage(old);
    await footage(young);
    const never = await startTestApp({ on: vision.app, env: { VIDEO_RETENTION_DAYS: 30, VIDEO_ROWS_DAYS: 0 } });
    try {
      await run(never);
    } finally {
      await never.close();
    }
    expect([await exists(old), await exists(young)]).toEqual([true, true]);
    await run();
    expect([await exists(old), await exists(young)]).toEqual([false, true]);
  });

  test('whose chunks are listed again does not come back, younger chunks and those of other connections do', async () => {
    const other = await vision.connect();
    const connectionId = await vision.connect();
    await footage(MONTH);
    await run();
    const chunks = [MONTH, later(MONTH, 30), at(12)].map((startTime) =>
      subscriptions.chunk(0, { startTime, endTime: later(startTime, 1) }),
    );
    vision.listRecordings(() => chunks);
    for (const id of [connectionId, other]) {
      await subscriptions.reachesNow(await subscriptions.follow(id));
      await vision.hurry();
    }
    const of = async (connection: string) => {
      const path = `/recordings?connectionId=${connection}`;
      const { body } = await vision.app.admin<{ data: { startTime: string }[] }>('GET', path);
      return body.data.map(({ startTime }) => startTime).sort();
    };
    expect(await of(other)).toEqual([MONTH, later(MONTH, 30).replace('.000Z', 'Z'), at(12)]);
    expect(await of(connectionId)).toEqual([at(12)]);
  });

  test('can be requested again as a clip, and the request whose clip is gone stays a removed one', async () => {
    const connectionId = await vision.connect();
    const range = { startTime: MONTH, endTime: later(MONTH, 5) };
    const requestOf = async (requestId: string) => {
      vision.partner.on(POST, accepts({ requestId }));
      const downloadUrl = vision.partner.link(sampleVideo(1_000));
      vision.listVideos(() => [element({ requestId, id: requestId, downloadUrl, ...range })]);
      return vision.becomes(await vision.order(connectionId, range), { status: 'stored' });
    };
    const { id } = await requestOf('first');
    await ageFiles(vision.app, 31);
    await run();
    expect(await exists(MONTH)).toBe(false);
    const removed = { status: 'expired', reasonCode: 'fileRemoved', recordingIds: [] };
    expect(await vision.read(id)).toMatchObject({ ...removed, parts: [{ reasonCode: 'fileRemoved' }] });
    expect((await vision.app.admin('POST', `/video-requests/${id}/retry`)).status).toBe(409);
    const attention = await vision.app.admin<{ data: { kind: string }[] }>('GET', '/attention');
    expect(attention.body.data.map(({ kind }) => kind)).not.toContain('failed-clips');
    const again = await requestOf('second');
    const path = `/recordings/${again.recordingIds[0]}/content`;
    expect((await vision.app.admin('GET', path)).status).toBe(200);
    await run();
    expect(await statusOf(again.recordingIds[0] ?? '')).toBe(200);
  });
});

const hold = (from: string, to: string) =>
  vision.app.admin<HoldDetails>('POST', '/holds', {
    ...{ caseId: 'CASE', reason: 'r', connectionId: vision.connectionId, truckId: 'TRUCK-7', from, to },
  });
