import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { HostedVideoRequest } from '../../../../src/contracts/admin/hosted.dto.js';
import type { List } from '../../../../src/contracts/admin/list.dto.js';
import type {
  ContinuousResponse,
  CreateVideoResponse,
  ListVideosResponse,
} from '../../../../src/contracts/vision/vision.dto.js';
import { ClipFolders } from '../../../../src/reference-partner/vision/clip-cutter.js';
import { DraftSweep } from '../../../../src/storage/storage.module.js';
import type { ErrorAnswer } from '../../../shared/post-endpoint.js';
import { issueKey } from '../../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../../support/app.js';
import { eventually } from '../../../support/eventually.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../../../support/reference-vision.js';
import { B_FRAMES, clipFolder, patchBox, readPackets, remux, withMuLaw } from '../../../nightly/media/sample-files.js';

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
  it('moves them and their clips to the camera', async () => {
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
  });

  it('joins the recordings of both names, and may be the former id', async () => {
    await recordAs('T10', 'front', [0]);
    await recordAs('T10', '1', [1]);
    await put('T10', 'front', ['1']);
    expect(await continuous('T10', '1')).toEqual(['front 30', 'front 31']);
    await put('T10', '1', ['front']);
    expect(await continuous('T10', 'front')).toEqual(['1 30', '1 31']);
  });

  it('moves nothing of other trucks, of other cameras, or of the former camera of an alias', async () => {
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

  it('removes the other aliases of a camera that becomes an alias', async () => {
    await recordAs('T13', '1', [0]);
    await put('T13', '1', ['cabin']);
    await put('T13', 'front', ['1']);
    expect(await continuous('T13', 'cabin')).toBe(404);
    await put('T13', 'front', ['1', 'cabin']);
    expect(await continuous('T13', 'cabin')).toEqual(['front 30']);
  });

  it('is 409 if both names have a recording with the same start, which it names; nothing changes', async () => {
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

  it('is 409 if two aliases have recordings with the same start, and names the first one', async () => {
    for (const cameraId of ['1', 'cabin']) await recordAs('T17', cameraId, [1, 0]);
    const { status, body } = await put<ErrorAnswer>('T17', 'front', ['1', 'cabin']);
    expect([status, body.error.message]).toEqual([409, expect.stringContaining('2026-01-31T08:30:00Z')]);
  });

  it('moves a request in progress, whose run starts again', async () => {
    await recordAs('T15', '1', [0]);
    const id = '019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d';
    await service.dataSource.query(
      `INSERT INTO reference_video_requests (id, customer_id, truck_id, camera_id, start_time, end_time, status, due_at,
         started_at)
       VALUES ($1, $2, 'T15', '1', $3, $4, 'processing', now() + interval '1 hour', now() + interval '1 hour')`,
      [id, CUSTOMER, at(0), at(0.25)],
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

const DAY_MS = 86_400_000;
let app: TestApp;
beforeAll(async () => void (app = await startTestApp({ env: { SIDES: new Set(['partner'] as const) } })));
afterAll(() => app.close());

const MINUTE_MS = 60_000;
const untouchedFor = (path: string, ms: number) => {
  const then = new Date(Date.now() - ms);
  return utimes(path, then, then);
};

test('the partial upload of a killed process is removed also where only the partner side runs', async () => {
  const partial = join(new URL(app.env.STORAGE_URL).pathname, '.partial');
  for (const [name, days] of [
    ['old', 3],
    ['young', 1],
  ] as const) {
    await mkdir(join(partial, name), { recursive: true });
    await untouchedFor(join(partial, name), days * DAY_MS);
  }
  expect(await app.app.get(DraftSweep, { strict: false }).sweep()).toBe(1);
  expect(await readdir(partial)).toEqual(['young']);
});

test('the folder of a clip is removed when its process no longer touches it, also at each start; a folder in use stays', async () => {
  const DATA_DIR = await mkdtemp(join(tmpdir(), 'clip-folders-'));
  const place = join(DATA_DIR, 'scratch');
  const folders = new ClipFolders({ DATA_DIR });
  const [dead, young, foreign] = ['haulbridge-clip-dead', 'haulbridge-clip-young', 'of-somebody-else'];
  for (const name of [dead, young, foreign]) await mkdir(join(place, name), { recursive: true });
  await untouchedFor(join(place, young), 14 * MINUTE_MS);
  for (const name of [dead, foreign]) await untouchedFor(join(place, name), 16 * MINUTE_MS);
  const used = await folders.within(0, async (folder) => {
    await untouchedFor(folder, 16 * MINUTE_MS);
    expect(await folders.sweep()).toBe(1);
    expect((await stat(folder)).mtimeMs).toBeGreaterThan(Date.now() - MINUTE_MS);
    expect((await readdir(place)).sort()).toEqual([basename(folder), foreign, young].sort());
    return folder;
  });
  await expect(stat(used)).rejects.toThrow('ENOENT');

  await untouchedFor(join(place, young), 16 * MINUTE_MS);
  await new ClipFolders({ DATA_DIR }).onApplicationBootstrap();
  expect(await readdir(place)).toEqual([foreign]);
  await rm(DATA_DIR, { recursive: true });
});

test('a clip needs room below DATA_DIR before it is cut, and leaves nothing there', async () => {
  const folders = new ClipFolders(app.env);
  await expect(folders.within(2 ** 60, () => Promise.resolve())).rejects.toThrow(/storage is full: .* are free/);
  expect(await readdir(join(app.env.DATA_DIR, 'scratch'))).toEqual([]);
});

test('a clip without room is tried a limited number of times; admins see why at every attempt and at the end', async () => {
  const { key } = await issueKey(app, ['vision']);
  expect((await upload(app, 0)).status).toBe(201);
  const set = (sql: string) => app.dataSource.query(sql);
  await set('UPDATE reference_recordings SET size_bytes = 1152921504606846976');
  const body = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', startTime: at(0), endTime: at(0.5) };
  await app.call('POST', '/video-platform/v1/videos/requests', { headers: { 'API-KEY': key }, body });
  const shown = async () => (await app.admin<List<HostedVideoRequest>>('GET', '/hosted/video-requests')).body.data[0]!;
  const reason = expect.stringMatching(/^The video storage is full: \d+ bytes are needed, \d+ are free for videos\./);
  await eventually(async () =>
    expect(await shown()).toMatchObject({ status: 'processing', attempts: 1, lastError: reason }),
  );
  // The test does not wait for four hours of growing delays.
  await set('UPDATE reference_video_requests SET attempts = 11, due_at = now()');
  await eventually(async () =>
    expect(await shown()).toMatchObject({
      status: 'failed',
      attempts: 12,
      message: 'The clip could not be prepared: its storage did not work.',
      lastError: expect.stringMatching(/^The video storage is full: .* Gave up after 12 attempts\.$/),
    }),
  );
});

const { folder } = clipFolder();

const headers = () => ({ 'API-KEY': key });

async function clipOf(cameraId: string, bytes: Buffer, minutes = 0.5): Promise<ListVideosResponse['data']> {
  expect((await upload(service, 0, { cameraId }, bytes)).status).toBe(201);
  const body = { customerId: CUSTOMER, truckId: TRUCK, cameraId, startTime: at(0), endTime: at(minutes) };
  const asked = await service.call<CreateVideoResponse>('POST', '/video-platform/v1/videos/requests', {
    headers: headers(),
    body,
  });
  const query = new URLSearchParams({ customerId: CUSTOMER, requestId: asked.body.requestId }).toString();
  return eventually(async () => {
    // A failed attempt is not repeated before some seconds have passed; the test does not wait for that.
    await service.dataSource.query('UPDATE reference_video_requests SET due_at = now() WHERE due_at > now()');
    const { body } = await service.call<ListVideosResponse>('GET', `/video-platform/v1/videos?${query}`, {
      headers: headers(),
    });
    expect(body.data.request?.status).not.toBe('processing');
    return body.data;
  });
}

it('a clip of a recording with µ-law sound is delivered without the sound, and says so', async () => {
  const path = await withMuLaw(B_FRAMES, join(folder, 'mu-law.mp4'));
  const { request, videos } = await clipOf('mu-law', await readFile(path));
  expect(request).toMatchObject({
    status: 'ready',
    message: expect.stringContaining('The sound was left out where MP4 cannot hold ulaw.'),
  });
  const target = join(folder, 'clip.mp4');
  await writeFile(target, Buffer.from(await (await fetch(videos[0]?.downloadUrl ?? '')).arrayBuffer()));
  const { video, audio } = await readPackets(target);
  expect([video.length > 0, audio]).toEqual([true, []]);
});

it('a recording that is cut short spoils no clip: it is used up to its last frame, and the message says so', async () => {
  expect((await upload(service, 1, { cameraId: 'short' }, demoVideo(1).subarray(0, 60_000))).status).toBe(201);
  const { request, videos } = await clipOf('short', demoVideo(0), 2);
  expect(request).toMatchObject({
    status: 'ready',
    message: 'A part was left out: the recording that starts at 2026-01-31T08:31:00.000Z: the video is cut short.',
  });
  const [clip] = videos;
  expect(clip?.durationSeconds).toBeGreaterThan(60);
  expect(clip?.durationSeconds).toBeLessThan(120);
});

it.each([0x10000000, 0xffffffff])(
  'a recording with %d samples in a chunk fails with a reason, and blocks nothing',
  async (samples) => {
    let longestMs = 0;
    const timer = setInterval(() => {
      const started = Date.now();
      void service.call('GET', '/health/live').then(() => (longestMs = Math.max(longestMs, Date.now() - started)));
    }, 50);
    try {
      const { request } = await clipOf(`stsc ${samples}`, patchBox(demoVideo(0), 'stsc', 12, samples));
      expect(request).toMatchObject({
        status: 'failed',
        message: expect.stringContaining('damaged table of contents'),
      });
      expect(longestMs).toBeLessThan(2_000);
    } finally {
      clearInterval(timer);
    }
  },
);

it('a recording that ends its process each time fails after three attempts, with the reason', async () => {
  const path = await remux(B_FRAMES, join(folder, 'fragments.mp4'), { fastStart: 'fragmented' });
  const bytes = await readFile(path);
  const run = bytes.indexOf('trun');
  bytes.writeUInt32BE(0, run + 4);
  bytes.writeUInt32BE(0xffffffff, run + 8);
  const { request } = await clipOf('fragments', bytes);
  expect(request).toMatchObject({ status: 'failed', message: expect.stringMatching(/too much memory, 3 times\.$/) });
});
