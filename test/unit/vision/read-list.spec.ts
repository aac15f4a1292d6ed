import { describe, expect, test } from '@jest/globals';
import { Video } from '../../../src/contracts/vision/vision.api.js';
import { readAcknowledgement } from '../../../src/vision/client/vision.client.js';
import { NotAListError } from '../../../src/vision/client/read-list.rules.js';
import { readList } from '../../support/listed-pages.js';
import { element } from '../../support/scripted-vision.js';

const link = { downloadUrl: 'https://files.example.com/a.mp4?sig=1' };
const body = (data: unknown, more: object = {}) => ({ success: true, data, ...more });
const read = (data: unknown, more: object = {}) => readList(Video, body(data, more), 'customer-1');

describe('a list is read (decision 38)', () => {
  test('from data itself, and an absent one is empty', () => {
    expect(read([element(link)]).items).toHaveLength(1);
    expect(read({}).items).toEqual([]);
    expect(read({ videos: null }).items).toEqual([]);
    expect(read([7]).findings).toEqual([expect.objectContaining({ path: 'data[0]' })]);
  });

  test('from the name of the contract if there are several', () => {
    expect(read({ recordings: [], items: [], videos: [element(link)] }).items).toHaveLength(1);
  });

  const pagination = { page: 2, pageSize: 50, totalItems: 60, totalPages: 2 };
  test.each<[string, unknown, object]>([
    ['inside data', { videos: [], pagination }, {}],
    ['beside data', { videos: [] }, { pagination }],
    ['as fields of data', { videos: [], ...pagination }, {}],
    ['as fields of the body', { videos: [] }, pagination],
  ])('with pagination %s', (_, data, more) => expect(read(data, more).pagination).toEqual(pagination));

  test('with the pagination inside data before that beside it, also if it is all zero', () => {
    const none = { page: 1, pageSize: 50, totalItems: 0, totalPages: 0 };
    expect(read({ videos: [], pagination: none }, { pagination }).pagination).toEqual(none);
  });

  test('without pagination if its values are not counts', () => {
    const odd = { page: '1', pageSize: -1, totalItems: 1.5, totalPages: null };
    expect(read({ videos: [], pagination: odd }).pagination).toEqual({});
  });

  test.each<[string, unknown]>([
    ['an array', []],
    ['null', null],
    ['no data', { success: true }],
    ['an object in place of the list', body({ videos: {} })],
    ['success false', { success: false, data: { videos: [] } }],
    ['more than 250,000 elements', body({ videos: Array.from({ length: 250_001 }, () => 0) })],
  ])('but not from %s', (_, given) => expect(() => readList(Video, given, 'c')).toThrow(NotAListError));

  test('with a short fingerprint of each element, however long the element', () => {
    const long = element({ ...link, id: 'x'.repeat(100_000) });
    const { fingerprints } = read({ videos: [long, { ...long, downloadUrl: 'https://other' }, element(link), 7] });
    expect(fingerprints.map(({ length }) => length)).toEqual([44, 44, 44, 44]);
    expect(new Set(fingerprints).size).toBe(3);
  });

  test('with fingerprints of id, truck, camera and times, and ranges without the id', () => {
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

  test('with computed durations, names that were numbers, and without unknown fields', () => {
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

  test.each([0, 1, 299, 31_536_000])('with a duration of %i from the partner', (durationSeconds) => {
    expect(read({ videos: [element({ ...link, durationSeconds })] }).items[0]?.durationSeconds).toBe(durationSeconds);
  });

  test('with an expiry of null as absent', () => {
    const { items, findings } = read({ videos: [element({ ...link, expiresAt: null })] });
    expect(items[0]).not.toHaveProperty('expiresAt');
    expect(findings).toEqual([]);
  });

  test.each<[string, unknown, string]>([
    ['a missing link', element(), 'data.videos[1].downloadUrl'],
    ['a missing id', element({ ...link, id: undefined }), 'data.videos[1].id'],
    ['an invalid date', element({ ...link, startTime: 'yesterday' }), 'data.videos[1].startTime'],
    ['an end before its start', element({ ...link, endTime: '2026-01-31T08:00:00Z' }), 'data.videos[1].endTime'],
    ['an end at its start', element({ ...link, endTime: '2026-01-31T08:30:00Z' }), 'data.videos[1].endTime'],
    ['a number', 7, 'data.videos[1]'],
    ['null', null, 'data.videos[1]'],
  ])('without an element with %s, which is reported', (_, bad, path) => {
    const { items, findings, received } = read({ videos: [element(link), bad, element(link)] });
    expect(items).toHaveLength(2);
    expect(received).toBe(3);
    expect(findings).toEqual([{ path, reason: expect.stringContaining(path), raw: bad }]);
  });

  test.each(['soon', '2026-11-22T14:19:00.000', '2026-11-22', 'Sun, 22 Nov 2026 14:19:00 GMT', 1_795_357_140])(
    'with an expiry of %j as absent, which is reported',
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
    'with a computed duration in place of %j',
    (durationSeconds) => {
      const { items, findings } = read({ videos: [element({ ...link, durationSeconds })] });
      expect(items[0]).toMatchObject({ durationSeconds: 300 });
      expect(findings).toEqual([]);
    },
  );

  test('with a computed duration up to a leap second', () => {
    const range = { startTime: '2016-12-31T23:59:30Z', endTime: '2016-12-31T23:59:60Z' };
    const { items, findings } = read({ videos: [element({ ...link, ...range, durationSeconds: undefined })] });
    expect(items[0]).toMatchObject({ durationSeconds: 30 });
    expect(findings).toEqual([]);
  });

  test('with a computed duration of a year at most', () => {
    const range = { startTime: '2016-01-01T00:00:00Z', endTime: '2026-01-01T00:00:00Z' };
    const { items } = read({ videos: [element({ ...link, ...range, durationSeconds: undefined })] });
    expect(items[0]).toMatchObject({ durationSeconds: 31_536_000 });
  });

  test('without characters in the message of data.request that PostgreSQL cannot store', () => {
    const request = { requestId: 'r', status: 'ready', message: 'part\0ly \ud800' };
    expect(read({ request }).request).toEqual({ requestId: 'r', status: 'ready', message: 'partly \ufffd' });
  });

  test.each(['12345678901234567891', '9007199254740992', '-9007199254740992', '1.5', '1e300'])(
    'with the number %s as id of a request as absent, because it was rounded; this is reported',
    (requestId) => {
      const request = { ...element(link), requestId: JSON.parse(requestId) as number, status: 'ready' };
      const { items, request: state, findings } = read({ videos: [request], request });
      expect(items).toHaveLength(1);
      expect(items[0]).not.toHaveProperty('requestId');
      expect(state).toBeUndefined();
      expect(findings).toEqual(
        ['data.videos[0].requestId', 'data.request.requestId'].map((path) => ({
          path,
          reason: `${path} must be a string that is not blank, or an integer of at most 2^53 - 1; it is treated as absent`,
          raw: request,
        })),
      );
    },
  );

  describe.each(['12345678901234567891', '9007199254740993', '-9007199254740993'])(
    'with the rounded number %s',
    (digits) => {
      const huge = JSON.parse(digits) as number;

      test.each(['truckId', 'cameraId'])('as %s: the element is skipped, and reported', (name) => {
        const { items, findings } = read({ videos: [element({ ...link, [name]: huge }), element(link)] });
        expect(items).toHaveLength(1);
        expect(findings).toMatchObject([
          { path: `data.videos[0].${name}`, reason: expect.stringContaining('must be') },
        ]);
      });

      test('as id of two elements: reported, and they are distinguished by their other fields', () => {
        const [first, later] = ['08:31', '08:32'].map((minute) =>
          element({ ...link, id: huge, startTime: `2026-01-31T${minute}:00Z` }),
        );
        const { items, findings } = read({ videos: [first, later, first] });
        const ids = items.map(({ id }) => id);
        expect(ids[0]).toBe(ids[2]);
        expect(new Set(ids).size).toBe(2);
        expect(findings.map(({ path }) => path)).toEqual([0, 1, 2].map((i) => `data.videos[${i}].id`));
      });

      test('as customer: reported, and replaced by the requested customer', () => {
        const { items, findings } = read({ videos: [element({ ...link, customerId: huge })] });
        expect(items[0]?.customerId).toBe('customer-1');
        expect(findings).toMatchObject([{ path: 'data.videos[0].customerId' }]);
      });
    },
  );

  test.each([4711, Number.MAX_SAFE_INTEGER])('with the number %i as id of a request', (requestId) => {
    const request = { requestId, status: 'ready' };
    const { items, request: state, findings } = read({ videos: [element({ ...link, requestId })], request });
    expect([items[0]?.requestId, state?.requestId]).toEqual([`${requestId}`, `${requestId}`]);
    expect(findings).toEqual([]);
  });

  test('with data.request; an unknown status is processing', () => {
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

  test('with a thousand characters of a message at most', () => {
    const [long, kept] = ['m'.repeat(1_001), 'm'.repeat(1_000)];
    expect(read({ request: { requestId: 'r', status: 'failed', message: long } }).request?.message).toBe(kept);
    expect(readAcknowledgement({ requestId: 'r', status: 'failed', message: long })?.message).toBe(kept);
  });
});
