import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { refuses } from '../../support/scripted-partner.js';
import { CONTINUOUS, type Element, element, lists, POST } from '../../support/scripted-vision.js';
import { Footage, minute } from '../support/footage.js';
import type { ErrorBody, Plain } from '../support/hauler.js';
import { at, HostedCustomer, RECORDED } from '../support/hosted.js';
import { admin, administer, listed, target } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

interface Interval extends Plain {
  readonly cameraId?: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly state: string;
  readonly lost: boolean;
  readonly cause?: string;
  readonly side?: string;
}

let footage: Footage;
beforeAll(async () => {
  footage = await Footage.create();
  await footage.add(
    { from: 0, to: 10 },
    { from: 10, to: 20, isAway: true },
    { from: 20, to: 30, cameraId: 'rear' },
    { from: -5, to: 5, cameraId: 'rear' },
  );
});

type Seconds = Readonly<Record<string, number>> & { readonly cameraId?: string };
type Sums = { data: Seconds[] };

const sumOf = (all: readonly Seconds[], name: string): number => all.reduce((sum, each) => sum + (each[name] ?? 0), 0);

/** What the intervals add up to. */
function secondsOf(intervals: readonly Interval[]) {
  const sum = (isCounted: (each: Interval) => boolean) =>
    intervals
      .filter(isCounted)
      .reduce((all, { startTime, endTime }) => all + (Date.parse(endTime) - Date.parse(startTime)) / 1_000, 0);
  return {
    stored: sum(({ state }) => state === 'stored'),
    missing: sum(({ state, cause }) => state === 'missing' && cause !== 'future'),
    lost: sum(({ lost }) => lost),
    future: sum(({ cause }) => cause === 'future'),
    unread: sum(({ cause }) => cause === 'unread' || cause === 'notReadYet'),
  };
}

const RANGE = { from: minute(-20), to: minute(40) };
const read = <Body = { data: Interval[] }>(query: Plain = {}, path = '/coverage') => {
  const all = { ...footage.truck, ...RANGE, ...query } as Record<string, string>;
  return admin<Body>('GET', `${path}?${new URLSearchParams(all).toString()}`);
};
const brief = (intervals: readonly Interval[]) =>
  intervals.map(({ startTime, endTime, state, cause, side }) => [startTime, endTime, state, cause, side]);

