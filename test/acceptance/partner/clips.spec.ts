import { beforeAll, describe, expect, test } from '@jest/globals';
import { sampleVideo } from '../../support/sample-video.js';
import { type ErrorBody, paths, type Plain } from '../support/hauler.js';
import { framesOf } from '../field/support/mp4-variants.js';
import { at, HostedCustomer, issueKey, type ListBody, RECORDED, TRUCK, type Video } from '../support/hosted.js';
import { call, listed } from '../support/target.js';

/** A recording has 12 seconds. */
const LENGTH = 0.2;
/** The whole range that is recorded: twice 12 s, a gap of 12 s, and 12 s again. */
const RANGE = { startTime: at(0), endTime: at(4 * LENGTH) };

let customer: HostedCustomer;
/** What became of each request, by its name: they are prepared at the same time. */
const ended = new Map<string, ListBody['data']>();

const ASKED: Readonly<Record<string, Plain>> = {
  'across two recordings': { startTime: at(LENGTH / 2), endTime: at(1.5 * LENGTH) },
  'around a gap': RANGE,
  'in no recording': { startTime: at(20), endTime: at(21) },
  'in a file that is no video': { cameraId: 'broken', startTime: at(0), endTime: at(LENGTH / 2) },
};

beforeAll(async () => {
  customer = await HostedCustomer.create();
  const times = (n: number) => ({ startTime: at(n * LENGTH), endTime: at((n + 1) * LENGTH) });
  for (const n of [0, 1, 3]) expect((await customer.upload(0, times(n), RECORDED)).status).toBe(201);
  await customer.upload(0, { ...times(0), cameraId: 'broken' }, sampleVideo());
  await customer.putCamera('front', ['1']);
  await Promise.all(
    Object.entries(ASKED).map(async ([name, fields]) => {
      const { status, body } = await customer.request(fields);
      expect([status, body.status]).toEqual([202, 'processing']);
      ended.set(name, await customer.ended(body.requestId));
    }),
  );
});

const resultOf = (name: string) => ended.get(name) as ListBody['data'];
const clipOf = (name: string) => resultOf(name).videos[0] as Video;
const bytesOf = async ({ downloadUrl }: Video) => Buffer.from(await (await fetch(downloadUrl)).arrayBuffer());

