import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { camerasOf, type NamePair, namesOf } from '../../../src/vision/recordings/camera-names.rules.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { upload } from '../../support/reference-vision.js';
import { inHours } from '../../support/scripted-vision.js';
import { hurryVideo } from '../../support/time.js';
import { connectVision } from '../../support/vision-partner.js';

const pair = (requested: string, returned: string): NamePair => ({ requested, returned });

describe('the names of one camera (section 2.5a)', () => {
  test.each<[string, string, NamePair[], string[]]>([
    ['no returned name', '1', [], ['1']],
    ['the number, returned as the placement', '1', [pair('1', 'front')], ['1', 'front']],
    ['the placement, requested by the number', 'front', [pair('1', 'front')], ['1', 'front']],
    ['another camera', 'rear', [pair('1', 'front')], ['rear']],
    ['the placement, returned as the number', 'front', [pair('front', '1')], ['1', 'front']],
    ['both names requested', '1', [pair('1', 'front'), pair('front', '1')], ['1', 'front']],
    ['another spelling', 'Front', [pair('Front', 'front')], ['Front', 'front']],
    ['a spelling that was never requested', 'FRONT', [pair('1', 'front')], ['1', 'FRONT', 'front']],
    ['spellings of the returned name', '1', [pair('1', 'front'), pair('1', 'Front')], ['1', 'Front', 'front']],
    ['a partner that ignores the camera', '1', [pair('1', 'front'), pair('1', 'rear')], ['1']],
    ['a name that it returns', 'front', [pair('1', 'front'), pair('1', 'rear')], ['front']],
    ['one camera for two numbers', '1', [pair('1', 'front'), pair('2', 'front')], ['1']],
    ['that camera', 'front', [pair('1', 'front'), pair('2', 'front')], ['front']],
    ['two cameras, one name each', '2', [pair('1', 'front'), pair('2', 'rear')], ['2', 'rear']],
  ])('%s', (_, camera, pairs, names) => expect(namesOf(camera, pairs).sort()).toEqual(names.sort()));

  test('cameras are distinguished by their returned names', () => {
    const pairs = [pair('1', 'front'), pair('3', 'left'), pair('4', 'left')];
    const cameras = camerasOf(['rear', '1', 'front', '3'], pairs);
    expect(cameras.map(({ name, names }) => `${name}: ${[...names].sort().join(' ')}`)).toEqual([
      '3: 3',
      'front: 1 front',
      'rear: rear',
    ]);
  });
});