describe('the coverage of a truck', () => {
  test('has for each moment of a camera a state, and the cause and the side where no file is stored (decision 49)', async () => {
    const { status, body } = await read({ cameraId: 'front' });
    expect([status, brief(body.data)]).toEqual([
      200,
      [
        [minute(-20), minute(-10), 'missing', 'notSubscribed', 'platform'],
        [minute(-10), minute(0), 'missing', 'notRecorded', 'parked'],
        [minute(0), minute(10), 'stored', undefined, undefined],
        [minute(10), minute(20), 'available', 'waiting', expect.any(String)],
        [minute(20), minute(40), 'missing', 'notRecorded', 'parked'],
      ],
    ]);
    for (const { state, reason } of body.data.filter(({ state: each }) => each === 'missing')) {
      expect([state, reason]).toEqual(['missing', expect.stringMatching(/\w+\.$/)]);
    }
  });

  test('has the intervals of each camera without a camera, and one recording for each stored one (decision 49)', async () => {
    const { data } = (await read()).body;
    const stored = data.filter(({ state }) => state === 'stored');
    expect(stored.map(({ cameraId, startTime }) => [cameraId, startTime])).toEqual([
      ['front', minute(0)],
      ['rear', minute(-5)],
      ['rear', minute(20)],
    ]);
    const ids = await Promise.all([footage.idOf(0), footage.idOf(-5, 'rear'), footage.idOf(20, 'rear')]);
    expect(stored.map(({ recordingId }) => recordingId)).toEqual(ids);
  });

  test('names the time that is still to come as such (decision 49)', async () => {
    const { data } = (await read({ cameraId: 'front', from: minute(60), to: minute(600) })).body;
    expect(data.at(-1)).toMatchObject({ state: 'missing', cause: 'future', side: 'future', endTime: minute(600) });
  });

  test('in buckets has the seconds of the intervals', async () => {
    const { body } = await read<{ data: Plain[] }>({ cameraId: 'front', resolution: '1200' });
    const none = { stored: 0, available: 0, expired: 0, failed: 0, missing: 0, lost: 0, unread: 0, future: 0 };
    expect(body.data).toEqual([
      { cameraId: 'front', startTime: minute(-20), endTime: minute(0), ...none, missing: 1200 },
      { cameraId: 'front', startTime: minute(0), endTime: minute(20), ...none, stored: 600, available: 600 },
      { cameraId: 'front', startTime: minute(20), endTime: minute(40), ...none, missing: 1200 },
    ]);
  });

  test.each([
    ['lies in the future', 600, 660, [0, 0, 3_600]],
    ['ends in the future', -20, 600, undefined],
    ['contains now in one bucket', -20, 40 + 24 * 60, undefined],
  ])(
    'that %s has future seconds in buckets, days and in short, not missing ones (decision 49)',
    async (_, from, to, sums) => {
      const range = { from: minute(from), to: minute(to) };
      const { data: intervals } = (await read({ ...range, cameraId: 'front' })).body;
      const expected = secondsOf(intervals);
      if (sums !== undefined) expect([expected.missing, expected.lost, expected.future]).toEqual(sums);
      const buckets = (await read<Sums>({ ...range, cameraId: 'front', resolution: '1200' })).body.data;
      const camera = (await read<Sums>(range, '/coverage/summary')).body.data.filter(
        ({ cameraId }) => cameraId === 'front',
      );
      for (const each of [buckets, camera]) {
        expect(sumOf(each, 'missing')).toBeCloseTo(expected.missing, -2);
        expect(sumOf(each, 'future')).toBeCloseTo(expected.future, -2);
        expect(sumOf(each, 'stored')).toBe(expected.stored);
      }
      const query = new URLSearchParams({ haulerId: footage.vision.hauler.id, ...range }).toString();
      const fleet = await administer<{ data: { days: Seconds[] }[] }>('GET', `/coverage/fleet?${query}`);
      expect(sumOf(fleet.data[0]?.days ?? [], 'future')).toBeCloseTo(2 * expected.future, -2);
    },
  );

  test('of the fleet has one row for each truck, with the seconds of its cameras by day', async () => {
    const query = new URLSearchParams({ haulerId: footage.vision.hauler.id, ...RANGE }).toString();
    const { data } = await administer<{ data: { days: Record<string, number>[] }[] }>(
      'GET',
      `/coverage/fleet?${query}`,
    );
    expect(data).toMatchObject([{ ...footage.truck, haulerId: footage.vision.hauler.id, cameras: 2, absent: [] }]);
    const sum = (state: string) => data[0]?.days.reduce((total, day) => total + (day[state] ?? 0), 0);
    expect(['stored', 'available', 'missing'].map(sum)).toEqual([1_800, 600, 2 * 3_600 - 2_400]);
    const other = await administer<{ data: object[] }>('GET', `/coverage/fleet?${query}&truckId=TRUCK-0`);
    expect(other.data).toEqual([]);
  });

  test('in short has the seconds of each camera by cause', async () => {
    const { body } = await read<{ data: Plain[] }>({}, '/coverage/summary');
    const front = body.data.find(({ cameraId }) => cameraId === 'front');
    expect(front).toMatchObject({ stored: 600, available: 600, missing: 2_400 });
    expect(front?.['causes']).toEqual(
      expect.arrayContaining([{ cause: 'notSubscribed', side: 'platform', seconds: 600 }]),
    );
  });

  test.each<[string, string, Plain, string]>([
    ['an unknown connection', '/coverage', { connectionId: randomUUID() }, 'connectionId'],
    ['an end before the start', '/coverage', { to: minute(-30) }, 'to'],
    ['more than 50,000 buckets', '/coverage', { to: minute(1_000), resolution: '1' }, 'resolution'],
    ['an unknown connection', '/coverage/summary', { connectionId: randomUUID() }, 'connectionId'],
    ['more than 31 days', '/coverage/summary', { from: minute(-50_000) }, 'to'],
    ['an unknown zone', '/coverage/fleet', { zone: 'Mars/Olympus' }, 'zone'],
    ['more than 31 days', '/coverage/fleet', { from: minute(-50_000) }, 'to'],
  ])('with %s is 400: %s', async (_, path, query, violation) => {
    const { status, body } = await read<ErrorBody>(query, path);
    expect([status, body.error.details?.violations?.map((each) => each.path)]).toEqual([400, [violation]]);
  });

  test('of a deleted connection says that nothing more is read (decision 49)', async () => {
    const other = await VisionScene.create();
    await administer('DELETE', `/connections/${other.connectionId}`);
    const { status, body } = await read({ connectionId: other.connectionId });
    expect([status, body.data]).toEqual([200, [expect.objectContaining({ state: 'missing' })]]);
  });
});

