import { beforeAll, describe, expect, test } from '@jest/globals';
import { callClient } from '../support/clients.js';
import { type ErrorBody, paths, type Plain } from '../support/hauler.js';
import { at, HostedCustomer, issueKey, TRUCK, type Video } from '../support/hosted.js';
import { call } from '../support/target.js';

const PATHS = { listVideos: '/video-platform/v1/videos', listContinuous: '/video-platform/v1/videos/continuous' };

let customer: HostedCustomer;
/** Five minutes of the front camera, and two of the rear one. */
beforeAll(async () => {
  customer = await HostedCustomer.create();
  await customer.record([0, 1, 2, 3, 4]);
  await customer.record([0, 1], { cameraId: 'rear' });
  await customer.putCamera('front', ['1']);
});

const list = (operation: keyof typeof PATHS, query: Plain = {}) =>
  operation === 'listVideos' ? customer.videos(query) : customer.continuous(query);
/** The query as it is, for what the client would not send. */
const listRaw = (operation: keyof typeof PATHS, query: string, key = customer.key) =>
  call<ErrorBody>('GET', `${PATHS[operation]}?${query}`, { headers: { 'API-KEY': key } });
const starts = (recordings: readonly Video[]) =>
  recordings.map(({ cameraId, startTime }) => `${cameraId} ${startTime.slice(14, 19)}`);

describe('the list of continuous recordings', () => {
  test('has chunks with all fields, and the pages (section 4.6 200; section 2.6 success, data, data.recordings, recording id, recording customerId, recording truckId, recording cameraId, recording startTime, recording endTime, recording durationSeconds, recording downloadUrl, recording expiresAt, pagination page, pagination pageSize, pagination totalItems, pagination totalPages)', async () => {
    const { status, headers, body } = await customer.continuous({ cameraId: 'front', pageSize: 2 });
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/^application\/json\b/)]);
    const [first] = body.data.recordings;
    expect(body).toEqual({
      success: true,
      data: {
        recordings: [expect.anything(), expect.anything()],
        pagination: { page: 1, pageSize: 2, totalItems: 5, totalPages: 3 },
      },
    });
    expect(first).toEqual({
      id: expect.stringMatching(/./),
      customerId: customer.id,
      truckId: TRUCK,
      cameraId: 'front',
      startTime: '2026-01-31T08:30:00Z',
      endTime: '2026-01-31T08:31:00Z',
      durationSeconds: 60,
      downloadUrl: expect.stringContaining(`${customer.service.url}/media/v1/recordings/`),
      expiresAt: expect.stringMatching(/^20\d\d-.*Z$/),
    });
  });

  test.each<[string, Plain, string[]]>([
    ['without a camera: those of all cameras', { endTime: at(1) }, ['front 30:00', 'rear 30:00']],
    ['of one camera', { cameraId: 'rear' }, ['rear 30:00', 'rear 31:00']],
    ['by the other name of a camera', { cameraId: '1', endTime: at(1) }, ['front 30:00']],
    ['inside one chunk', { cameraId: 'front', startTime: at(1.25), endTime: at(1.75) }, ['front 31:00']],
    ['across two chunks', { cameraId: 'front', startTime: at(1.5), endTime: at(2.5) }, ['front 31:00', 'front 32:00']],
    ['from one start to the next', { cameraId: 'front', startTime: at(2), endTime: at(3) }, ['front 32:00']],
    ['up to the first start', { cameraId: 'front', startTime: at(-10), endTime: at(0) }, []],
    ['from the last end on', { cameraId: 'front', startTime: at(5) }, []],
  ])(
    'has what overlaps the range, the end excluded: %s (section 4.6 truckId, cameraId, startTime, endTime; decisions 42, 44, 45)',
    async (_, query, expected) => {
      const { status, body } = await customer.continuous(query);
      expect([status, starts(body.data.recordings).sort()]).toEqual([200, expected]);
    },
  );

  test('is in the order of time, then of ids (decision 42)', async () => {
    const { recordings } = (await customer.continuous()).body.data;
    const order = recordings.map(({ startTime, id }) => `${startTime} ${id}`);
    expect(order).toEqual([...order].sort());
  });

  test('has each recording once over its pages, and none past the end (section 4.6 page, pageSize; decision 43)', async () => {
    const pages = await Promise.all(
      [1, 2, 3, 4, 5, 1_000_000_001].map((page) => customer.continuous({ page, pageSize: 2 })),
    );
    expect(pages.map(({ status }) => status)).toEqual(pages.map(() => 200));
    expect(pages.map(({ body }) => body.data.recordings.length)).toEqual([2, 2, 2, 1, 0, 0]);
    const ids = pages.flatMap(({ body }) => body.data.recordings.map(({ id }) => id));
    expect(new Set(ids).size).toBe(7);
    expect(pages[2]?.body.data.pagination).toEqual({ page: 3, pageSize: 2, totalItems: 7, totalPages: 4 });
  });

  test('names all wrong parameters in the message, because its error has no details (section 2.1 error.details; decision 11)', async () => {
    const query = { startTime: 'x', endTime: 'y', page: '0', pageSize: '101', cameraId: '' };
    const { status, body } = await listRaw('listContinuous', new URLSearchParams(query).toString());
    expect([status, body.success, body.error.code]).toEqual([400, false, 'INVALID_PAYLOAD']);
    expect(body.error).not.toHaveProperty('details');
    const named = body.error.message.split('; ').map((sentence) => sentence.split(' ')[0]);
    expect(named.sort()).toEqual(['cameraId', 'customerId', 'endTime', 'page', 'pageSize', 'startTime', 'truckId']);
  });
});

