import { beforeEach, describe, expect, test } from '@jest/globals';
import { sampleVideo } from '../../support/sample-video.js';
import { sha256 } from '../../support/scripted-vision.js';
import type { ErrorBody } from '../support/hauler.js';
import { at, HostedCustomer, RECORDED } from '../support/hosted.js';
import { admin, call } from '../support/target.js';

let customer: HostedCustomer;
beforeEach(async () => {
  customer = await HostedCustomer.create();
});

/** The recordings of a camera as `camera minute`, or the status of the refusal. */
async function continuous(truckId: string, cameraId: string) {
  const { status, body } = await customer.continuous({ truckId, cameraId });
  return status === 200
    ? body.data.recordings.map((each) => `${each.cameraId} ${each.startTime.slice(14, 16)}`)
    : status;
}

describe('an uploaded recording', () => {
  test('is kept byte for byte, once for each camera and start', async () => {
    const file = sampleVideo();
    const { status, body } = await customer.upload(0, {}, file);
    expect([status, body]).toEqual([
      201,
      { id: expect.stringMatching(/./), sizeBytes: file.length, sha256: sha256(file) },
    ]);
    expect((await customer.upload(0)).status).toBe(409);
    const both = await Promise.all([customer.upload(1), customer.upload(1)]);
    expect(both.map((each) => each.status).sort()).toEqual([201, 409]);
  });

  test.each([
    ['text', Buffer.from('this is not an MP4 file'), 'video/mp4', 400],
    ['nothing', Buffer.alloc(0), 'video/mp4', 400],
    ['an ftyp box too small for a brand', Buffer.from('000000086674797000000000', 'hex'), 'video/mp4', 400],
    ['another media type', RECORDED, 'application/octet-stream', 415],
  ])('is refused, and may come again: %s', async (_, bytes, type, status) => {
    const reply = await customer.upload(0, {}, bytes, type);
    expect([reply.status, reply.body.error.code]).toEqual([status, 'INVALID_PAYLOAD']);
    expect((await customer.upload(0)).status).toBe(201);
  });

  test.each([
    ['no start', { startTime: '' }],
    ['the end before the start', { startTime: at(1), endTime: at(0) }],
    ['the end at the start', { startTime: at(1), endTime: at(1) }],
    ['more than a day', { startTime: at(0), endTime: at(1441) }],
  ])('is refused with %s', async (_, times) => {
    expect((await customer.upload(0, times)).status).toBe(400);
  });

  test('needs the admin token', async () => {
    const headers = { 'Content-Type': 'video/mp4' };
    expect((await call('POST', '/admin/v1/hosted/recordings', { headers, body: RECORDED })).status).toBe(401);
  });

  test('that breaks off leaves nothing', async () => {
    const stop = new AbortController();
    const { body, isRead } = endlessBody();
    const sent = send(body, { cameraId: 'broken' }, stop.signal);
    await isRead;
    stop.abort();
    await expect(sent).rejects.toThrow();
    expect(await continuous('TRUCK-7', 'broken')).toBe(404);
    expect((await customer.upload(0, { cameraId: 'broken' })).status).toBe(201);
    expect(await continuous('TRUCK-7', 'broken')).toEqual(['broken 30']);
  });
});

/** The first bytes of a recording; `finish` sends the rest. */
function endlessBody() {
  const file = sampleVideo();
  let finish: () => void = () => undefined;
  const { promise: isRead, resolve } = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    start(stream) {
      stream.enqueue(file.subarray(0, 1_000));
      finish = () => (stream.enqueue(file.subarray(1_000)), stream.close());
    },
    // It is called again when the first bytes are on their way.
    pull: () => resolve(),
  });
  return { body, isRead, finish: () => finish() };
}

