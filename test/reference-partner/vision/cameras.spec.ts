import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type {
  ContinuousResponse,
  CreateVideoResponse,
  ListVideosResponse,
} from '../../../src/contracts/vision/vision.dto.js';
import type { ErrorAnswer } from '../../shared/post-endpoint.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { at, CUSTOMER, demoVideo, upload } from '../../support/reference-vision.js';

let service: TestApp;
let key: string;
beforeAll(async () => {
  service = await startTestApp();
  ({ key } = await issueKey(service, ['vision']));
});
afterAll(() => service.close());

const PATH = '/video-platform/v1/videos';

const call = <Body>(method: string, path: string, body?: unknown) =>
  service.call<Body>(method, path, { headers: { 'API-KEY': key }, body });

const query = (parameters: Record<string, string>) =>
  new URLSearchParams({ customerId: CUSTOMER, ...parameters }).toString();

const continuous = async (truckId: string, cameraId: string) => {
  const path = `${PATH}/continuous?${query({ truckId, cameraId, startTime: at(0), endTime: at(60) })}`;
  const { status, body } = await call<ContinuousResponse>('GET', path);
  if (status !== 200) return status;
  expect(body.data.pagination?.totalItems).toBe(body.data.recordings?.length);
  return body.data.recordings?.map((each) => `${each.cameraId} ${each.startTime.slice(14, 16)}`);
};

const put = <Body = object>(truckId: string, cameraId: string, aliases: readonly string[]) =>
  service.admin<Body>('PUT', '/hosted/cameras', { customerId: CUSTOMER, truckId, cameraId, aliases });

const ask = async (truckId: string, cameraId: string): Promise<string> => {
  const body = { customerId: CUSTOMER, truckId, cameraId, startTime: at(0), endTime: at(0.25) };
  const { status, body: answer } = await call<CreateVideoResponse>('POST', `${PATH}/requests`, body);
  expect(status).toBe(202);
  return answer.requestId;
};

const clips = async (parameters: Record<string, string>) =>
  (await call<ListVideosResponse>('GET', `${PATH}?${query(parameters)}`)).body.data;

const ready = (requestId: string) =>
  eventually(async () => expect(await clips({ requestId })).toMatchObject({ request: { status: 'ready' } }));

/** Uploads two recordings under the number of the camera. */
async function recordAs(truckId: string, cameraId: string, minutes = [0, 1]): Promise<void> {
  for (const minute of minutes) expect((await upload(service, minute, { truckId, cameraId })).status).toBe(201);
}