describe('a partner that returns another name of a camera', () => {
  const CUSTOMER = 'ALIAS Inc';
  const minutes = 60_000;
  const first = Math.floor(Date.parse(inHours(-2)) / minutes) * minutes;
  const at = (minute: number) => new Date(first + minute * minutes).toISOString();
  const written = (minute: number) => at(minute).replace('.000', '');
  let app: TestApp;
  let connectionId = '';

  beforeAll(async () => {
    app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
    const { key } = await issueKey(app, ['vision']);
    const { haulerId } = await connectVision(app, app.url);
    const made = await app.admin<{ id: string }>('POST', '/connections', {
      haulerId,
      interface: 'vision',
      baseUrl: app.url,
      apiKey: key,
      customerId: CUSTOMER,
    });
    expect(made.status).toBe(201);
    connectionId = made.body.id;
    for (const [truckId, cameraId] of [
      ['T-ALIAS', 'front'],
      ['T-CLIP', 'front'],
      ['T-OTHER', '1'],
    ] as const) {
      if (cameraId === 'front') {
        await app.admin('PUT', '/hosted/cameras', { customerId: CUSTOMER, truckId, cameraId, aliases: ['1'] });
      }
      for (const minute of [0, 1, 2, 3, 4]) {
        const query = { customerId: CUSTOMER, truckId, cameraId, startTime: at(minute), endTime: at(minute + 1) };
        expect((await upload(app, minute, query)).status).toBe(201);
      }
    }
    await follow('T-ALIAS', '1');
    await follow('T-OTHER', '1');
    await askForClip('T-CLIP', '1');
  });
  afterAll(() => app.close());

  interface Interval {
    readonly cameraId?: string;
    readonly startTime: string;
    readonly state: string;
    readonly reason?: string;
  }

  const listed = async (query: Record<string, string>) => {
    const { body } = await app.admin<{
      data: { truckId: string; cameraId: string }[];
      pagination: { totalItems: number };
    }>('GET', `/recordings?${new URLSearchParams(query).toString()}`);
    expect(body.data).toHaveLength(body.pagination.totalItems);
    return [...new Set(body.data.map(({ truckId, cameraId }) => `${truckId} ${cameraId}`))]
      .sort()
      .concat(`${body.data.length}`);
  };

  const covered = async (truckId: string, cameraId?: string, [from, to] = [at(-10), at(10)]) => {
    const query = { connectionId, truckId, from: from ?? '', to: to ?? '', ...(cameraId && { cameraId }) };
    const path = `/coverage?${new URLSearchParams(query).toString()}`;
    const { body } = await app.admin<{ data: Interval[] }>('GET', path);
    const without = (reason?: string) => reason?.replace(/; it was last asked at .*Z/, '');
    return body.data.map(({ cameraId: camera, startTime, state, reason }) => [
      camera,
      startTime,
      state,
      without(reason),
    ]);
  };

  const follow = async (truckId: string, cameraId: string) => {
    const subscription = { connectionId, truckId, cameraId, startTime: at(-5) };
    expect((await app.admin('POST', '/video-subscriptions', subscription)).status).toBe(201);
    await eventually(async () => {
      await hurryVideo(app);
      expect((await listed({ connectionId, truckId, status: 'stored' })).at(-1)).toBe('5');
    });
  };

  const clipRange = { startTime: at(1), endTime: at(3) };
  const askForClip = async (truckId: string, cameraId: string) => {
    const order = { connectionId, truckId, cameraId, ...clipRange };
    expect((await app.admin('POST', '/video-requests', order)).status).toBe(202);
    await eventually(async () => {
      await hurryVideo(app);
      expect((await listed({ connectionId, truckId, status: 'stored' })).at(-1)).toBe('1');
    });
  };

  const asStored = (camera: string) => [
    [camera, written(-10), 'missing', 'No subscription includes the truck at this time.'],
    [camera, written(-5), 'missing', 'The partner lists no recording.'],
    ...[0, 1, 2, 3, 4].map((minute) => [camera, written(minute), 'stored', undefined]),
    [camera, written(5), 'missing', 'The partner lists no recording.'],
  ];

  test('a subscription by number is covered and listed by both names', async () => {
    expect(await covered('T-ALIAS', '1')).toEqual(asStored('1'));
    expect(await covered('T-ALIAS', 'front')).toEqual(asStored('front'));
    expect(await covered('T-ALIAS')).toEqual(asStored('front'));
    expect((await covered('T-ALIAS', 'rear')).map(([, , state]) => state)).toEqual(['missing']);
    for (const cameraId of ['1', 'front']) {
      expect(await listed({ connectionId, truckId: 'T-ALIAS', cameraId })).toEqual(['T-ALIAS front', '5']);
      expect(await listed({ connectionId, truckId: 'T-ALIAS', cameraId, status: 'stored' })).toHaveLength(2);
      expect(await listed({ connectionId, truckId: 'T-ALIAS', cameraId, status: 'failed' })).toEqual(['0']);
    }
  });

  test('a clip requested by number is covered and listed by both names', async () => {
    for (const cameraId of ['1', 'front']) {
      const states = await covered('T-CLIP', cameraId, [clipRange.startTime, clipRange.endTime]);
      expect(states.map(([camera, , state]) => [camera, state])).toEqual([[cameraId, 'stored']]);
      expect(await listed({ connectionId, truckId: 'T-CLIP', cameraId })).toEqual(['T-CLIP front', '1']);
    }
  });

  test('without a truck or a connection, each truck has its own names', async () => {
    const all = ['T-ALIAS front', 'T-CLIP front', 'T-OTHER 1', '11'];
    expect(await listed({ connectionId, cameraId: '1' })).toEqual(all);
    expect(await listed({ cameraId: '1' })).toEqual(all);
    expect(await listed({ cameraId: 'front' })).toEqual(['T-ALIAS front', 'T-CLIP front', '6']);
    expect(await listed({ truckId: 'T-OTHER', cameraId: 'front' })).toEqual(['0']);
    expect(await listed({ truckId: 'T-ALIAS', cameraId: '1' })).toEqual(['T-ALIAS front', '5']);
    expect(await listed({ cameraId: '1', source: 'on-demand' })).toEqual(['T-CLIP front', '1']);
  });
});
