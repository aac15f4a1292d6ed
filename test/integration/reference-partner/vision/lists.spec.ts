import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Request } from 'express';
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { ContinuousResponse, ListVideosResponse, Recording } from '../../../../src/contracts/vision/vision.dto.js';
import { DownloadLinks } from '../../../../src/reference-partner/vision/download-links.js';
import { STORAGE, type Storage } from '../../../../src/storage/storage.js';
import { type ErrorAnswer, pathsOf } from '../../../shared/post-endpoint.js';
import { issueKey } from '../../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import type { Reply } from '../../../support/http.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../../../support/reference-vision.js';

const CONTINUOUS = '/video-platform/v1/videos/continuous';
const VIDEOS = '/video-platform/v1/videos';

let service: TestApp;
let key: string;

beforeAll(async () => {
  service = await startTestApp();
  ({ key } = await issueKey(service, ['vision']));
  for (const minute of [0, 1, 2, 3, 4]) await upload(service, minute);
  for (const minute of [0, 1]) await upload(service, minute, { cameraId: 'rear' });
  await service.admin('PUT', '/hosted/cameras', {
    customerId: CUSTOMER,
    truckId: TRUCK,
    cameraId: 'front',
    aliases: ['1'],
  });
});
afterAll(() => service.close());

type Query = Readonly<Record<string, string | number | undefined>>;

function get<Body>(path: string, query: Query, apiKey = key): Promise<Reply<Body>> {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return service.call<Body>('GET', `${path}?${new URLSearchParams(given).toString()}`, {
    headers: { 'API-KEY': apiKey },
  });
}

const asked = (query: Query = {}): Query => ({
  customerId: CUSTOMER,
  truckId: TRUCK,
  startTime: at(0),
  endTime: at(10),
  ...query,
});
const continuous = (query: Query = {}) => get<ContinuousResponse>(CONTINUOUS, asked(query));
const refused = (query: Query) => get<ErrorAnswer>(CONTINUOUS, asked(query));
const starts = ({ body }: Reply<ContinuousResponse>) =>
  body.data.recordings?.map(({ cameraId, startTime }) => `${cameraId} ${startTime.slice(14, 19)}`);

