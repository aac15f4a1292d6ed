import { describe, expect, test } from '@jest/globals';
import { Recording, Video } from '../../src/contracts/vision/vision.dto.js';
import { readAcknowledgement } from '../../src/vision/client/read-acknowledgement.rules.js';
import { type ListedPage, NotAListError, readList } from '../../src/vision/client/read-list.rules.js';
import { PartnerFailure } from '../../src/partner-client/partner-failure.js';
import { readAllPages, UnstableListError } from '../../src/vision/client/read-pages.js';
import { element } from '../support/vision-partner.js';

const link = { downloadUrl: 'https://files.example.com/a.mp4?sig=1' };
const body = (data: unknown, more: object = {}) => ({ success: true, data, ...more });
const read = (data: unknown, more: object = {}) => readList(Video, body(data, more), 'customer-1');

describe('a list (decision 38)', () => {
  test.each(['videos', 'items', 'recordings'])('under data.%s', (name) => {
    expect(read({ [name]: [element(link)] }).items).toHaveLength(1);
  });

  test('as data itself, or none at all', () => {
    expect(read([element(link)]).items).toHaveLength(1);
    expect(read({}).items).toEqual([]);
    expect(read({ videos: null }).items).toEqual([]);
    expect(read([7]).findings).toEqual([expect.objectContaining({ path: 'data[0]' })]);
  });

  test('of several the one that the contract names', () => {
    expect(read({ recordings: [], items: [], videos: [element(link)] }).items).toHaveLength(1);
  });

  const pagination = { page: 2, pageSize: 50, totalItems: 60, totalPages: 2 };
  test.each<[string, unknown, object]>([
    ['inside data', { videos: [], pagination }, {}],
    ['beside data', { videos: [] }, { pagination }],
    ['as fields of data', { videos: [], ...pagination }, {}],
    ['as fields of the body', { videos: [] }, pagination],
  ])('pagination %s', (_, data, more) => expect(read(data, more).pagination).toEqual(pagination));

  test('pagination inside data counts rather than beside it, and nothing is a number too', () => {
    const none = { page: 1, pageSize: 50, totalItems: 0, totalPages: 0 };
    expect(read({ videos: [], pagination: none }, { pagination }).pagination).toEqual(none);
  });

  test('what is no count is no pagination', () => {
    const odd = { page: '1', pageSize: -1, totalItems: 1.5, totalPages: null };
    expect(read({ videos: [], pagination: odd }).pagination).toEqual({});
  });

  test.each<[string, unknown]>([
    ['no object', []],
    ['null', null],
    ['no data', { success: true }],
    ['a list that is none', body({ videos: {} })],
    ['success false', { success: false, data: { videos: [] } }],
    ['more elements than any answer has room for', body({ videos: Array.from({ length: 30_001 }, () => 0) })],
  ])('%s is no list', (_, given) => expect(() => readList(Video, given, 'c')).toThrow(NotAListError));

  test('what an element is recognised by on another page is short, however long the element is', () => {
    const long = element({ ...link, id: 'x'.repeat(100_000) });
    const { fingerprints } = read({ videos: [long, { ...long, downloadUrl: 'https://other' }, element(link), 7] });
    expect(fingerprints.map(({ length }) => length)).toEqual([44, 44, 44, 44]);
    expect(new Set(fingerprints).size).toBe(3);
  });

  test('an element is another one by its id, truck, camera and times, and its range by all of them but the id', () => {
    const one = element({ ...link, endTime: '2026-01-31T08:35:00Z' });
    const others = [
      { truckId: 'T8' },
      { cameraId: 'rear' },
      { startTime: '2026-01-31T08:31:00Z' },
      { endTime: '2026-01-31T08:36:00Z' },
    ];
    const { fingerprints, ranges } = read({
      videos: [one, ...others.map((other) => ({ ...one, ...other })), { ...one, id: 'x' }],
    });
    expect(new Set(fingerprints).size).toBe(6);
    expect(new Set(ranges).size).toBe(5);
    expect(ranges.at(-1)).toBe(ranges[0]);
  });

  test('absent durations are computed, names as numbers are read, unknown fields are dropped', () => {
    const names = { cameraId: 1, id: 17, truckId: 7, customerId: undefined };
    const odd = element({ ...link, durationSeconds: '300', ...names, extra: {} });
    expect(read({ videos: [odd] }).items[0]).toEqual({
      id: '17',
      customerId: 'customer-1',
      truckId: '7',
      cameraId: '1',
      startTime: '2026-01-31T08:30:00.000000Z',
      endTime: '2026-01-31T08:35:00.000000Z',
      durationSeconds: 300,
      downloadUrl: link.downloadUrl,
      expiresAt: expect.any(String),
    });
  });

  test.each<[unknown, string]>([
    ['CUSTOMER-1', 'CUSTOMER-1'],
    [12, '12'],
    [null, 'customer-1'],
  ])('a customer of %j is read as %j', (customerId, expected) => {
    expect(read({ videos: [element({ ...link, customerId })] }).items[0]?.customerId).toBe(expected);
  });

  test.each([0, 1, 299, 31_536_000])('a duration of %i is the partner’s to say', (durationSeconds) => {
    expect(read({ videos: [element({ ...link, durationSeconds })] }).items[0]?.durationSeconds).toBe(durationSeconds);
  });

  test('an expiry of null is none', () => {
    const { items, findings } = read({ videos: [element({ ...link, expiresAt: null })] });
    expect(items[0]).not.toHaveProperty('expiresAt');
    expect(findings).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ['a missing link', element(), 'data.videos[1].downloadUrl'],
    ['a missing id', element({ ...link, id: undefined }), 'data.videos[1].id'],
    ['no date', element({ ...link, startTime: 'yesterday' }), 'data.videos[1].startTime'],
    ['an end before its start', element({ ...link, endTime: '2026-01-31T08:00:00Z' }), 'data.videos[1].endTime'],
    ['an end at its start', element({ ...link, endTime: '2026-01-31T08:30:00Z' }), 'data.videos[1].endTime'],
    ['no object', 7, 'data.videos[1]'],
    ['null', null, 'data.videos[1]'],
  ])('%s: that element is passed over and told, the others land', (_, bad, path) => {
    const { items, findings, received } = read({ videos: [element(link), bad, element(link)] });
    expect(items).toHaveLength(2);
    expect(received).toBe(3);
    expect(findings).toEqual([{ path, reason: expect.stringContaining(path), raw: bad }]);
  });

  test.each(['soon', '2026-11-22T14:19:00.000', '2026-11-22', 'Sun, 22 Nov 2026 14:19:00 GMT', 1_795_357_140])(
    'an expiry of %j, which is no date-time, is taken as absent, and told',
    (expiresAt) => {
      const { items, findings } = read({ videos: [element({ ...link, expiresAt })] });
      expect(items).toHaveLength(1);
      expect(items[0]).not.toHaveProperty('expiresAt');
      const path = 'data.videos[0].expiresAt';
      const reason = `${path} must be a date-time; it is treated as absent`;
      expect(findings).toEqual([{ path, reason, raw: expect.objectContaining({ expiresAt }) }]);
    },
  );

  test.each([-1, 0.5, 31_536_001, 1e12, Number.MAX_VALUE, '300', null])(
    'a duration of %j, which is none, is computed',
    (durationSeconds) => {
      const { items, findings } = read({ videos: [element({ ...link, durationSeconds })] });
      expect(items[0]).toMatchObject({ durationSeconds: 300 });
      expect(findings).toEqual([]);
    },
  );

  test('a duration up to a leap second is computed', () => {
    const range = { startTime: '2016-12-31T23:59:30Z', endTime: '2016-12-31T23:59:60Z' };
    const { items, findings } = read({ videos: [element({ ...link, ...range, durationSeconds: undefined })] });
    expect(items[0]).toMatchObject({ durationSeconds: 30 });
    expect(findings).toEqual([]);
  });

  test('a duration of years is computed as the longest that there is', () => {
    const range = { startTime: '2016-01-01T00:00:00Z', endTime: '2026-01-01T00:00:00Z' };
    const { items } = read({ videos: [element({ ...link, ...range, durationSeconds: undefined })] });
    expect(items[0]).toMatchObject({ durationSeconds: 31_536_000 });
  });

  test('what PostgreSQL cannot hold is taken out of the message of data.request', () => {
    const request = { requestId: 'r', status: 'ready', message: 'part\0ly \ud800' };
    expect(read({ request }).request).toEqual({ requestId: 'r', status: 'ready', message: 'partly \ufffd' });
  });

  test.each(['12345678901234567891', '9007199254740992', '-9007199254740992', '1.5', '1e300'])(
    'the number %s as id of a request, which may have been another one, is taken as absent, and told',
    (requestId) => {
      const request = { ...element(link), requestId: JSON.parse(requestId) as number, status: 'ready' };
      const { items, request: state, findings } = read({ videos: [request], request });
      expect(items).toHaveLength(1);
      expect(items[0]).not.toHaveProperty('requestId');
      expect(state).toBeUndefined();
      expect(findings).toEqual(
        ['data.videos[0].requestId', 'data.request.requestId'].map((path) => ({
          path,
          reason: `${path} must be a string, or an integer of at most 2^53 - 1; it is treated as absent`,
          raw: request,
        })),
      );
    },
  );

  describe.each(['12345678901234567891', '9007199254740993', '-9007199254740993'])('the number %s', (digits) => {
    const huge = JSON.parse(digits) as number;

    test.each(['truckId', 'cameraId'])('as %s, which may have been another one: passed over, and told', (name) => {
      const { items, findings } = read({ videos: [element({ ...link, [name]: huge }), element(link)] });
      expect(items).toHaveLength(1);
      expect(findings).toMatchObject([{ path: `data.videos[0].${name}`, reason: expect.stringContaining('must be') }]);
    });

    test('as id of two elements: told, and they are known by what they show', () => {
      const [first, later] = ['08:31', '08:32'].map((minute) =>
        element({ ...link, id: huge, startTime: `2026-01-31T${minute}:00Z` }),
      );
      const { items, findings } = read({ videos: [first, later, first] });
      const ids = items.map(({ id }) => id);
      expect(ids[0]).toBe(ids[2]);
      expect(new Set(ids).size).toBe(2);
      expect(findings.map(({ path }) => path)).toEqual([0, 1, 2].map((i) => `data.videos[${i}].id`));
    });

    test('as customer: told, and it is the one who was asked for', () => {
      const { items, findings } = read({ videos: [element({ ...link, customerId: huge })] });
      expect(items[0]?.customerId).toBe('customer-1');
      expect(findings).toMatchObject([{ path: 'data.videos[0].customerId' }]);
    });
  });

  test.each([4711, Number.MAX_SAFE_INTEGER])('the number %i as id of a request is read', (requestId) => {
    const request = { requestId, status: 'ready' };
    const { items, request: state, findings } = read({ videos: [element({ ...link, requestId })], request });
    expect([items[0]?.requestId, state?.requestId]).toEqual([`${requestId}`, `${requestId}`]);
    expect(findings).toEqual([]);
  });

  test('data.request is read; an unknown status is processing', () => {
    expect(read({ request: { requestId: 'r', status: 'failed', message: 'm' } }).request).toEqual({
      requestId: 'r',
      status: 'failed',
      message: 'm',
    });
    const odd = read({ request: { requestId: 'r', status: 'queued' } });
    expect(odd.request).toEqual({ requestId: 'r', status: 'processing', isStatusUnknown: true });
    const reason = 'data.request.status must be one of processing, ready, failed; it is treated as processing';
    expect(odd.findings).toEqual([{ path: 'data.request.status', reason, raw: 'queued' }]);
  });

  test('of a message a thousand characters are kept', () => {
    const [long, kept] = ['m'.repeat(1_001), 'm'.repeat(1_000)];
    expect(read({ request: { requestId: 'r', status: 'failed', message: long } }).request?.message).toBe(kept);
    expect(readAcknowledgement({ requestId: 'r', status: 'failed', message: long }).message).toBe(kept);
  });
});

