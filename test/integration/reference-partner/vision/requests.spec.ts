import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { CreateVideoResponse, ListVideosResponse, Video } from '../../../../src/contracts/vision/vision.dto.js';
import { durationOfMp4 } from '../../../nightly/media/sample-files.js';
import { type ErrorAnswer, pathsOf } from '../../../shared/post-endpoint.js';
import { issueKey } from '../../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import type { Reply } from '../../../support/http.js';
import { eventually } from '../../../support/eventually.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../../../support/reference-vision.js';

const REQUESTS = '/video-platform/v1/videos/requests';

let service: TestApp;
let key: string;

beforeAll(async () => {
  service = await startTestApp();
  ({ key } = await issueKey(service, ['vision']));
  for (const minute of [0, 1, 3]) await upload(service, minute);
});
afterAll(() => service.close());

const valid = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', startTime: at(0.5), endTime: at(1.5) };

function request<Body = CreateVideoResponse>(body: unknown): Promise<Reply<Body>> {
  return service.call<Body>('POST', REQUESTS, { headers: { 'API-KEY': key }, body });
}

async function poll(requestId: string, more: Record<string, string> = {}): Promise<ListVideosResponse['data']> {
  const query = new URLSearchParams({ customerId: CUSTOMER, requestId, ...more });
  const { body } = await service.call<ListVideosResponse>('GET', `/video-platform/v1/videos?${query.toString()}`, {
    headers: { 'API-KEY': key },
  });
  return body.data;
}

/** Requests a clip, polls until the request has ended, and returns its last state. */
async function ended(body: unknown): Promise<ListVideosResponse['data']> {
  const { status, body: answer } = await request(body);
  expect(status).toBe(202);
  expect(answer).toMatchObject({ success: true, status: 'processing' });
  return eventually(async () => {
    const data = await poll(answer.requestId);
    expect(data.request?.status).not.toBe('processing');
    return data;
  });
}

const bytesOf = async ({ downloadUrl }: Video) => Buffer.from(await (await fetch(downloadUrl)).arrayBuffer());