describe('continuous list (section 4.6)', () => {
  it('returns chunks in the form of section 2.6', async () => {
    const { status, body } = await continuous({ cameraId: 'front', pageSize: 1 });
    expect(status).toBe(200);
    expect(body).toEqual({
      success: true,
      data: {
        recordings: [
          {
            id: expect.any(String),
            customerId: CUSTOMER,
            truckId: TRUCK,
            cameraId: 'front',
            startTime: '2026-01-31T08:30:00Z',
            endTime: '2026-01-31T08:31:00Z',
            durationSeconds: 60,
            downloadUrl: expect.stringMatching(new RegExp(`^${service.url}/media/v1/recordings/`)),
            expiresAt: expect.any(String),
          },
        ],
        pagination: { page: 1, pageSize: 1, totalItems: 5, totalPages: 5 },
      },
    });
  });

  it('is oldest first, of all cameras unless one is named', async () => {
    expect(starts(await continuous())).toHaveLength(7);
    expect(starts(await continuous({ cameraId: 'rear' }))).toEqual(['rear 30:00', 'rear 31:00']);
    const times = (await continuous()).body.data.recordings?.map(({ startTime }) => startTime) ?? [];
    expect(times).toEqual([...times].sort());
  });

  it('accepts the alias of a camera (decision 45)', async () => {
    expect(starts(await continuous({ cameraId: '1' }))).toHaveLength(5);
  });

  it.each([
    ['inside one chunk', 1.25, 1.75, ['front 31:00']],
    ['across a boundary', 1.5, 2.5, ['front 31:00', 'front 32:00']],
    ['from a boundary: the end is excluded', 2, 3, ['front 32:00']],
    ['before everything', -10, 0, []],
    ['after everything', 5, 10, []],
    ['around everything', -5, 20, ['front 30:00', 'front 31:00', 'front 32:00', 'front 33:00', 'front 34:00']],
  ])('lists what overlaps the range: %s (decision 42)', async (_name, from, to, expected) => {
    expect(starts(await continuous({ cameraId: 'front', startTime: at(from), endTime: at(to) }))).toEqual(expected);
  });

  it('pages, each chunk once, and is empty past the end (decision 43)', async () => {
    const seen: string[] = [];
    for (let page = 1; page <= 4; page++) {
      const { body } = await continuous({ page, pageSize: 2 });
      expect(body.data.pagination).toEqual({ page, pageSize: 2, totalItems: 7, totalPages: 4 });
      seen.push(...(body.data.recordings ?? []).map(({ id }) => id));
    }
    expect(new Set(seen).size).toBe(7);
    for (const page of ['5', '1000000001', '9'.repeat(30)]) {
      const past = await continuous({ page, pageSize: 2 });
      expect(past.status).toBe(200);
      expect(past.body.data.recordings).toEqual([]);
    }
  });

  it.each([
    ['page', '0'],
    ['page', '-1'],
    ['page', 'x'],
    ['page', '1.5'],
    ['pageSize', '0'],
    ['pageSize', '101'],
    ['pageSize', ''],
    ['startTime', '2026-01-31'],
    ['endTime', 'soon'],
    ['truckId', ''],
  ])('refuses %s=%s, in a message without details', async (name, value) => {
    const { status, body } = await refused({ [name]: value });
    expect(status).toBe(400);
    expect(body.error.code).toBe('INVALID_PAYLOAD');
    expect(body.error.message).toContain(name);
    expect(body.error).not.toHaveProperty('details');
  });

  it('names every offending parameter in the message, however many: there are no details', async () => {
    const query = { startTime: 'x', endTime: 'y', page: 0, pageSize: 101, cameraId: '' };
    const { status, body } = await get<ErrorAnswer>(CONTINUOUS, query);
    expect(status).toBe(400);
    expect(body.error).not.toHaveProperty('details');
    const named = ['customerId', 'truckId', 'cameraId', 'startTime', 'endTime', 'page', 'pageSize'];
    const sentences = body.error.message.split('; ');
    expect(sentences.map((sentence) => sentence.split(' ')[0]).sort()).toEqual(named.sort());
  });

  it.each([
    ['customerId', 'a'],
    ['cameraId', 'front'],
    ['startTime', '2026-01-01T00:00:00Z'],
    ['page', '1'],
  ])('refuses a parameter that is sent twice: %s', async (name, value) => {
    for (const path of [CONTINUOUS, VIDEOS]) {
      const twice = `customerId=${CUSTOMER}&truckId=${TRUCK}&startTime=${at(0)}&endTime=${at(1)}&page=1&cameraId=front&${name}=${value}`;
      const headers = { 'API-KEY': key };
      const { status, body } = await service.call<ErrorAnswer>('GET', `${path}?${twice}`, { headers });
      expect(status).toBe(400);
      expect(body.error.message).toBe(`${name} must be sent once`);
    }
  });

  it.each(['%ff', '%E2%82', 'a%ED%A0%80', '%00'])(
    'refuses %s, which is no text, with 400 and not with 404',
    async (value) => {
      const headers = { 'API-KEY': key };
      const { status, body } = await service.call<ErrorAnswer>('GET', `${VIDEOS}?customerId=${value}`, { headers });
      expect(status).toBe(400);
      expect(body.error.message).toBe('customerId must be valid Unicode without U+0000 and without lone surrogates');
      // Unknown parameters are ignored (decision 4).
      const known = await service.call('GET', `${VIDEOS}?customerId=${CUSTOMER}&note=${value}&${value}=1`, { headers });
      expect(known.status).toBe(200);
    },
  );

  it.each([
    ['%C3%9Cber+den%20Fluss', 404],
    ['%EF%BF%BD', 404],
    ['%zz', 404],
    [CUSTOMER.replace(/./, (first) => `%${Buffer.from(first).toString('hex')}`), 200],
  ])('accepts %s as text', async (value, expected) => {
    const { status } = await service.call('GET', `${VIDEOS}?customerId=${value}`, { headers: { 'API-KEY': key } });
    expect(status).toBe(expected);
  });

  it.each(['customerId', 'truckId', 'startTime', 'endTime'])('needs %s', async (name) => {
    const { status, body } = await refused({ [name]: undefined });
    expect(status).toBe(400);
    expect(body.error.message).toContain(`${name} is required`);
  });

  it.each([
    [at(2), at(1)],
    [at(1), at(1)],
  ])('refuses %s to %s: the end comes after the start', async (startTime, endTime) => {
    expect((await refused({ startTime, endTime })).status).toBe(400);
  });

  it.each([
    ['customerId', 'nobody'],
    ['truckId', 'TRUCK-8'],
    ['cameraId', 'left'],
  ])('404 for an unknown %s', async (name, value) => {
    const { status, body } = await refused({ [name]: value });
    expect(status).toBe(404);
    expect(body.error.code).toBe('NOT_FOUND');
    expect(body.error.message).toContain(name);
  });

  it('404 for a key that is limited to another customer (decision 17)', async () => {
    const other = await issueKey(service, ['vision'], { customerId: 'Other' });
    const own = await issueKey(service, ['vision'], { customerId: CUSTOMER });
    expect((await get(CONTINUOUS, asked(), other.key)).status).toBe(404);
    expect((await get(CONTINUOUS, asked(), own.key)).status).toBe(200);
  });

  it('returns deep pages in order, through the counts by day', async () => {
    const days = 40;
    await service.dataSource.query(
      `INSERT INTO reference_recordings (id, customer_id, truck_id, camera_id, start_time, end_time, size_bytes, sha256)
       SELECT gen_random_uuid(), 'deep', 't', 'c' || n % 2, s, s + interval '3 hours', 1, 'x'
       FROM generate_series(0, $1 * 24 - 1) AS n, LATERAL (SELECT timestamptz '2026-03-01T00:30:00Z' + n * interval '1 hour' AS s) AS t`,
      [days],
    );
    await service.dataSource.query(
      "INSERT INTO reference_camera_names VALUES ('deep', 't', 'c0', 'c0'), ('deep', 't', 'c1', 'c1')",
    );
    const from = '2026-03-05T10:15:00Z';
    const to = '2026-04-03T07:45:00Z';
    for (const cameraId of [undefined, 'c1']) {
      const expected = await service.dataSource.query<{ id: string }[]>(
        `SELECT id FROM reference_recordings WHERE customer_id = 'deep' AND ($3::text IS NULL OR camera_id = $3) AND start_time < $2 AND end_time > $1
         ORDER BY start_time, id`,
        [from, to, cameraId ?? null],
      );
      const listed: string[] = [];
      for (let page = 1; listed.length < expected.length; page++) {
        const { body } = await get<ContinuousResponse>(CONTINUOUS, {
          customerId: 'deep',
          truckId: 't',
          cameraId,
          startTime: from,
          endTime: to,
          page,
          pageSize: 37,
        });
        expect(body.data.pagination?.totalItems).toBe(expected.length);
        expect(body.data.recordings?.length).toBeGreaterThan(0);
        listed.push(...(body.data.recordings ?? []).map(({ id }) => id));
      }
      expect(listed).toEqual(expected.map(({ id }) => id));
    }
  });
});