describe('a list of recordings', () => {
  const startsOf = async (query: Plain) => {
    const where = new URLSearchParams({ connectionId: footage.vision.connectionId, ...query }).toString();
    const { data } = await administer<{ data: Interval[] }>('GET', `/recordings?${where}`);
    return data.map(({ cameraId, startTime }) => [cameraId, startTime]);
  };

  test.each<[string, Plain, readonly [string, number][]]>([
    ['a second within one', { from: 9, to: 9 + 1 / 60 }, [['front', 0]]],
    [
      'two cameras at once',
      { from: 4, to: 6 },
      [
        ['front', 0],
        ['rear', -5],
      ],
    ],
    ['the end of one, which is not part of it', { from: 10, to: 11 }, [['front', 10]]],
    [
      'the start of one, which is',
      { from: 19, to: 20 + 1 / 60 },
      [
        ['rear', 20],
        ['front', 10],
      ],
    ],
    ['a time before all', { from: -60, to: -5 }, []],
    ['a time after all', { from: 30, to: 31 }, []],
  ])('has those that overlap %s (decision 49)', async (_, { from, to }, found) => {
    const expected = found.map(([cameraId, start]) => [cameraId, minute(start)]);
    expect(await startsOf({ overlaps: `${minute(from as number)},${minute(to as number)}` })).toEqual(expected);
  });

  test('reads the times of an overlap with an offset, alone and beside other filters', async () => {
    const from = minute(4).replace('Z', '+00:00');
    expect(await startsOf({ overlaps: `${from},${minute(6)}`, cameraId: 'rear' })).toEqual([['rear', minute(-5)]]);
    expect(await startsOf({ overlaps: `${from},${minute(6)}`, truckId: 'TRUCK-8' })).toEqual([]);
  });

  test.each([
    '',
    minute(0),
    `${minute(1)},${minute(0)}`,
    `${minute(0)},${minute(0)}`,
    `${minute(0)},soon`,
    `${minute(0)},${minute(1)},`,
  ])('with the overlap %j is 400, and so is one of clip requests', async (overlaps) => {
    for (const path of ['/recordings', '/video-requests']) {
      const { status, body } = await admin<ErrorBody>('GET', `${path}?${new URLSearchParams({ overlaps }).toString()}`);
      expect([status, body.error.details?.violations?.map((each) => each.path)]).toEqual([400, ['overlaps']]);
    }
  });

  test('and those of clip requests and subscriptions are of one hauler where that is named', async () => {
    const other = await VisionScene.create();
    const { hauler } = footage.vision;
    const id = await other.order({ startTime: minute(0), endTime: minute(5) });
    await other.follow({ startTime: minute(0) });
    const owners = async (path: string, haulerId: string) =>
      new Set((await listed<{ haulerId: string }>(`${path}?haulerId=${haulerId}`)).map((each) => each.haulerId));
    for (const path of ['/recordings', '/video-subscriptions']) {
      expect([path, await owners(path, hauler.id)]).toEqual([path, new Set([hauler.id])]);
    }
    expect(await owners('/recordings', other.hauler.id)).toEqual(new Set());
    for (const path of ['/video-requests', '/video-subscriptions']) {
      expect([path, await owners(path, other.hauler.id)]).toEqual([path, new Set([other.hauler.id])]);
    }
    const requests = (from: number, to: number) =>
      listed<{ id: string }>(`/video-requests?haulerId=${other.hauler.id}&overlaps=${minute(from)},${minute(to)}`).then(
        (all) => all.map((each) => each.id),
      );
    expect([await requests(4, 10), await requests(5, 10)]).toEqual([[id], []]);
  });
});