describe('a request for a clip', () => {
  test('is accepted with 202, an id and the state processing (section 4.4 202; section 2.5a answer success, answer requestId, answer status, answer message; section 3 processing)', async () => {
    const { status, body } = await customer.request({ startTime: at(30), endTime: at(31) });
    expect([status, body]).toEqual([
      202,
      { success: true, requestId: expect.stringMatching(/./), status: 'processing', message: expect.any(String) },
    ]);
  });

  test('ends as ready, and the list has a clip of each recording, trimmed to the range, with all fields (section 4.5 200, requestId; section 2.6 list element of 4.5, success, data; decisions 38, 39, 40)', () => {
    const { request, videos, pagination } = resultOf('across two recordings');
    expect(request).toMatchObject({ status: 'ready' });
    expect(pagination).toEqual({ page: 1, pageSize: 20, totalItems: 2, totalPages: 1 });
    expect(videos).toEqual(
      [
        [LENGTH / 2, LENGTH],
        [LENGTH, 1.5 * LENGTH],
      ].map(([from = 0, to = 0]) => ({
        id: expect.stringMatching(/./),
        requestId: request?.requestId,
        customerId: customer.id,
        truckId: TRUCK,
        cameraId: 'front',
        startTime: at(from),
        endTime: at(to),
        durationSeconds: 6,
        downloadUrl: expect.stringContaining('/media/v1/clips/'),
        expiresAt: expect.stringMatching(/^20\d\d-.*Z$/),
      })),
    );
    expect(new Set(videos.map(({ downloadUrl }) => downloadUrl)).size).toBe(2);
  });

  test('leads to MP4s with the pictures of its range alone, behind signed links (decisions 44, 46)', async () => {
    const recorded = await framesOf(RECORDED);
    const [first = [], second = []] = await Promise.all(
      resultOf('across two recordings').videos.map(async (video) => framesOf(await bytesOf(video))),
    );
    // Of 300 pictures in 12 s those of the last 6, and of the first 6.
    expect(first).toEqual(recorded.slice(150));
    expect(second).toEqual(recorded.slice(0, second.length));
    expect(Math.abs(second.length - 150)).toBeLessThanOrEqual(4);
    const of = new URL(clipOf('across two recordings').downloadUrl);
    of.pathname = of.pathname.replace('clips', 'recordings');
    expect((await fetch(of)).status).toBe(401);
  });

  test('gets what was recorded in part of its range, whole files as they are, and a message that names the gap (decision 44)', async () => {
    const { request, videos } = resultOf('around a gap');
    const gap = { startTime: at(2 * LENGTH), endTime: at(3 * LENGTH) };
    expect(request).toMatchObject({
      status: 'ready',
      message: `Nothing was recorded from ${gap.startTime} to ${gap.endTime}.`,
    });
    expect(videos.map(({ startTime }) => startTime)).toEqual([at(0), at(LENGTH), at(3 * LENGTH)]);
    expect((await bytesOf(clipOf('around a gap'))).equals(RECORDED)).toBe(true);
  });

  test('becomes failed, with a message, where nothing was recorded (section 3 processing; decisions 39, 40, 44)', () => {
    const request = { status: 'failed', message: 'Nothing was recorded in this time.' };
    expect(resultOf('in no recording')).toMatchObject({ videos: [], request });
  });

  test('gets a file that cannot be trimmed as a whole, and a message that says so (decision 44)', () => {
    const { request, videos } = resultOf('in a file that is no video');
    expect(request).toMatchObject({
      status: 'ready',
      message: expect.stringMatching(/listed whole, because it cannot/),
    });
    expect(videos).toMatchObject([{ startTime: at(0), endTime: at(LENGTH) }]);
  });

  test('begins at the key frame before its range, and says so (decision 44)', async () => {
    const own = await HostedCustomer.create();
    await own.upload(0, { startTime: at(0), endTime: at(LENGTH) }, RECORDED);
    const { body } = await own.request({ startTime: '2026-01-31T08:30:05.300Z', endTime: at(1) });
    const { request, videos } = await own.ended(body.requestId);
    expect(videos).toMatchObject([{ startTime: '2026-01-31T08:30:04Z', endTime: at(LENGTH), durationSeconds: 8 }]);
    expect(request?.message).toBe(`Nothing was recorded from ${at(LENGTH)} to ${at(1)}.`);
    expect(await framesOf(await bytesOf(videos[0] as Video))).toEqual((await framesOf(RECORDED)).slice(100));
  });

  test.each([
    ['by its truck', { truckId: TRUCK }, 7],
    ['by its camera', { cameraId: 'front' }, 6],
    ['by the other name of its camera', { cameraId: '1', truckId: TRUCK }, 6],
    ['by a range that has its beginning', { startTime: at(0), endTime: at(LENGTH) }, 4],
    ['by a range that ends where it begins', { startTime: at(-1), endTime: at(0) }, 0],
    ['by a range that begins where it ends', { startTime: at(4 * LENGTH), endTime: at(9) }, 0],
  ])(
    'is in the list of its customer %s (section 4.5 truckId, cameraId, startTime, endTime; decisions 42, 45)',
    async (_, query, count) => {
      await later();
      const { body } = await customer.videos(query);
      expect(body.data.videos).toHaveLength(count);
      const order = body.data.videos.map(({ startTime, id }) => `${startTime} ${id}`);
      expect(order).toEqual([...order].sort());
    },
  );

  test.each<[number, string, Plain]>([
    [2, 'its truck', { truckId: TRUCK }],
    [0, 'another camera', { cameraId: 'broken' }],
    [0, 'a range that begins where it ends', { startTime: at(1.5 * LENGTH) }],
    [0, 'a range that ends where it begins', { endTime: at(LENGTH / 2) }],
    [1, 'a range that has its end', { startTime: at(1.4 * LENGTH) }],
    [0, 'page 2', { page: 2 }],
    [1, 'page 2 of one', { page: 2, pageSize: 1 }],
  ])(
    'has %i clip by its id and %s (section 4.5 requestId, cameraId, page; decisions 42, 43, 44)',
    async (count, _, query) => {
      const { requestId } = clipOf('across two recordings');
      const { body } = await customer.videos({ requestId: requestId?.toUpperCase(), ...query });
      expect(body.data.videos).toHaveLength(count);
    },
  );

  test('is in pages, each clip once (section 4.5 page, pageSize; decision 43)', async () => {
    await later();
    const pages = await Promise.all([1, 2, 3, 4].map((page) => customer.videos({ page, pageSize: 3 })));
    expect(pages.map(({ body }) => body.data.videos.length)).toEqual([3, 3, 1, 0]);
    expect(new Set(pages.flatMap(({ body }) => body.data.videos.map(({ id }) => id))).size).toBe(7);
    expect(pages[3]?.body.data.pagination).toEqual({ page: 4, pageSize: 3, totalItems: 7, totalPages: 3 });
  });

  test('does not exist for another customer, nor by another truck (decisions 1, 17, 44)', async () => {
    const { requestId } = clipOf('across two recordings');
    const other = await HostedCustomer.create();
    await other.record([0]);
    const { body } = await other.videos({ requestId });
    expect([body.data.videos, body.data.request]).toEqual([[], undefined]);
    await customer.upload(9, { truckId: 'TRUCK-9' });
    const byTruck = (await customer.videos({ requestId, truckId: 'TRUCK-9' })).body.data;
    expect([byTruck.videos, byTruck.request]).toEqual([[], undefined]);
  });

  test('is shown to the administrator with its state', async () => {
    const all = await listed<{ id: string; customerId: string; status: string }>('/hosted/video-requests');
    const { requestId } = clipOf('across two recordings');
    expect(all.find(({ id }) => id === requestId)).toMatchObject({ customerId: customer.id, status: 'ready' });
  });

  let third: Promise<unknown> | undefined;
  /** A third clip of the customer, of the first recording. */
  const later = () =>
    (third ??= (async () => {
      const { body } = await customer.request({ startTime: at(0), endTime: at(LENGTH) });
      await customer.ended(body.requestId);
    })());
});