describe('a 202', () => {
  test.each<[string, unknown, object]>([
    [
      'as the contract says',
      { success: true, requestId: 'r', status: 'processing' },
      { requestId: 'r', status: 'processing' },
    ],
    ['ready', { success: true, requestId: 'r', status: 'ready' }, { status: 'ready' }],
    [
      'failed, with a message',
      { success: true, requestId: 'r', status: 'failed', message: 'm' },
      { status: 'failed', message: 'm' },
    ],
    ['not accepted', { success: false, requestId: 'r', status: 'processing' }, { status: 'failed' }],
    [
      'not accepted, in the common error body',
      { success: false, error: { code: 'INTERNAL_ERROR', message: 'no room' } },
      { status: 'failed', message: 'INTERNAL_ERROR: no room', findings: [] },
    ],
    [
      'not accepted, with a code that is none',
      { success: false, error: { code: 7, message: 'no room' } },
      { status: 'failed', message: 'no room' },
    ],
    ['an unknown status', { requestId: 'r', status: 'QUEUED' }, { status: 'processing' }],
    ['a number as id', { requestId: 4711, status: 'processing' }, { requestId: '4711' }],
    [
      'wrapped in data',
      { success: true, data: { requestId: 'r', status: 'ready' } },
      { requestId: 'r', status: 'ready' },
    ],
    [
      'not wrapped, though there is data',
      { success: true, requestId: 'r', status: 'ready', data: { requestId: 'x' } },
      { requestId: 'r', status: 'ready', findings: [] },
    ],
    ['no id', { success: true }, { status: 'processing' }],
    [
      'nothing',
      undefined,
      { status: 'processing', findings: [{ path: '', reason: 'the body of the 202 must be an object' }] },
    ],
    ['a text', 'taken', { findings: [{ path: '', raw: 'taken' }] }],
  ])('%s', (_, given, expected) => expect(readAcknowledgement(given)).toMatchObject(expected));

  test('an id is kept as long as it came, or is none, and told', () => {
    const of = (length: number) => readAcknowledgement({ requestId: 'r'.repeat(length), status: 'processing' });
    expect(of(4_000)).toMatchObject({ requestId: 'r'.repeat(4_000), findings: [] });
    for (const length of [0, 4_001]) {
      const reason = expect.stringContaining('at most 4000 characters');
      const raw = { requestId: 'r'.repeat(length), status: 'processing' };
      expect(of(length)).toMatchObject({ findings: [{ path: 'requestId', reason, raw }] });
      expect(of(length)).not.toHaveProperty('requestId');
    }
  });

  test.each(['12345678901234567891', '9007199254740992', '1.5'])(
    'the number %s, which may have been another one, is no id, and told',
    (requestId) => {
      const given = readAcknowledgement({ requestId: JSON.parse(requestId) as number, status: 'processing' });
      expect(given).toMatchObject({ status: 'processing', findings: [{ path: 'requestId' }] });
      expect(given).not.toHaveProperty('requestId');
    },
  );

  test('what PostgreSQL cannot hold is taken out of the message, and an id with it is none', () => {
    const read = readAcknowledgement({ requestId: 'a\0b', status: 'failed', message: 'bro\0ken' });
    expect(read).toMatchObject({ status: 'failed', message: 'broken', findings: [{ path: 'requestId' }] });
    expect(read).not.toHaveProperty('requestId');
  });
});