describe('a partner side with recordings of its own, which the service calls', () => {
  let customer: HostedCustomer;
  let vision: VisionScene;
  const LENGTH = 0.2;
  beforeAll(async () => {
    customer = await HostedCustomer.create();
    const connection = { baseUrl: target.url, apiKey: customer.key, customerId: customer.id };
    vision = await VisionScene.create({ connection });
    for (const n of [0, 2]) {
      await customer.upload(0, { startTime: at(n * LENGTH), endTime: at((n + 1) * LENGTH) }, RECORDED);
    }
    await customer.putCamera('front', ['1']);
  });
  const covered = (cameraId: string) =>
    read({ connectionId: vision.connectionId, cameraId, from: at(0), to: at(3 * LENGTH) });

  test('has its clips by both names of the camera, and the gap between them as missing (decisions 45, 49)', async () => {
    const id = await vision.order({ cameraId: '1', startTime: at(0), endTime: at(3 * LENGTH) });
    const { recordingIds } = await vision.becomes(id, { status: 'stored' });
    for (const cameraId of ['1', 'front']) {
      const listedIds = (await vision.recordings(`&cameraId=${cameraId}`)).map((each) => each.id);
      expect(listedIds.sort()).toEqual(recordingIds.toSorted());
      const { data } = (await covered(cameraId)).body;
      expect(brief(data).map(([, , state]) => state)).toEqual(['stored', 'missing', 'stored']);
      expect(data[1]).toMatchObject({ startTime: at(LENGTH), endTime: at(2 * LENGTH) });
    }
    expect(await vision.recordings('&cameraId=rear')).toEqual([]);
  });
});

test('a time within a clip that its partner names as not recorded is missing, and lost (decision 49)', async () => {
  const vision = await VisionScene.create();
  const { startTime, endTime } = element();
  const after = (seconds: number) => new Date(Date.parse(startTime as string) + seconds * 1_000).toISOString();
  const gaps = [{ startTime: after(60), endTime: after(120) }];
  const clip = element({ requestId: 'r-1', downloadUrl: vision.partner.link(sampleVideo()), gaps });
  vision.prepares(() => [clip], { requestId: 'r-1', status: 'ready' });
  await vision.becomes(await vision.order(), { status: 'stored' });
  const range = { connectionId: vision.connectionId, cameraId: 'front', from: startTime, to: endTime };
  const { data } = (await read(range)).body;
  expect(data.map(({ state, cause }) => [state, cause])).toEqual([
    ['stored', undefined],
    ['missing', 'gap'],
    ['stored', undefined],
  ]);
  expect(data[1]).toMatchObject({ lost: true, side: 'partner' });
  expect(sumOf((await read<Sums>({ ...range, resolution: '300' })).body.data, 'lost')).toBe(60);
});

test('a clip that never came has its cause (decision 49)', async () => {
  const vision = await VisionScene.create();
  const { startTime, endTime } = element();
  const id = await vision.order({ startTime, endTime });
  await vision.becomes(id, { status: 'failed' });
  const { body } = await read({
    ...{ connectionId: vision.connectionId, cameraId: 'front' },
    ...{ from: startTime as string, to: endTime as string },
  });
  expect(body.data).toMatchObject([{ state: 'missing', cause: 'clipFailed', lost: true }]);
});

test('a clip that ended is in attention with its reason, and the page there is that of its own range, not of the day of its end (decisions 49, 54)', async () => {
  const vision = await VisionScene.create();
  vision.partner.on(POST, refuses(400, 'INVALID_PAYLOAD', 'there is no such camera'));
  const { startTime, endTime } = element();
  const id = await vision.order({ startTime, endTime });
  const { reason } = await vision.becomes(id, { status: 'failed' });
  const { data } = await administer<{ data: Plain[] }>('GET', '/attention');
  const [item] = data.filter(
    ({ kind, connection }) => kind === 'failed-clips' && (connection as Plain)['id'] === vision.connectionId,
  );
  expect(item?.['sentence']).toContain(reason);
  expect(item?.['sentence']).toContain('there is no such camera');
  const { searchParams, pathname } = new URL(item?.['page'] as string, target.url);
  expect([pathname, ...['from', 'to'].map((name) => Date.parse(searchParams.get(name) ?? ''))]).toEqual([
    '/console/coverage',
    Date.parse(startTime as string),
    Date.parse(endTime as string),
  ]);
});