describe('an alias that is added after recordings were uploaded (decision 45)', () => {
  it('takes them along, and the clips made of them', async () => {
    await recordAs('T9', '1');
    const before = await ask('T9', '1');
    await ready(before);
    expect((await put('T9', 'front', ['1'])).status).toBe(200);
    for (const name of ['1', 'front']) {
      expect(await continuous('T9', name)).toEqual(['front 30', 'front 31']);
      expect((await clips({ truckId: 'T9', cameraId: name })).videos).toMatchObject([{ cameraId: 'front' }]);
      expect(await clips({ requestId: before, cameraId: name })).toMatchObject({ request: { status: 'ready' } });
    }
    await ready(await ask('T9', '1'));
    await ready(await ask('T9', 'front'));
    expect((await upload(service, 0, { truckId: 'T9', cameraId: '1' })).status).toBe(409);
    expect((await upload(service, 2, { truckId: 'T9', cameraId: '1' })).status).toBe(201);
    expect(await continuous('T9', 'front')).toHaveLength(3);
    const counted = await service.dataSource.query<unknown[]>(
      "SELECT camera_id, sum(rows)::int AS rows FROM reference_recording_days WHERE truck_id = 'T9' AND rows > 0 GROUP BY camera_id",
    );
    expect(counted).toEqual([{ camera_id: 'front', rows: 3 }]);
  });

  it('joins what both names had, and may be the former own name', async () => {
    await recordAs('T10', 'front', [0]);
    await recordAs('T10', '1', [1]);
    await put('T10', 'front', ['1']);
    expect(await continuous('T10', '1')).toEqual(['front 30', 'front 31']);
    await put('T10', '1', ['front']);
    expect(await continuous('T10', 'front')).toEqual(['1 30', '1 31']);
  });

  it('leaves other trucks, other cameras, and what another camera had under an alias', async () => {
    for (const truckId of ['T11', 'T12']) await recordAs(truckId, '1', [0]);
    await recordAs('T11', 'rear', [0]);
    await put('T11', 'rear', ['2']);
    await put('T11', 'front', ['1', '2']);
    expect(await continuous('T11', 'rear')).toEqual(['rear 30']);
    expect(await continuous('T11', '2')).toEqual(['front 30']);
    expect(await continuous('T12', '1')).toEqual(['1 30']);
  });

  it('may be sent twice, together with the camera id: it is one camera', async () => {
    const { status, body } = await put('T18', 'front', ['2', '1', 'front', '1']);
    expect([status, body]).toMatchObject([200, { cameraId: 'front', aliases: ['1', '2'] }]);
  });

  it('ends the other names of a camera that is another one now', async () => {
    await recordAs('T13', '1', [0]);
    await put('T13', '1', ['cabin']);
    await put('T13', 'front', ['1']);
    expect(await continuous('T13', 'cabin')).toBe(404);
    await put('T13', 'front', ['1', 'cabin']);
    expect(await continuous('T13', 'cabin')).toEqual(['front 30']);
  });

  it('where both have a recording of one start: 409 that names it, and nothing is changed', async () => {
    await recordAs('T14', '1', [0, 1]);
    await recordAs('T14', 'front', [1]);
    const { status, body } = await put<ErrorAnswer>('T14', 'front', ['1', 'cabin']);
    expect(status).toBe(409);
    expect(body.error.code).toBe('CONFLICT');
    expect(body.error.message).toContain('2026-01-31T08:31:00Z');
    expect(await continuous('T14', '1')).toEqual(['1 30', '1 31']);
    expect(await continuous('T14', 'front')).toEqual(['front 31']);
    expect(await continuous('T14', 'cabin')).toBe(404);
  });

  it('where two of its names have recordings of one start: 409 that names the first of them', async () => {
    for (const cameraId of ['1', 'cabin']) await recordAs('T17', cameraId, [1, 0]);
    const { status, body } = await put<ErrorAnswer>('T17', 'front', ['1', 'cabin']);
    expect([status, body.error.message]).toEqual([409, expect.stringContaining('2026-01-31T08:30:00Z')]);
  });

  it('takes along a request that is under way, whose run begins again', async () => {
    await recordAs('T15', '1', [0]);
    const [id, token] = ['019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d', '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4e'];
    await service.dataSource.query(
      `INSERT INTO reference_video_requests (id, customer_id, truck_id, camera_id, start_time, end_time, status, due_at,
         leased_until, lease_token)
       VALUES ($1, $2, 'T15', '1', $3, $4, 'processing', now() + interval '1 hour', now() + interval '1 hour', $5)`,
      [id, CUSTOMER, at(0), at(0.25), token],
    );
    await put('T15', 'front', ['1']);
    await ready(id);
    expect((await clips({ requestId: id })).videos).toMatchObject([{ cameraId: 'front' }]);
  });

  it('applies to an upload that began before', async () => {
    const bytes = demoVideo(0);
    let send: (rest: Uint8Array) => void = () => undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (stream) => {
        stream.enqueue(bytes.subarray(0, 1_000));
        send = (rest) => (stream.enqueue(rest), stream.close());
      },
    });
    const parameters = query({ truckId: 'T16', cameraId: '1', startTime: at(0), endTime: at(1) });
    const sent = fetch(`${service.url}/admin/v1/hosted/recordings?${parameters}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, 'Content-Type': 'video/mp4' },
      body,
      duplex: 'half',
    });
    await new Promise((later) => setTimeout(later, 300));
    await put('T16', 'front', ['1']);
    send(bytes.subarray(1_000));
    expect((await sent).status).toBe(201);
    expect(await continuous('T16', '1')).toEqual(['front 30']);
  });
});
