import { readFile, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { CreateVideoResponse, ListVideosResponse } from '../../../src/contracts/vision/vision.dto.js';
import { cutClip } from '../../../src/reference-partner/vision/media/cut-clip.js';
import { clipFolder, demo, readPackets, remux } from '../../nightly/media/sample-files.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { at, CUSTOMER, demoVideo, upload } from '../../support/reference-vision.js';
import { serveFile } from '../../support/file-host.js';
import { box, sampleVideo } from '../../support/sample-video.js';
import { DownloaderScene } from '../../integration/vision/downloads/downloader-scene.js';
import { arranged, filler, type Part, withCodec } from './support/mp4-variants.js';

let service: TestApp;
let key: string;
beforeAll(async () => {
  service = await startTestApp();
  ({ key } = await issueKey(service, ['vision']));
});
afterAll(() => service.close());

const { folder } = clipFolder();

const call = async <Body>(method: string, path: string, body?: unknown) =>
  (await service.call<Body>(method, path, { headers: { 'API-KEY': key }, body })).body;

/** The clip of a quarter of a minute within the recording of the camera, and the state of its request. */
async function clipOf(cameraId: string, from = 0.25, to = 0.5) {
  const range = { customerId: CUSTOMER, truckId: 'TRUCK-7', cameraId, startTime: at(from), endTime: at(to) };
  const { requestId } = await call<CreateVideoResponse>('POST', '/video-platform/v1/videos/requests', range);
  const query = new URLSearchParams({ customerId: CUSTOMER, requestId }).toString();
  return eventually(async () => {
    const { data } = await call<ListVideosResponse>('GET', `/video-platform/v1/videos?${query}`);
    expect(data.request?.status).not.toBe('processing');
    const [clip] = data.videos;
    const bytes = clip && Buffer.from(await (await fetch(clip.downloadUrl)).arrayBuffer());
    return { request: data.request, clip, bytes };
  }, 20_000);
}

const framesOf = async (bytes: Buffer | undefined): Promise<string[]> => {
  const path = join(folder, 'read.mp4');
  await writeFile(path, bytes ?? '');
  return (await readPackets(path)).video.map(({ sha256 }) => sha256);
};

interface Order {
  readonly name: string;
  /** What happened to whom. */
  readonly source: string;
  readonly parts: readonly Part[];
}

const ORDERS: readonly Order[] = [
  {
    name: 'free first',
    source: 'a muxer that reserves room for its index',
    parts: [filler('free'), 'ftyp', 'moov', 'mdat'],
  },
  {
    name: 'several free boxes, one of them empty',
    source: 'an exporter that removed metadata in place',
    parts: [filler('free'), filler('free', 0), filler('free', 70_000), 'ftyp', 'mdat', 'moov'],
  },
  {
    name: 'wide before mdat, no ftyp',
    source: 'QuickTime files of before 2001',
    parts: [filler('wide', 0), 'mdat', 'moov'],
  },
  {
    name: 'skip first',
    source: 'a phone that updates its videos in place',
    parts: [filler('skip'), 'ftyp', 'moov', 'mdat'],
  },
  {
    name: 'mdat first, moov at the end, no ftyp',
    source: 'recorders that write the index last',
    parts: ['mdat', 'moov'],
  },
  { name: 'moov first, no ftyp', source: 'a fast-start tool for QuickTime', parts: ['moov', 'mdat'] },
  { name: 'moov first, then ftyp', source: 'a dash camera of one vendor', parts: ['moov', 'ftyp', 'mdat'] },
  {
    name: 'mdat with a size of 64 bits first',
    source: 'recorders that reserve for 4 GiB',
    parts: ['mdat of 64 bits', 'moov'],
  },
  {
    name: 'mdat to the end of the file',
    source: 'a recorder that does not know its end',
    parts: ['ftyp', 'moov', 'mdat to the end'],
  },
  { name: 'moov first, mdat to the end', source: 'the same without ftyp', parts: ['moov', 'mdat to the end'] },
  {
    name: 'uuid first',
    source: 'an action camera with its telemetry first',
    parts: [filler('uuid'), 'ftyp', 'moov', 'mdat'],
  },
  { name: 'pnot first', source: 'videos with a preview picture', parts: [filler('pnot', 12), 'moov', 'mdat'] },
];

/** Cuts a quarter of a minute as the process does that prepares clips. */
async function cutOf(file: Buffer) {
  const source = {
    size: file.length,
    read: (start: number, end: number) => Promise.resolve(file.subarray(start, end)),
  };
  const [startTime, endTime] = [new Date(at(0)), new Date(at(1))];
  const range = { startTime: new Date(at(0.25)), endTime: new Date(at(0.5)) };
  const target = join(folder, 'cut.mp4');
  const clip = await cutClip({ chunks: [{ startTime, endTime, source }], range, target });
  return { clip, frames: clip.uncut === undefined ? await framesOf(await readFile(target)) : [] };
}

async function fragmented(): Promise<Buffer> {
  return readFile(await remux(demo(0), join(folder, 'fragments.mp4'), { fastStart: 'fragmented' }));
}

describe('a recording with its boxes in any order is taken and cut (decision 65)', () => {
  test.each(ORDERS)('$name ($source)', async ({ name, parts }) => {
    const file = arranged(demoVideo(0), parts);
    expect((await upload(service, 0, { cameraId: name }, file)).status).toBe(201);
    const { clip, frames } = await cutOf(file);
    expect(clip.missing).toEqual([]);
    expect(frames.length).toBeGreaterThan(10);
    expect((await framesOf(demoVideo(0))).join()).toContain(frames.join());
  });

  test.each<[string, string, (file: Buffer) => Buffer]>([
    ['fragments', 'a streaming encoder', (file) => file],
    ['fragments with styp first', 'a segmenter', (file) => Buffer.concat([filler('styp', 8), file])],
    ['fragments after free', 'the same with room at its start', (file) => Buffer.concat([filler('free'), file])],
  ])('%s (%s)', async (cameraId, _, change) => {
    const file = change(await fragmented());
    expect((await upload(service, 0, { cameraId }, file)).status).toBe(201);
    expect((await cutOf(file)).frames.length).toBeGreaterThan(10);
  });

  test('and is served: listed, requested as a clip, and fetched', async () => {
    await upload(service, 0, { cameraId: 'served' }, arranged(demoVideo(0), ['moov', 'mdat']));
    const { request, clip, bytes } = await clipOf('served');
    expect(request).toEqual({ requestId: expect.any(String), status: 'ready' });
    expect(clip?.durationSeconds).toBeLessThan(30);
    expect((await framesOf(bytes)).length).toBeGreaterThan(10);
  });
});

describe('a recording that cannot be cut is used as a whole', () => {
  test.each<[string, string, string]>([
    ['MPEG-4 part 2', 'the recorders of one fleet', 'mp4v'],
    ['motion JPEG', 'old analogue cameras behind a video server', 'jpeg'],
    ['motion JPEG 2000', 'a body camera', 'mjp2'],
    ['H.263', 'a recorder of 2005', 's263'],
    ['H.266', 'a codec that is newer than this service', 'vvc1'],
  ])('%s (%s)', async (_, _source, name) => {
    const { clip } = await cutOf(withCodec(demoVideo(0), name));
    expect(clip.uncut).toEqual({ place: 0, reason: expect.stringContaining(`a codec that cannot be cut (${name})`) });
  });

  test('fragments without ftyp (a recorder that streams)', async () => {
    const file = await fragmented();
    const { clip } = await cutOf(file.subarray(file.readUInt32BE(0)));
    expect(clip.uncut).toEqual({ place: 0, reason: expect.stringContaining('fragmented') });
  });

  test('of several, the one that shows most of the range, with a message; one that can be cut comes first', async () => {
    const old = (minute: number) => withCodec(demoVideo(minute), 'mp4v');
    for (const minute of [0, 1]) await upload(service, minute, { cameraId: 'several' }, old(minute));
    const { request, clip, bytes } = await clipOf('several', 0.8, 1.5);
    expect(bytes?.equals(old(1))).toBe(true);
    expect([clip?.startTime, clip?.endTime].map((time) => Date.parse(time ?? ''))).toEqual(
      [at(1), at(2)].map(Date.parse),
    );
    expect(request).toMatchObject({
      status: 'ready',
      message: [
        'The clip is a whole recording: the recording that starts at 2026-01-31T08:31:00.000Z: its pictures are of a codec that cannot be cut (mp4v).',
        'A part was left out: the recording that starts at 2026-01-31T08:30:00.000Z: its pictures are of a codec that cannot be cut (mp4v).',
      ].join(' '),
    });
    await upload(service, 2, { cameraId: 'several' });
    expect(Date.parse((await clipOf('several', 1.5, 2.5)).clip?.startTime ?? '')).toBe(Date.parse(at(2)));
  });
});

test.each<[string, Buffer]>([
  ['a page', Buffer.from('<!DOCTYPE html><html></html>')],
  ['a picture', Buffer.from('ffd8ffe000104a46494600010101004800480000', 'hex')],
  ['a transport stream', Buffer.alloc(1880, 'G@\0\x10'.padEnd(188, '\xff'), 'latin1')],
  ['a box of no MP4', box('RIFF', Buffer.alloc(100))],
  ['a free box of an impossible size', Buffer.from('\0\0\0\x05free\0\0\0\0', 'latin1')],
])('%s is refused with 400 (uploads of the wrong file)', async (cameraId, bytes) => {
  expect((await upload(service, 0, { cameraId }, bytes)).status).toBe(400);
});

describe("what curl reads of other people's HTTP is read (decision 64)", () => {
  let scene: DownloaderScene;
  beforeAll(async () => void (scene = await DownloaderScene.start()));
  afterAll(() => scene.stop());
  beforeEach(() => scene.nextFile());

  const body = sampleVideo(40_000);
  const length = `Content-Length: ${body.length}`;
  const inChunks = Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]);
  const raw =
    (head: string, bytes: Buffer): RequestListener =>
    (_, { socket }) => {
      socket?.write(Buffer.concat([Buffer.from(`HTTP/1.1 200 OK${head}`, 'latin1'), bytes]));
      socket?.end();
    };
  const coded = (coding: string) => raw(`\r\n${length}\r\nContent-Encoding: ${coding}\r\n\r\n`, body);

  /** A host that is read leniently is known after its first answer. */
  test.each<[string, string, RequestListener]>([
    [
      'a Content-Length beside chunks',
      'a proxy that adds headers',
      raw(`\r\n${length}\r\nTransfer-Encoding: chunked\r\n\r\n`, inChunks),
    ],
    [
      'a wrong Content-Length beside chunks',
      'the same',
      raw('\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n', inChunks),
    ],
    ['lines without a carriage return', 'a recorder with a server of its own', raw(`\n${length}\n\n`, body)],
    ['aws-chunked as its coding', 'uploads by an SDK, kept as a header', coded('aws-chunked')],
    ['a character set as its coding', 'an upload script', coded('utf-8')],
    ['binary as its coding', 'another upload script', coded('binary')],
    ['base64 as its coding', 'a mail gateway', coded('base64')],
    ['identity, twice', 'two proxies', coded('identity, identity')],
  ])('a file with %s is stored (%s)', async (_, _source, answer) => {
    scene.host.answer(answer);
    await scene.expectStored(await scene.download().catch(() => scene.download()), body);
  });

  test.each([
    ['raw UTF-8', Buffer.from('/Straße.mp4').toString('latin1'), '/Stra%C3%9Fe.mp4'],
    ['raw Latin-1', '/Straße.mp4', '/Stra%C3%9Fe.mp4'],
  ])('a redirect to an address in %s is followed', async (_, location, path) => {
    const paths: (string | undefined)[] = [];
    scene.host.answer((req, res) => {
      paths.push(req.url);
      if (req.url !== path) res.writeHead(302, { location }).end();
      else serveFile(body)(req, res);
    });
    await scene.expectStored(await scene.download(), body);
    expect(paths.at(-1)).toBe(path);
  });
});