function send(body: ReadableStream<Uint8Array>, fields: Record<string, string>, signal?: AbortSignal) {
  const times = { startTime: at(0), endTime: at(1) };
  const query = new URLSearchParams({ customerId: customer.id, truckId: 'TRUCK-7', ...times, ...fields });
  return fetch(`${customer.service.url}/admin/v1/hosted/recordings?${query.toString()}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${customer.service.adminToken}`, 'Content-Type': 'video/mp4' },
    body,
    duplex: 'half',
    ...(signal === undefined ? {} : { signal }),
  });
}

describe('another name of a camera', () => {
  const put = (truckId: string, cameraId: string, aliases: readonly string[]) =>
    admin<ErrorBody>('PUT', '/hosted/cameras', { customerId: customer.id, truckId, cameraId, aliases });

  test('that is added later has the recordings and the clips of the camera (decision 45)', async () => {
    const times = { startTime: at(0), endTime: at(0.2) };
    await customer.upload(0, { cameraId: '1', ...times }, RECORDED);
    const { body } = await customer.request({ cameraId: '1', ...times });
    await customer.ended(body.requestId);
    expect((await put('TRUCK-7', 'front', ['1'])).status).toBe(200);
    for (const name of ['1', 'front']) {
      expect(await continuous('TRUCK-7', name)).toEqual(['front 30']);
      const { videos, request } = (await customer.videos({ requestId: body.requestId, cameraId: name })).body.data;
      expect([videos.map(({ cameraId }) => cameraId), request?.status]).toEqual([['front'], 'ready']);
    }
    expect((await customer.upload(0, { cameraId: '1' })).status).toBe(409);
    await customer.record([2], { cameraId: '1' });
    expect(await continuous('TRUCK-7', 'front')).toEqual(['front 30', 'front 32']);
  });

  test('joins the recordings of both names, and may be the former id (decision 45)', async () => {
    await customer.record([0]);
    await customer.record([1], { cameraId: '1' });
    await put('TRUCK-7', 'front', ['1']);
    expect(await continuous('TRUCK-7', '1')).toEqual(['front 30', 'front 31']);
    await put('TRUCK-7', '1', ['front']);
    expect(await continuous('TRUCK-7', 'front')).toEqual(['1 30', '1 31']);
  });

  test('moves nothing of other trucks, and takes no recording from another camera (decision 45)', async () => {
    for (const truckId of ['T1', 'T2']) await customer.record([0], { truckId, cameraId: '1' });
    await customer.record([0], { truckId: 'T1', cameraId: 'rear' });
    await put('T1', 'rear', ['2']);
    await put('T1', 'front', ['1', '2']);
    expect(await continuous('T1', 'rear')).toEqual(['rear 30']);
    expect(await continuous('T1', '2')).toEqual(['front 30']);
    expect(await continuous('T2', '1')).toEqual(['1 30']);
  });

  test('takes along no other names of a camera that becomes one (decision 45)', async () => {
    await customer.record([0], { cameraId: '1' });
    await put('TRUCK-7', '1', ['cabin']);
    await put('TRUCK-7', 'front', ['1']);
    expect(await continuous('TRUCK-7', 'cabin')).toBe(404);
  });

  test('is 409 where two names have a recording of the same start, which it names, and changes nothing (decision 45)', async () => {
    await customer.record([0, 1], { cameraId: '1' });
    await customer.record([1]);
    const { status, body } = await put('TRUCK-7', 'front', ['1', 'cabin']);
    expect([status, body.error.code, body.error.message]).toEqual([
      409,
      'CONFLICT',
      expect.stringContaining('2026-01-31T08:31:00Z'),
    ]);
    expect(await continuous('TRUCK-7', '1')).toEqual(['1 30', '1 31']);
    expect(await continuous('TRUCK-7', 'cabin')).toBe(404);
  });

  test('holds for an upload that began before (decision 45)', async () => {
    const { body, isRead, finish } = endlessBody();
    const sent = send(body, { cameraId: '1' });
    await isRead;
    await put('TRUCK-7', 'front', ['1']);
    finish();
    expect((await sent).status).toBe(201);
    expect(await continuous('TRUCK-7', '1')).toEqual(['front 30']);
  });
});