describe('the list of clips', () => {
  test('has clips alone, which were requested, and none before (section 4.5 200; decision 44)', async () => {
    const { status, body } = await customer.videos();
    expect([status, body]).toEqual([
      200,
      { success: true, data: { videos: [], pagination: { page: 1, pageSize: 20, totalItems: 0, totalPages: 0 } } },
    ]);
  });

  test.each(['x', '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d'])(
    'is empty, without a state, for the unknown request %s (section 4.5 requestId; decision 44)',
    async (requestId) => {
      const { status, body } = await customer.videos({ requestId });
      expect([status, body.data.videos]).toEqual([200, []]);
      expect(body.data).not.toHaveProperty('request');
    },
  );

  test('names all wrong parameters in the details (section 4.5 400; decision 11)', async () => {
    const reply = await callClient<ErrorBody>('listVideos', {
      key: customer.key,
      given: { page: 0, pageSize: 101, startTime: 'x' },
    });
    expect([reply.status, reply.body.error.code]).toEqual([400, 'INVALID_PAYLOAD']);
    expect(paths(reply).sort()).toEqual(['customerId', 'page', 'pageSize', 'startTime']);
  });
});

describe.each([
  ['listVideos', 'section 4.5'],
  ['listContinuous', 'section 4.6'],
] as const)('%s', (operation, section) => {
  test(`has 20 elements a page from page 1 on unless asked, and 100 at most (${section} page, pageSize; section 8 pageSize default, pageSize maximum, page default)`, async () => {
    const { body } = await list(operation);
    expect(body.data.pagination).toMatchObject({ page: 1, pageSize: 20 });
    expect((await list(operation, { pageSize: 100 })).body.data.pagination.pageSize).toBe(100);
    expect((await list(operation, { pageSize: 101 })).status).toBe(400);
  });

  test.each([
    ['page', '0'],
    ['page', '-1'],
    ['page', 'x'],
    ['page', '1.5'],
    ['pageSize', '0'],
    ['pageSize', '101'],
    ['pageSize', ''],
    ['customerId', ''],
    ['truckId', ''],
    ['cameraId', ''],
    ['startTime', '2026-01-31'],
    ['startTime', '2026-02-30T08:00:00Z'],
    ['endTime', 'soon'],
  ])(
    `answers 400 to %s=%s (${section} 400; section 7 400 Vision, codes of Vision; decisions 7, 43)`,
    async (name, value) => {
      const range = { customerId: customer.id, truckId: TRUCK, startTime: at(0), endTime: at(10) };
      const { status, body } = await listRaw(operation, new URLSearchParams({ ...range, [name]: value }).toString());
      expect([status, body.success, body.error.code]).toEqual([400, false, 'INVALID_PAYLOAD']);
      expect(body.error.message).toContain(name);
    },
  );

  test.each([
    ['the end before the start', at(2), at(1)],
    ['the end at the start', at(1), at(1)],
  ])(`answers 400 to %s (${section} 400, startTime, endTime; decision 42)`, async (_, startTime, endTime) => {
    const { status, body } = await list(operation, { startTime, endTime });
    expect([status, body.error.code]).toEqual([400, 'INVALID_PAYLOAD']);
  });

  test.each(['customerId', ...(operation === 'listVideos' ? [] : ['truckId', 'startTime', 'endTime'])])(
    `needs %s (${section} 400; section 7 400 Vision)`,
    async (name) => {
      const query = new URLSearchParams({ customerId: customer.id, truckId: TRUCK, startTime: at(0), endTime: at(10) });
      query.delete(name);
      const { status, body } = await listRaw(operation, query.toString());
      expect([status, body.error.message]).toEqual([400, expect.stringContaining(`${name} is required`)]);
    },
  );

  test.each([
    ['customerId', 'nobody'],
    ['truckId', 'TRUCK-8'],
    ['cameraId', 'left'],
  ])(
    `answers 404 to an unknown %s (${section} 404, customerId; section 7 404 Vision; decision 44)`,
    async (name, value) => {
      const key = await issueKey({ interfaces: ['vision'], allCustomers: true });
      const range = { customerId: customer.id, truckId: TRUCK, startTime: at(0), endTime: at(1) };
      const query = { ...range, [name]: value };
      const { status, body } = await callClient<ErrorBody>(operation, { key, given: query });
      expect([status, body.success, body.error.code]).toEqual([404, false, 'NOT_FOUND']);
      expect(body.error.message).toContain(name);
    },
  );

  test(`answers 401 without a key, and to a key of another interface (${section} 401; section 5 Vision, rule 2; decision 2)`, async () => {
    const site = await issueKey({ interfaces: ['site'] });
    const query = { customerId: customer.id, truckId: TRUCK, startTime: at(0), endTime: at(1) };
    const replies = await Promise.all([
      callClient<ErrorBody>(operation, { given: query }),
      ...['wrong', site].map((key) => callClient<ErrorBody>(operation, { key, given: query })),
    ]);
    for (const { status, body } of replies) expect([status, body.error.code]).toEqual([401, 'UNAUTHORIZED']);
  });

  test(`takes no key of the platform's header, and none in the address (section 5 Vision; decision 46)`, async () => {
    const query = new URLSearchParams({ customerId: customer.id, truckId: TRUCK, 'API-KEY': customer.key }).toString();
    const headers = { 'PLATFORM-API-KEY': customer.key };
    expect((await call('GET', `${PATHS[operation]}?${query}`, { headers })).status).toBe(401);
  });

  test(`answers 404 to a key that is limited to another customer (decision 17)`, async () => {
    const { key } = await HostedCustomer.create();
    const query = { customerId: customer.id, truckId: TRUCK, startTime: at(0), endTime: at(1) };
    const { status, body } = await callClient<ErrorBody>(operation, { key, given: query });
    expect([status, body.error.code]).toEqual([404, 'NOT_FOUND']);
  });

  test(`answers 500 in the common error body to an unexpected error (${section} 500; section 7 500 all, codes of Vision)`, async () => {
    const headers = { 'Sandbox-Scenario': 'server-error' };
    const query = { customerId: customer.id, truckId: TRUCK, startTime: at(0), endTime: at(1) };
    const reply = await callClient<ErrorBody>(operation, { key: customer.key, given: query, options: { headers } });
    expect([reply.status, reply.body.success, reply.body.error.code]).toEqual([500, false, 'INTERNAL_ERROR']);
  });

  test.each(['customerId', 'startTime', 'page'])(
    `answers 400 to %s twice, and ignores unknown parameters (decision 4)`,
    async (name) => {
      const query = new URLSearchParams({
        customerId: customer.id,
        truckId: TRUCK,
        startTime: at(0),
        endTime: at(1),
        page: '1',
      });
      expect((await listRaw(operation, `${query.toString()}&note=%00&%ff=1`)).status).toBe(200);
      query.append(name, query.get(name) ?? '');
      const { status, body } = await listRaw(operation, query.toString());
      expect([status, body.error.message]).toEqual([400, `${name} must be sent once`]);
    },
  );

  test.each(['%ff', '%E2%82', 'a%ED%A0%80', '%00'])(
    'answers 400 to the customer %s, which is no text (decision 8)',
    async (value) => {
      const query = `customerId=${value}&truckId=x&startTime=${at(0)}&endTime=${at(1)}`;
      const { status, body } = await listRaw(operation, query);
      expect([status, body.error.message]).toEqual([400, expect.stringContaining('customerId must be valid Unicode')]);
    },
  );
});

test('the major version is in the path, and the document has the version (section 9 Vision; decision 19)', async () => {
  const { body } = await call<{ info: { version: string }; paths: object }>('GET', '/docs/vision.json');
  expect(body.info.version).toBe('1.11.0');
  const own = Object.keys(body.paths).filter((path) => path.startsWith('/video-platform/v1/'));
  expect(own.sort()).toEqual([...Object.values(PATHS), '/video-platform/v1/videos/requests'].sort());
  const later = await call('GET', '/video-platform/v2/videos', { headers: { 'API-KEY': customer.key } });
  expect(later.status).toBe(404);
});