describe('a clip on demand (sections 4.4, 4.5)', () => {
  it('is cut across a chunk boundary, and can be fetched', async () => {
    const { videos, request: state } = await ended(valid);
    expect(state?.status).toBe('ready');
    const [video] = videos as [Video];
    expect(video).toMatchObject({
      requestId: state?.requestId,
      cameraId: 'front',
      startTime: at(0.5).replace('.000', ''),
      durationSeconds: 60,
    });
    const bytes = await bytesOf(video);
    const seconds = await durationOfMp4({ size: bytes.length, read: (start, end) => bytes.subarray(start, end) });
    expect(seconds).toBeCloseTo(60, 0);
  });

  it('has the recorded parts of its range, and names the gap (decision 44)', async () => {
    const { videos, request: state } = await ended({ ...valid, startTime: at(1), endTime: at(4) });
    expect(state).toMatchObject({
      status: 'ready',
      message: expect.stringContaining('2026-01-31T08:32:00Z to 2026-01-31T08:33:00Z'),
    });
    expect(videos).toHaveLength(1);
    const [video] = videos as [Video];
    expect(video).toMatchObject({
      durationSeconds: 120,
      gaps: [{ startTime: '2026-01-31T08:32:00Z', endTime: '2026-01-31T08:33:00Z' }],
    });
    const bytes = await bytesOf(video);
    const seconds = await durationOfMp4({ size: bytes.length, read: (start, end) => bytes.subarray(start, end) });
    expect(seconds).toBeCloseTo(120, 0);
  });

  it('is listed by an alias only of the camera that has it on its truck (decision 45)', async () => {
    const customerId = 'Two trucks';
    const cameras = [
      { truckId: 'A', cameraId: 'front', aliases: ['1'] },
      { truckId: 'A', cameraId: 'rear', aliases: ['2'] },
      { truckId: 'B', cameraId: 'rear', aliases: ['1'] },
      { truckId: 'B', cameraId: 'front', aliases: ['2'] },
    ] as const;
    const range = { startTime: at(0), endTime: at(0.25) };
    const requestIds = new Map<string, string>();
    for (const camera of cameras) {
      const { truckId, cameraId } = camera;
      expect((await upload(service, 0, { customerId, truckId, cameraId }, demoVideo(0, cameraId))).status).toBe(201);
      await service.admin('PUT', '/hosted/cameras', { customerId, ...camera });
      const { body } = await request({ customerId, truckId, cameraId, ...range });
      requestIds.set(`${truckId} ${cameraId}`, body.requestId);
    }
    const list = async (query: Record<string, string>) => {
      const parameters = new URLSearchParams({ customerId, ...query }).toString();
      const options = { headers: { 'API-KEY': key } };
      const { body } = await service.call<ListVideosResponse>(
        'GET',
        `/video-platform/v1/videos?${parameters}`,
        options,
      );
      return { shown: body.data.videos?.map((each) => `${each.truckId} ${each.cameraId}`).sort(), data: body.data };
    };
    await eventually(async () => expect((await list({})).shown).toHaveLength(4));
    const byAlias = await list({ cameraId: '1' });
    expect(byAlias.shown).toEqual(['A front', 'B rear']);
    expect(byAlias.data.pagination.totalItems).toBe(2);
    expect((await list({ cameraId: '1', truckId: 'B' })).shown).toEqual(['B rear']);
    const requestId = requestIds.get('B front') ?? '';
    expect((await list({ requestId, cameraId: '2' })).shown).toEqual(['B front']);
    expect(await list({ requestId, cameraId: '1' })).toMatchObject({ shown: [], data: { videos: [] } });
  });

  describe('queried by its request', () => {
    const neighbour = 'Next door';
    let requestId = '';
    beforeAll(async () => {
      await upload(service, 0, { truckId: 'TRUCK-9' });
      await upload(service, 0, { customerId: neighbour });
      requestId = (await ended(valid)).request?.requestId ?? '';
    });

    it.each<[string, boolean, Record<string, string>]>([
      ['another customer', false, { customerId: neighbour }],
      ['its truck', true, { truckId: TRUCK }],
      ['another truck', false, { truckId: 'TRUCK-9' }],
    ])('is found by a query for %s: %s (decision 44)', async (_, known, query) => {
      const { videos, request: state, pagination } = await poll(requestId, query);
      expect([videos.length, state?.requestId, pagination.totalItems]).toEqual(
        known ? [1, requestId, 1] : [0, undefined, 0],
      );
    });

    it.each<[string, number, Record<string, string>]>([
      ['a range that ends where it begins', 0, { startTime: at(0), endTime: at(0.5) }],
      ['one that begins where it ends', 0, { startTime: at(1.5), endTime: at(2) }],
      ['one that has its beginning', 1, { startTime: at(0), endTime: at(0.6) }],
      ['one that has its end', 1, { startTime: at(1.4), endTime: at(2) }],
      ['its request in upper case', 1, {}],
    ])('is listed for %s: %i (decision 42)', async (_, listed, query) => {
      const { videos, request: state } = await poll(requestId.toUpperCase(), query);
      expect([videos.length, state]).toEqual([listed, { requestId, status: 'ready' }]);
    });

    it('is on the first page only (decision 43)', async () => {
      const { videos, pagination } = await poll(requestId, { page: '2' });
      expect([videos, pagination.totalItems]).toEqual([[], 1]);
    });
  });

  it('cannot be requested with a key that is limited to another customer (decision 17)', async () => {
    const { key: limited } = await issueKey(service, ['vision'], { customerId: 'Other' });
    const options = { headers: { 'API-KEY': limited }, body: valid };
    expect((await service.call('POST', REQUESTS, options)).status).toBe(404);
  });

  it('may be one hour long', async () => {
    expect((await request({ ...valid, startTime: at(20), endTime: at(80) })).status).toBe(202);
  });

  it('fails with a reason if nothing was recorded (decision 44)', async () => {
    const { videos, request: state } = await ended({ ...valid, startTime: at(20), endTime: at(21) });
    expect(state).toMatchObject({ status: 'failed', message: 'Nothing was recorded in this time.' });
    expect(videos).toEqual([]);
  });

  it('appears in the list of its customer, and in that of the admin', async () => {
    const { videos } = await ended({ ...valid, startTime: at(0), endTime: at(0.1) });
    const { body } = await service.call<ListVideosResponse>(
      'GET',
      `/video-platform/v1/videos?customerId=${encodeURIComponent(CUSTOMER)}&truckId=${TRUCK}`,
      { headers: { 'API-KEY': key } },
    );
    expect(body.data.videos.map(({ id }) => id)).toContain(videos[0]?.id);
    const listed = await service.admin<{ data: { id: string; status: string }[] }>(
      'GET',
      '/hosted/video-requests?status=ready',
    );
    expect(listed.body.data.map(({ id }) => id)).toContain(videos[0]?.requestId);
  });

  it.each([
    ['customerId', 'nobody'],
    ['truckId', 'TRUCK-8'],
    ['cameraId', 'left'],
  ])('404 for an unknown %s', async (name, value) => {
    const { status, body } = await request<ErrorAnswer>({ ...valid, [name]: value });
    expect(status).toBe(404);
    expect(body.error.code).toBe('NOT_FOUND');
  });

  it.each([
    ['all five are required', {}, ['cameraId', 'customerId', 'endTime', 'startTime', 'truckId']],
    ['no text', { ...valid, customerId: 7, truckId: null }, ['customerId', 'truckId']],
    ['empty', { ...valid, cameraId: '' }, ['cameraId']],
    ['no instant', { ...valid, startTime: '2026-01-31' }, ['startTime']],
    ['the end before the start', { ...valid, startTime: at(1), endTime: at(0) }, ['endTime']],
    ['the end at the start', { ...valid, endTime: valid.startTime }, ['endTime']],
    ['longer than an hour', { ...valid, startTime: at(0), endTime: at(60.001) }, ['endTime']],
    [
      'a microsecond longer than an hour',
      { ...valid, startTime: '2026-01-31T08:30:00Z', endTime: '2026-01-31T09:30:00.000001Z' },
      ['endTime'],
    ],
  ])('400: %s', async (_name, body, paths) => {
    const reply = await request<ErrorAnswer>(body);
    expect(reply.status).toBe(400);
    expect(reply.body.error.code).toBe('INVALID_PAYLOAD');
    expect(pathsOf(reply).sort()).toEqual(paths);
  });
});