describe('every page of a list', () => {
  const chunk = (n: number) =>
    element({
      ...link,
      id: `c${n}`,
      startTime: new Date(n * 1000).toISOString(),
      endTime: new Date(n * 1000 + 500).toISOString(),
    });
  const all = (count: number) => Array.from({ length: count }, (_, i) => chunk(i));

  /** Serves pages of `size` of what `list` has at that moment; `totals` may be wrong. */
  const pages = (
    list: (call: number) => object[],
    size: number,
    totals: (list: object[]) => object = (items) => ({
      totalItems: items.length,
      totalPages: Math.ceil(items.length / size),
      pageSize: size,
    }),
  ) => {
    let calls = 0;
    return {
      calls: () => calls,
      fetch: async (page: number): Promise<ListedPage<Recording>> => {
        const items = list(++calls);
        return readList(
          Recording,
          body({ recordings: items.slice((page - 1) * size, page * size), pagination: totals(items) }),
          'c',
        );
      },
    };
  };
  const collect = async (fetch: (page: number) => Promise<ListedPage<Recording>>): Promise<Set<string>> => {
    const ids = new Set<string>();
    await readAllPages(fetch, async ({ items }) => items.forEach(({ id }) => ids.add(id)));
    return ids;
  };

  test.each([0, 1, 20, 40, 45])('%i chunks with true totals, each page once', async (count) => {
    const { fetch, calls } = pages(() => all(count), 20);
    expect((await collect(fetch)).size).toBe(count);
    expect(calls()).toBe(Math.max(1, Math.ceil(count / 20)));
  });

  test.each<[string, number, number, (items: object[]) => object]>([
    ['the numbers of elements alone', 45, 3, (items) => ({ totalItems: items.length, pageSize: 20 })],
    ['totals that are too low, until a page is empty', 40, 3, () => ({ totalItems: 5, totalPages: 1, pageSize: 20 })],
    ['a number of pages alone', 40, 4, () => ({ totalPages: 2, pageSize: 20 })],
  ])('with %s', async (_, count, asked, totals) => {
    const { fetch, calls } = pages(() => all(count), 20, totals);
    expect((await collect(fetch)).size).toBe(count);
    expect(calls()).toBe(asked);
  });

  test.each([
    [45, 8],
    [5, 4],
    [0, 1],
  ])(
    '%i chunks without totals, until a page is empty; two readings agree, unless that is the first page',
    async (count, asked) => {
      const { fetch, calls } = pages(
        () => all(count),
        20,
        () => ({}),
      );
      expect((await collect(fetch)).size).toBe(count);
      expect(calls()).toBe(asked);
    },
  );

  test('with totals that are too low', async () => {
    const { fetch } = pages(
      () => all(45),
      20,
      () => ({ totalItems: 5, totalPages: 1, pageSize: 20 }),
    );
    expect((await collect(fetch)).size).toBe(45);
  });

  test('with totals that are too high: two readings that agree are believed', async () => {
    const { fetch, calls } = pages(
      () => all(45),
      20,
      () => ({ totalItems: 500, totalPages: 25, pageSize: 20 }),
    );
    expect((await collect(fetch)).size).toBe(45);
    expect(calls()).toBe(8);
  });

  test.each([
    ['with totals', undefined],
    ['without totals', () => ({})],
    ['with a number of pages alone', (items: object[]) => ({ totalPages: Math.ceil(items.length / 20) })],
  ])('%s, though chunks vanish from the front while it is read', async (_, totals) => {
    // After the first page twenty chunks are gone, and what was on the second page is on the first.
    const { fetch } = pages((call) => (call === 1 ? all(60) : all(60).slice(20)), 20, totals);
    const ids = await collect(fetch);
    for (let n = 20; n < 60; n++) expect(ids.has(`c${n}`)).toBe(true);
  });

  test('though chunks appear at the front while it is read', async () => {
    const { fetch } = pages((call) => (call === 1 ? all(60).slice(20) : all(60)), 20);
    expect((await collect(fetch)).size).toBe(60);
  });

  test('though one appears at the front, and the totals count it behind it', async () => {
    const { fetch } = pages((call) => (call === 1 ? all(41).slice(1) : all(41)), 20);
    expect((await collect(fetch)).size).toBe(41);
  });

  test('though chunks appear at the front, and the totals are too low', async () => {
    const totals = () => ({ totalItems: 5, totalPages: 1, pageSize: 20 });
    const { fetch } = pages((call) => (call === 1 ? all(60).slice(20) : all(60)), 20, totals);
    expect((await collect(fetch)).size).toBe(60);
  });

  test('of a partner that sends the same page whatever is asked for', async () => {
    const { calls } = pages(() => [], 1);
    expect(calls()).toBe(0);
    let asked = 0;
    const same = async () => {
      asked++;
      return readList(Recording, body({ recordings: all(20), pagination: { totalItems: 100, totalPages: 5 } }), 'c');
    };
    expect((await collect(same)).size).toBe(20);
    expect(asked).toBe(4);
  });

  test.each([{}, { totalItems: 100_000, totalPages: 5_000 }])(
    'of a partner that does so under ids made anew at each listing, with totals %j',
    async (pagination) => {
      let asked = 0;
      const anew = async () => {
        asked++;
        const recordings = all(3).map((item, n) => ({ ...item, id: `listing-${asked}-${n}` }));
        return readList(Recording, body({ recordings, pagination }), 'c');
      };
      await collect(anew);
      expect(asked).toBe(22);
    },
  );

  test.each<[string, Parameters<typeof pages>[2]]>([
    ['with totals', undefined],
    ['without totals', () => ({})],
  ])('%s, of two streams of a camera one after the other, and of another camera behind them', async (_, totals) => {
    const streams = ['in', 'out'].flatMap((stream) => all(300).map((item, n) => ({ ...item, id: `${stream}-${n}` })));
    const rear = all(45).map((item) => ({ ...item, cameraId: 'rear' }));
    const { fetch } = pages(() => [...streams, ...rear], 20, totals);
    expect((await collect(fetch)).size).toBe(645);
  });

  test('a list of ever more elements is given up before all of them are held', async () => {
    let asked = 0;
    const endless = async (): Promise<ListedPage<Recording>> => {
      const from = asked++ * 30_000;
      const fingerprints = Array.from({ length: 30_000 }, (_, i) => String(from + i));
      return { items: [], received: 30_000, fingerprints, ranges: [], pagination: { totalPages: 2_000 }, findings: [] };
    };
    await expect(collect(endless)).rejects.toThrow("The partner's list has more than 250000 elements.");
    expect(asked).toBe(9);
  });

  test('a list of ever more pages is given up', async () => {
    let asked = 0;
    const endless = async (): Promise<ListedPage<Recording>> => {
      const fingerprints = [String(asked++)];
      return { items: [], received: 1, fingerprints, ranges: [], pagination: {}, findings: [] };
    };
    await expect(collect(endless)).rejects.toThrow("The partner's list has more than 2000 pages.");
    expect(asked).toBe(2_000);
  });

  test.each([1, 45])('%i chunks without totals, whose ids are made anew at each listing', async (count) => {
    const anew = (call: number) => all(count).map((item, n) => ({ ...item, id: `listing-${call}-${n}` }));
    const { fetch, calls } = pages(anew, 20, () => ({}));
    await collect(fetch);
    expect(calls()).toBe(2 * (Math.ceil(count / 20) + 1));
  });

  const refuses = (from: number, status: number, totals = {}, count = 45) => {
    const { fetch } = pages(
      () => all(count),
      20,
      () => totals,
    );
    return async (page: number) => {
      if (page >= from) throw new PartnerFailure('rejected', `status ${status}`, { status });
      return fetch(page);
    };
  };

  test.each<[number, object, number]>([
    [400, {}, 45],
    [404, {}, 45],
    [410, {}, 45],
    [416, {}, 45],
    [422, {}, 45],
    [404, { totalItems: 5, totalPages: 1, pageSize: 20 }, 60],
  ])('that ends where a page is refused with %i, which is told, with totals %j', async (status, totals, count) => {
    const told = new Set<string>();
    const ids = new Set<string>();
    await readAllPages(refuses(4, status, totals, count), async ({ items, findings }) => {
      for (const { id } of items) ids.add(id);
      for (const { path, reason } of findings) told.add(`${path}: ${reason}`);
    });
    expect(ids.size).toBe(count);
    expect([...told]).toEqual([
      `page: a page past the end must be an empty list, not a response with status ${status}`,
    ]);
  });

  test.each([
    ['the first page', refuses(1, 404), PartnerFailure],
    ['a later page for another reason than that it is not there', refuses(3, 403), PartnerFailure],
    ['a page that the number of pages counts', refuses(3, 404, { totalPages: 3 }), UnstableListError],
    ['a page that the number of elements counts', refuses(2, 400, { totalItems: 45, pageSize: 20 }), UnstableListError],
  ])('is not read where %s is refused', async (_, fetch, failure) => {
    await expect(collect(fetch)).rejects.toThrow(failure);
  });

  test('no further than is enough, and not once more', async () => {
    const { fetch, calls } = pages(
      () => all(45),
      20,
      () => ({}),
    );
    const seen: Recording[] = [];
    const onPage = async ({ items }: ListedPage<Recording>) => void seen.push(...items);
    await readAllPages(fetch, onPage, () => seen.length > 20);
    expect(seen).toHaveLength(40);
    expect(calls()).toBe(2);
  });

  test('all of it, though a page has the ranges of the one before it under other ids', async () => {
    const streams = ['sub', 'main'].map((stream) => all(20).map((item, n) => ({ ...item, id: `${stream}-${n}` })));
    const { fetch } = pages(
      () => [...streams.flat(), chunk(20)],
      20,
      () => ({}),
    );
    expect((await collect(fetch)).size).toBe(41);
  });

  test('a list that is another one each time fails, and what was seen has landed', async () => {
    let seen = 0;
    const wild = async () => {
      const items = Array.from({ length: 20 }, () => chunk(seen++));
      return readList(Recording, body({ recordings: items, pagination: { totalItems: 90, totalPages: 1 } }), 'c');
    };
    const never = readAllPages(
      async (page) => (page > 3 ? readList(Recording, body({}), 'c') : wild()),
      async () => undefined,
    );
    await expect(never).rejects.toThrow(UnstableListError);
    expect(seen).toBe(100);
  });

  test('so does one of which a part is another one each time', async () => {
    const partly = pages(
      (call) => [...all(19), chunk(100 + call)],
      20,
      () => ({ totalItems: 90, totalPages: 1 }),
    );
    await expect(collect(partly.fetch)).rejects.toThrow(UnstableListError);
  });
});