describe('a request that is refused', () => {
  const valid = { customerId: 'c', truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(1) };
  const post = (body: unknown, headers: Record<string, string> = { 'API-KEY': customer.key }) =>
    call<ErrorBody>('POST', '/video-platform/v1/videos/requests', { headers, body });

  test.each<[string, unknown, string[]]>([
    ['no field', {}, ['cameraId', 'customerId', 'endTime', 'startTime', 'truckId']],
    ['null and numbers', { ...valid, customerId: 7, truckId: null }, ['customerId', 'truckId']],
    ['an empty text', { ...valid, cameraId: '' }, ['cameraId']],
    ['a text of 256 characters', { ...valid, truckId: 'x'.repeat(256) }, ['truckId']],
    ['a day instead of a time', { ...valid, startTime: '2026-01-31' }, ['startTime']],
    ['a time without an offset', { ...valid, endTime: '2026-01-31T08:40:00' }, ['endTime']],
    ['the end before the start', { ...valid, startTime: at(2) }, ['endTime']],
    ['the end at the start', { ...valid, endTime: at(0) }, ['endTime']],
    ['a microsecond more than an hour', { ...valid, endTime: '2026-01-31T09:30:00.000001Z' }, ['endTime']],
  ])(
    'with %s: 400 (section 4.4 400; section 2.5a customerId, truckId, cameraId, startTime, endTime; section 7 400 Vision, codes of Vision; decision 42)',
    async (_, body, expected) => {
      const own = body !== null && typeof body === 'object' && 'customerId' in body && body.customerId === 'c';
      const reply = await post(own ? { ...body, customerId: customer.id } : body);
      expect([reply.status, reply.body.success, reply.body.error.code]).toEqual([400, false, 'INVALID_PAYLOAD']);
      expect(paths(reply).sort()).toEqual(expected);
    },
  );

  test('is not one of exactly an hour (decision 42)', async () => {
    expect((await customer.request({ startTime: at(20), endTime: at(80) })).status).toBe(202);
  });

  test.each([
    ['malformed JSON', '{', 'application/json', 400],
    ['another media type', '{}', 'text/plain', 415],
  ])('with %s is answered in the common error body (section 4.4 400; decision 10)', async (_, body, type, status) => {
    const reply = await post(body, { 'API-KEY': customer.key, 'Content-Type': type });
    expect([reply.status, reply.body.error.code]).toEqual([status, 'INVALID_PAYLOAD']);
  });

  test.each([
    ['customerId', 'nobody'],
    ['truckId', 'TRUCK-8'],
    ['cameraId', 'left'],
  ])('for an unknown %s: 404 (section 4.4 404; section 7 404 Vision; decision 44)', async (name, value) => {
    const key = await issueKey({ interfaces: ['vision'], allCustomers: true });
    const { status, body } = await customer.request({ [name]: value }, { key });
    expect([status, body.success, body.error.code]).toEqual([404, false, 'NOT_FOUND']);
  });

  test('by a key that is limited to another customer: 404 (decision 17)', async () => {
    const { key } = await HostedCustomer.create();
    expect((await customer.request({}, { key })).status).toBe(404);
  });

  test('without a key, or with a wrong one: 401, whatever its body is (section 4.4 401; section 5 Vision; section 7 401 all; decision 3)', async () => {
    const replies = await Promise.all([post({}, {}), post('{', { 'API-KEY': 'wrong' })]);
    for (const { status, body } of replies) expect([status, body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  });

  test('by an unexpected error: 500 in the common error body (section 4.4 500; section 7 500 all; decision 13)', async () => {
    const { status, body, headers } = await customer.request({}, { headers: { 'Sandbox-Scenario': 'server-error' } });
    expect([status, body.success, body.error.code]).toEqual([500, false, 'INTERNAL_ERROR']);
    expect(body.error.details).toEqual({ requestId: headers.get('X-Request-Id') });
  });

  test('names the fields that it ignores in a header (decisions 4, 51)', async () => {
    const { status, headers } = await customer.request({ startTime: at(40), endTime: at(41), cameraid: 'x' });
    expect([status, headers.get('Ignored-Fields')]).toEqual([202, expect.stringContaining('cameraId')]);
  });
});

test('the other name of a camera is that of one truck alone (decision 45)', async () => {
  const trucks = await HostedCustomer.create();
  const times = { startTime: at(0), endTime: at(LENGTH) };
  const names = { A: { front: '1', rear: '2' }, B: { rear: '1', front: '2' } };
  for (const [truckId, cameras] of Object.entries(names)) {
    for (const [cameraId, alias] of Object.entries(cameras)) {
      await trucks.upload(0, { truckId, cameraId, ...times }, RECORDED);
      await trucks.putCamera(cameraId, [alias], truckId);
    }
    const { body } = await trucks.continuous({ truckId, cameraId: '2' });
    expect(body.data.recordings.map(({ cameraId }) => cameraId)).toEqual([truckId === 'A' ? 'rear' : 'front']);
  }
  const requests = await Promise.all(['A', 'B'].map((truckId) => trucks.request({ truckId, cameraId: '1', ...times })));
  for (const { body } of requests) await trucks.ended(body.requestId);
  const shown = async (query: Plain) =>
    (await trucks.videos(query)).body.data.videos.map(({ truckId, cameraId }) => `${truckId} ${cameraId}`).sort();
  expect(await shown({ cameraId: '1' })).toEqual(['A front', 'B rear']);
  expect(await shown({ cameraId: '1', truckId: 'B' })).toEqual(['B rear']);
  expect(await shown({ cameraId: 'front' })).toEqual(['A front']);
});
