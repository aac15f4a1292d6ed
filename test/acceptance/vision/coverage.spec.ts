import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { element } from '../../support/scripted-vision.js';
import { Footage, minute } from '../support/footage.js';
import type { ErrorBody, Plain } from '../support/hauler.js';
import { at, HostedCustomer, RECORDED } from '../support/hosted.js';
import { admin, administer, target } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

interface Interval extends Plain {
  readonly cameraId?: string;
  readonly startTime: string;
  readonly endTime: string;
  readonly state: string;
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
    const none = { stored: 0, available: 0, expired: 0, failed: 0, missing: 0 };
    expect(body.data).toEqual([
      { cameraId: 'front', startTime: minute(-20), endTime: minute(0), ...none, missing: 1200 },
      { cameraId: 'front', startTime: minute(0), endTime: minute(20), ...none, stored: 600, available: 600 },
      { cameraId: 'front', startTime: minute(20), endTime: minute(40), ...none, missing: 1200 },
    ]);
  });

  test('of the fleet has one row for each truck, with the seconds of its cameras by day', async () => {
    const query = new URLSearchParams({ haulerId: footage.vision.hauler.id, ...RANGE }).toString();
    const { data } = await administer<{ data: { days: Record<string, number>[] }[] }>(
      'GET',
      `/coverage/fleet?${query}`,
    );
    expect(data).toMatchObject([{ ...footage.truck, haulerId: footage.vision.hauler.id, cameras: 2, absent: [] }]);
    const sum = (state: string) => data[0]?.days.reduce((total, day) => total + (day[state] ?? 0), 0);
    expect(['stored', 'available', 'missing'].map(sum)).toEqual([1_800, 600, 2 * 3_600 - 2_400]);
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

  test('has its clip by both names of the camera, and the gap in it as missing (decisions 45, 49)', async () => {
    const id = await vision.order({ cameraId: '1', startTime: at(0), endTime: at(3 * LENGTH) });
    const { recordingIds } = await vision.becomes(id, { status: 'stored' });
    for (const cameraId of ['1', 'front']) {
      expect((await vision.recordings(`&cameraId=${cameraId}`)).map((each) => each.id)).toEqual(recordingIds);
      const { data } = (await covered(cameraId)).body;
      expect(brief(data).map(([, , state]) => state)).toEqual(['stored', 'missing', 'stored']);
      expect(data[1]).toMatchObject({ startTime: at(LENGTH), endTime: at(2 * LENGTH), cause: 'gap' });
    }
    expect(await vision.recordings('&cameraId=rear')).toEqual([]);
  });
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
  expect(body.data).toMatchObject([{ state: 'missing', cause: 'clipFailed' }]);
});