describe('what is lost', () => {
  let vision: VisionScene;
  const chunks: Element[] = [];
  const list = (truckId: string, from: number, to: number, isAway = false) => {
    const file = sampleVideo(1_000);
    const away = (): string => vision.partner.link(file, (_, response) => response.writeHead(503).end());
    const times = { startTime: minute(from), endTime: minute(to), durationSeconds: (to - from) * 60 };
    chunks.push(element({ truckId, ...times, downloadUrl: isAway ? away() : vision.partner.link(file) }));
  };
  const loses = async (truckId: string, from: number, to: number) => {
    const id = await vision.order({ truckId, startTime: minute(from), endTime: minute(to) });
    await vision.becomes(id, { status: 'failed' });
  };
  beforeAll(async () => {
    vision = await VisionScene.create();
    vision.partner.on(CONTINUOUS, (response, request) => {
      const own = chunks.filter(({ truckId }) => truckId === request.query.get('truckId'));
      lists('recordings', () => own)(response, request);
    });
    list('A-FINE', 0, 30);
    list('B-RISK', 0, 30, true);
    list('C-LITTLE', -120, 30);
    list('D-MUCH', 0, 5);
    for (const truckId of ['A-FINE', 'B-RISK', 'C-LITTLE', 'D-MUCH']) {
      await vision.follow({ truckId, startTime: minute(-120) });
    }
    await loses('C-LITTLE', 30, 40);
    await loses('D-MUCH', 10, 16);
    await vision.recordingsBecome(
      chunks.map(({ truckId }) => ({ truckId, status: truckId === 'B-RISK' ? 'available' : 'stored' })),
    );
  });
  const range = { from: minute(-120), to: minute(60) };

  test('is the same number of seconds in intervals, buckets, in short and in the fleet (decision 49)', async () => {
    const { connectionId } = vision;
    const fleet = await administer<{ data: { truckId: string; days: Seconds[] }[] }>(
      'GET',
      `/coverage/fleet?${new URLSearchParams({ haulerId: vision.hauler.id, ...range }).toString()}`,
    );
    for (const [truckId, lost] of Object.entries({ 'A-FINE': 0, 'C-LITTLE': 600, 'D-MUCH': 360 })) {
      const query = { connectionId, truckId, ...range };
      expect(secondsOf((await read(query)).body.data).lost).toBe(lost);
      expect(sumOf((await read<Sums>({ ...query, resolution: '600' })).body.data, 'lost')).toBe(lost);
      expect(sumOf((await read<Sums>(query, '/coverage/summary')).body.data, 'lost')).toBe(lost);
      expect(sumOf(fleet.data.find((row) => row.truckId === truckId)?.days ?? [], 'lost')).toBe(lost);
    }
  });

  test('orders the fleet by its share, and failing downloads come before trucks with nothing to lose (decision 49)', async () => {
    const query = new URLSearchParams({ haulerId: vision.hauler.id, ...range }).toString();
    await eventually(async () => {
      const { data } = await administer<{ data: Plain[] }>('GET', `/coverage/fleet?${query}`);
      expect(data.map(({ truckId, atRisk }) => [truckId, atRisk])).toEqual([
        ['D-MUCH', 0],
        ['C-LITTLE', 0],
        ['B-RISK', 1],
        ['A-FINE', 0],
      ]);
    });
  });
});

test('a list that cannot be read is unread, not missing without a word, in intervals, buckets, in short and in the fleet (decision 49)', async () => {
  const vision = await VisionScene.create();
  vision.partner.on(CONTINUOUS, refuses(500, 'INTERNAL_ERROR', 'no list today'));
  await vision.follow({ startTime: minute(0) });
  const query = { connectionId: vision.connectionId, truckId: 'TRUCK-7', from: minute(0), to: minute(60) };
  await eventually(async () => {
    const { data } = (await read(query)).body;
    expect(data.map(({ cause }) => cause)).toEqual(['unread']);
  });
  expect((await read<Sums>({ ...query, resolution: '1800' })).body.data).toMatchObject([
    { missing: 1_800, unread: 1_800, lost: 0 },
    { missing: 1_800, unread: 1_800, lost: 0 },
  ]);
  expect((await read<Sums>(query, '/coverage/summary')).body.data).toMatchObject([{ missing: 3_600, unread: 3_600 }]);
  const fleet = new URLSearchParams({ haulerId: vision.hauler.id, from: minute(0), to: minute(60) }).toString();
  const { data } = await administer<{ data: { days: Seconds[] }[] }>('GET', `/coverage/fleet?${fleet}`);
  expect(sumOf(data[0]?.days ?? [], 'unread')).toBe(3_600);
});