describe('recordings on the partner side', () => {
  it('are stored unchanged, once per camera and start', async () => {
    const first = await upload(service, 5);
    expect(first.status).toBe(201);
    expect(first.body).toEqual({
      id: expect.any(String),
      sizeBytes: demoVideo(5).length,
      sha256: createHash('sha256').update(demoVideo(5)).digest('hex'),
    });
    expect((await upload(service, 5)).status).toBe(409);
    const [one, other] = await Promise.all([upload(service, 6), upload(service, 6)]);
    expect([one.status, other.status].sort()).toEqual([201, 409]);
  });

  it.each([
    ['no MP4', Buffer.from('this is not an MP4 file'), 'video/mp4', 400],
    ['nothing', Buffer.alloc(0), 'video/mp4', 400],
    ['an ftyp box too small for a brand', Buffer.from('000000086674797000000000', 'hex'), 'video/mp4', 400],
    ['another type', demoVideo(0), 'application/octet-stream', 415],
  ])('are refused: %s', async (name, bytes, type, status) => {
    const reply = await upload<ErrorAnswer>(service, 7, {}, bytes, type);
    expect(reply.status).toBe(status);
    expect(reply.body.error.code).toBe('INVALID_PAYLOAD');
    expect((await upload(service, 7, { cameraId: `after ${name}` })).status).toBe(201);
  });

  it.each([
    ['no start', { startTime: '' }],
    ['the end before the start', { startTime: at(1), endTime: at(0) }],
    ['the end at the start', { startTime: at(1), endTime: at(1) }],
    ['longer than a day', { startTime: at(0), endTime: at(1441) }],
  ])('are refused: %s', async (_name, query) => {
    expect((await upload(service, 8, query)).status).toBe(400);
  });

  it('need the admin token', async () => {
    const { status } = await service.call('POST', '/admin/v1/hosted/recordings', {
      body: demoVideo(0),
      headers: { 'Content-Type': 'video/mp4' },
    });
    expect(status).toBe(401);
  });

  it('an interrupted upload leaves nothing', async () => {
    const before = await service.dataSource.query<unknown[]>('SELECT id FROM reference_recordings');
    const controller = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => stream.enqueue(demoVideo(0).subarray(0, 50_000)),
    });
    const query = new URLSearchParams({
      customerId: CUSTOMER,
      truckId: TRUCK,
      cameraId: 'broken',
      startTime: at(0),
      endTime: at(1),
    });
    const sent = fetch(`${service.url}/admin/v1/hosted/recordings?${query.toString()}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, 'Content-Type': 'video/mp4' },
      body,
      duplex: 'half',
      signal: controller.signal,
    });
    setTimeout(() => controller.abort(), 200);
    await expect(sent).rejects.toThrow();
    const again = await upload(service, 0, { cameraId: 'broken' });
    expect(again.status).toBe(201);
    const after = await service.dataSource.query<unknown[]>('SELECT id FROM reference_recordings');
    expect(after.length).toBe(before.length + 1);
  });
});