describe('video list (section 4.5)', () => {
  it('lists on-demand clips only, also without a filter', async () => {
    const { status, body } = await get<ListVideosResponse>(VIDEOS, { customerId: CUSTOMER });
    expect(status).toBe(200);
    expect(body.data).toEqual({ videos: [], pagination: { page: 1, pageSize: 20, totalItems: 0, totalPages: 0 } });
  });

  it('returns an empty list without a state for an unknown request (decision 44)', async () => {
    for (const requestId of ['x', '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d']) {
      const { status, body } = await get<ListVideosResponse>(VIDEOS, { customerId: CUSTOMER, requestId });
      expect(status).toBe(200);
      expect(body.data.videos).toEqual([]);
      expect(body.data).not.toHaveProperty('request');
    }
  });

  it('names every offending parameter in details', async () => {
    const reply = await get<ErrorAnswer>(VIDEOS, { page: 0, pageSize: 101, startTime: 'x' });
    expect(reply.status).toBe(400);
    expect(pathsOf(reply).sort()).toEqual(['customerId', 'page', 'pageSize', 'startTime']);
  });
});

let recording: Recording;
const bytes = demoVideo(0);
const etag = `"${createHash('sha256').update(bytes).digest('hex')}"`;

beforeAll(async () => {
  await upload(service, 0);
  recording = await list(service.url);
});

async function list(url: string, headers: Record<string, string> = {}): Promise<Recording> {
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, startTime: at(0), endTime: at(1) });
  const response = await fetch(`${url}/video-platform/v1/videos/continuous?${query.toString()}`, {
    headers: { 'API-KEY': key, ...headers },
  });
  const { data } = (await response.json()) as ContinuousResponse;
  return data.recordings![0]!;
}

const getFile = (headers: Record<string, string> = {}, method = 'GET', url = recording.downloadUrl) =>
  fetch(url, { method, headers });
const changed = (change: (url: URL) => void): string => {
  const url = new URL(recording.downloadUrl);
  change(url);
  return url.href;
};

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
/** 32 bytes leave two bits of the last letter unused: four letters decode to the same bytes. */
const otherSpelling = (text: string): string =>
  text.slice(0, -1) + BASE64URL.charAt(BASE64URL.indexOf(text.slice(-1)) ^ 1);

describe('a download link (decision 46)', () => {
  it('returns the whole file without an API key', async () => {
    const response = await getFile();
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': String(bytes.length),
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-transform',
      'cross-origin-resource-policy': 'cross-origin',
      etag,
    });
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true);
  });

  it('answers HEAD with the same headers, without the bytes', async () => {
    const opened = jest.spyOn(service.app.get<Storage>(STORAGE, { strict: false }), 'read');
    const response = await getFile({}, 'HEAD');
    expect(opened).not.toHaveBeenCalled();
    opened.mockRestore();
    expect(response.status).toBe(200);
    expect(response.headers.get('content-length')).toBe(String(bytes.length));
    expect(await response.text()).toBe('');
  });

  it.each([
    ['bytes=0-99', 0, 99],
    ['bytes=7-7', 7, 7],
    ['bytes=100-', 100, bytes.length - 1],
    ['bytes=-50', bytes.length - 50, bytes.length - 1],
    [`bytes=10-${bytes.length * 2}`, 10, bytes.length - 1],
    [`bytes=-${bytes.length * 2}`, 0, bytes.length - 1],
  ])('returns a part: %s', async (range, start, end) => {
    const response = await getFile({ Range: range });
    expect(response.status).toBe(206);
    expect(response.headers.get('content-range')).toBe(`bytes ${start}-${end}/${bytes.length}`);
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes.subarray(start, end + 1))).toBe(true);
  });

  it.each(['bytes=999999999-', 'bytes=5-2', 'bytes=x', 'lines=1-2'])('refuses %s with 416', async (range) => {
    const response = await getFile({ Range: range });
    expect(response.status).toBe(416);
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'INVALID_PAYLOAD' } });
    expect(response.headers.get('content-range')).toBe(`bytes */${bytes.length}`);
    expect(response.headers.get('etag')).toBe(etag);
  });

  it.each(['bytes=0-99', 'bytes=999999999-'])(
    'answers HEAD with the headers of the whole file for any range: %s',
    async (range) => {
      const response = await getFile({ Range: range }, 'HEAD');
      expect(response.status).toBe(200);
      expect(response.headers.get('content-length')).toBe(String(bytes.length));
      expect(response.headers.get('content-range')).toBeNull();
    },
  );

  it('respects If-Range and If-None-Match', async () => {
    expect((await getFile({ Range: 'bytes=0-9', 'If-Range': etag })).status).toBe(206);
    expect((await getFile({ Range: 'bytes=0-9', 'If-Range': '"other"' })).status).toBe(200);
    const { status, headers } = await getFile({ 'If-None-Match': etag });
    expect([status, headers.get('etag'), headers.get('cache-control')]).toEqual([304, etag, 'private, no-transform']);
  });

  it.each<[string, (url: URL) => void]>([
    ['a later expiry', (url) => url.searchParams.set('expires', '99999999999')],
    ['another signature', (url) => url.searchParams.set('signature', 'A'.repeat(43))],
    ['no signature', (url) => url.searchParams.delete('signature')],
    ['no expiry', (url) => url.searchParams.delete('expires')],
    [
      'another spelling of the signature',
      (url) => url.searchParams.set('signature', otherSpelling(url.searchParams.get('signature') ?? '')),
    ],
    ['a padded signature', (url) => (url.search += '=')],
    ['a blank in the signature', (url) => url.searchParams.set('signature', ` ${url.searchParams.get('signature')}`)],
    ['zeros before the expiry', (url) => (url.search = url.search.replace('expires=', 'expires=0'))],
    ['an empty signature', (url) => url.searchParams.set('signature', '')],
    ['two signatures', (url) => url.searchParams.append('signature', 'x')],
    [
      'another file',
      (url) => (url.pathname = url.pathname.replace(/.(?=\.mp4$)/, (digit) => (digit === '0' ? '1' : '0'))),
    ],
    ['another kind', (url) => (url.pathname = url.pathname.replace('recordings', 'clips'))],
    ['a name that is no text', (url) => (url.pathname = '/media/v1/recordings/%ff.mp4')],
    ['a path out of the storage', (url) => (url.pathname = '/media/v1/recordings/..%2f..%2fsecrets.mp4')],
  ])('is refused with %s: 401', async (_name, change) => {
    const response = await getFile({}, 'GET', changed(change));
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ success: false, error: { code: 'UNAUTHORIZED' } });
  });

  it('cannot be replaced by an API key', async () => {
    const response = await getFile(
      {},
      'GET',
      changed((url) => (url.search = `?API-KEY=${key}`)),
    );
    expect(response.status).toBe(401);
  });

  it('is valid for VISION_LINK_TTL, rounded down to whole seconds, and expires at its end', () => {
    const links = service.app.get(DownloadLinks, { strict: false });
    const signed = links.sign('', 'clips', recording.id, { now: Date.parse(at(0)) + 999 });
    const end = Date.parse(at(0)) + service.env.VISION_LINK_TTL;
    expect(Date.parse(signed.expiresAt)).toBe(end);
    const { searchParams } = new URL(signed.downloadUrl, service.url);
    const expiresAtMs = links.verify('clips', recording.id, Object.fromEntries(searchParams));
    const verify = (now: number) => links.assertValid(expiresAtMs, now);
    verify(end - 1);
    expect(() => verify(end)).toThrow('the link has expired');
  });

  it('is 410 after it has expired', async () => {
    const brief = await startTestApp({ on: service, env: { VISION_LINK_TTL: -1000 } });
    try {
      const response = await fetch((await list(brief.url)).downloadUrl);
      expect(response.status).toBe(410);
      expect(await response.json()).toMatchObject({ success: false, error: { code: 'NOT_FOUND' } });
    } finally {
      await brief.close();
    }
  });

  it.each([
    ['video.example.com', '10.0.0.5', 'http://video.example.com'],
    ['video_1.example-2.com:8443', '10.0.0.5', 'http://video_1.example-2.com:8443'],
    ['[2001:db8::5]:3000', '10.0.0.5', 'http://[2001:db8::5]:3000'],
    ['a'.repeat(255), '10.0.0.5', `http://${'a'.repeat(255)}`],
    ['a'.repeat(256), '10.0.0.5', 'http://10.0.0.5:3000'],
    ['', '10.0.0.5', 'http://10.0.0.5:3000'],
    [undefined, '10.0.0.5', 'http://10.0.0.5:3000'],
    ['user@example.com', '10.0.0.5', 'http://10.0.0.5:3000'],
    ['example.com/x', '10.0.0.5', 'http://10.0.0.5:3000'],
    ['example.com"', '10.0.0.5', 'http://10.0.0.5:3000'],
    ['example com', '2001:db8::5', 'http://[2001:db8::5]:3000'],
  ])('begins with the host of the request, else with our address: %s at %s', (host, localAddress, base) => {
    const socket = { localAddress, localPort: 3000 } as Socket;
    const request = { protocol: 'http', host, socket } as Request;
    expect(service.app.get(DownloadLinks, { strict: false }).originOf(request)).toBe(base);
    expect(new URL(base).origin).toBe(base);
  });
});
