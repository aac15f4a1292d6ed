import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { serveFile, startFileHost } from '../../support/file-host.js';
import { box, sampleVideo } from '../../support/sample-video.js';
import { CONTINUOUS, type Element, element, inHours, lists, sha256 } from '../../support/scripted-vision.js';
import { testAtOnce } from '../support/at-once.js';
import { callClient } from '../support/clients.js';
import { administer, call, target } from '../support/target.js';
import { VisionScene } from '../support/vision.js';
import { footageCases } from './support/misbehaving-partner.js';
import { arranged, fragmentedForms, framesOf, ORDERS, withCodec } from './support/mp4-variants.js';

const CUSTOMER = `Customer ${randomUUID().slice(0, 8)}`;
const FIRST = Date.parse('2026-01-31T08:30:00Z');
/** A minute of the front camera of the demo: its clock shows the last digit of the minute. */
const recorded = (minute: number): Buffer =>
  readFileSync(join(import.meta.dirname, `../../../src/demo/recordings/front-${minute}.mp4`));
const at = (minutes: number): string => new Date(FIRST + minutes * 60_000).toISOString();

/** Uploads a minute of a camera to the partner side. Returns the status. */
async function upload(cameraId: string, bytes: Buffer, minute = 0): Promise<number> {
  const range = { startTime: at(minute), endTime: at(minute + 1) };
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId: 'TRUCK-7', cameraId, ...range }).toString();
  const headers = { Authorization: `Bearer ${target.adminToken}`, 'Content-Type': 'video/mp4' };
  return (await call('POST', `/admin/v1/hosted/recordings?${query}`, { headers, body: bytes })).status;
}

interface ClipList {
  readonly data: {
    readonly videos: readonly (Element & { startTime: string; durationSeconds: number; downloadUrl: string })[];
    readonly request?: { readonly status: string; readonly message?: string };
  };
}

let key: Promise<string> | undefined;
const issued = async () =>
  (await administer<{ key: string }>('POST', '/api-keys', { interfaces: ['vision'], allCustomers: true })).key;

/** The clip of a range of minutes of a camera, and the state of its request. */
async function clipOf(cameraId: string, from = 0.25, to = 0.5) {
  const range = { customerId: CUSTOMER, truckId: 'TRUCK-7', cameraId, startTime: at(from), endTime: at(to) };
  const credential = { key: await (key ??= issued()) };
  const { body } = await callClient<{ requestId: string }>('requestVideo', { given: range, ...credential });
  const query = { customerId: CUSTOMER, requestId: body.requestId };
  return eventually(
    async () => {
      const list = await callClient<ClipList>('listVideos', { given: query, ...credential });
      const { request, videos } = list.body.data;
      expect(request?.status).not.toBe('processing');
      const [clip] = videos;
      const bytes = clip && Buffer.from(await (await fetch(clip.downloadUrl)).arrayBuffer());
      return { request, clip, bytes };
    },
    45_000,
    100,
  );
}

/** Files whose boxes are whole, in orders that recorders write. */
const WHOLE = [
  ...ORDERS.map(({ name, source, parts }) => ({ name, source, file: arranged(recorded(0), parts) })),
  ...(await fragmentedForms(recorded(0))),
];

footageCases(
  'a file is whole when its boxes are (decision 65)',
  WHOLE.map(({ file, ...row }) => ({ ...row, file, answers: () => [serveFile(file)], tries: 1 })),
);

testAtOnce(
  'an upload to the partner side is taken with $name ($source) (decision 65)',
  WHOLE,
  async ({ name, file }) => {
    expect(await upload(name, file)).toBe(201);
  },
);

const CUT = new Set(['mdat to the end of the file', 'fragments', 'fragments with styp first']);

testAtOnce(
  'a clip is trimmed of a recording with $name ($source) (decisions 44, 65)',
  WHOLE.filter(({ name }) => CUT.has(name)),
  async ({ name, file }) => {
    const cameraId = `cut ${name}`;
    expect(await upload(cameraId, file)).toBe(201);
    const { request, clip, bytes } = await clipOf(cameraId);
    expect([request, clip?.startTime, clip?.durationSeconds]).toEqual([
      { requestId: expect.any(String), status: 'ready' },
      at(0.25).replace('.000', ''),
      15,
    ]);
    const frames = await framesOf(bytes ?? Buffer.alloc(0));
    expect(frames).toEqual((await framesOf(recorded(0))).slice(150, 300));
  },
);

testAtOnce(
  'a recording that cannot be trimmed is listed whole, with $name ($source) (decisions 44, 65)',
  [
    ...WHOLE.filter(({ name }) => ['mdat first, moov at the end, no ftyp', 'fragments after free'].includes(name)),
    { name: 'MPEG-4 part 2', source: 'the recorders of one fleet', file: withCodec(recorded(0), 'mp4v') },
    { name: 'H.266', source: 'a codec that is newer than this service', file: withCodec(recorded(0), 'vvc1') },
    { name: 'half of its bytes', source: 'a recorder that lost power', file: recorded(0).subarray(0, 30_000) },
  ],
  async ({ name, file }) => {
    const cameraId = `whole ${name}`;
    expect(await upload(cameraId, file)).toBe(201);
    const { request, clip, bytes } = await clipOf(cameraId);
    expect(bytes?.equals(file)).toBe(true);
    expect(clip?.durationSeconds).toBe(60);
    const message = expect.stringMatching(
      /starts at 2026-01-31T08:30:00Z is listed whole, because it cannot be trimmed: it/,
    );
    expect(request).toMatchObject({ status: 'ready', message });
  },
);

testAtOnce(
  '$name is refused with 400 (uploads of the wrong file)',
  [
    { name: 'a page', bytes: Buffer.from('<!DOCTYPE html><html></html>') },
    { name: 'a picture', bytes: Buffer.from('ffd8ffe000104a46494600010101004800480000', 'hex') },
    { name: 'a transport stream', bytes: Buffer.alloc(1880, 'G@\0\x10'.padEnd(188, '\xff'), 'latin1') },
    { name: 'a box of no MP4', bytes: box('RIFF', Buffer.alloc(100)) },
    { name: 'a free box of an impossible size', bytes: Buffer.from('\0\0\0\x05free\0\0\0\0', 'latin1') },
  ],
  async ({ name, bytes }) => expect(await upload(name, bytes)).toBe(400),
);

const raw =
  (head: string, bytes: (file: Buffer) => Buffer) =>
  (file: Buffer): RequestListener[] => [
    (_, { socket }) => {
      const text = `HTTP/1.1 200 OK${head.replace('LENGTH', `Content-Length: ${file.length}`)}`;
      socket?.end(Buffer.concat([Buffer.from(text, 'latin1'), bytes(file)]));
    },
  ];
const asIs = (file: Buffer): Buffer => file;
const inChunks = (file: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${file.length.toString(16)}\r\n`), file, Buffer.from('\r\n0\r\n\r\n')]);
const coded = (coding: string) => raw(`\r\nLENGTH\r\nContent-Encoding: ${coding}\r\n\r\n`, asIs);

// A host that is read leniently is known after its first answer.
footageCases(
  "what curl reads of other people's HTTP is read (decision 64)",
  [
    {
      name: 'a Content-Length beside chunks',
      source: 'a proxy that adds headers',
      answers: raw('\r\nLENGTH\r\nTransfer-Encoding: chunked\r\n\r\n', inChunks),
    },
    {
      name: 'a wrong Content-Length beside chunks',
      source: 'the same',
      answers: raw('\r\nContent-Length: 7\r\nTransfer-Encoding: chunked\r\n\r\n', inChunks),
    },
    {
      name: 'lines without a carriage return',
      source: 'a recorder with a server of its own',
      answers: raw('\nLENGTH\n\n', asIs),
    },
    { name: 'aws-chunked as its coding', source: 'uploads by an SDK', answers: coded('aws-chunked') },
    { name: 'a character set as its coding', source: 'an upload script', answers: coded('utf-8') },
    { name: 'binary as its coding', source: 'another upload script', answers: coded('binary') },
    { name: 'base64 as its coding', source: 'a mail gateway', answers: coded('base64') },
    { name: 'identity, twice', source: 'two proxies', answers: coded('identity, identity') },
  ].map((row) => ({ ...row, isRepeated: true as const })),
);

testAtOnce(
  'a redirect to an address in $name is followed (decision 64)',
  [
    { name: 'raw UTF-8', location: Buffer.from('/Straße.mp4').toString('latin1') },
    { name: 'raw Latin-1', location: '/Straße.mp4' },
  ],
  async ({ location }) => {
    const vision = await VisionScene.create();
    const host = await startFileHost();
    const file = sampleVideo(20_000);
    host.answer((request, response) => {
      if (request.url === '/Stra%C3%9Fe.mp4') serveFile(file)(request, response);
      else response.writeHead(302, { location }).end();
    });
    const chunk = element({ startTime: inHours(-2), endTime: inHours(-1.9), downloadUrl: host.link });
    vision.partner.on(
      CONTINUOUS,
      lists('recordings', () => [chunk]),
    );
    await vision.follow({ startTime: inHours(-3) });
    await vision.recordingsBecome([{ status: 'stored', sha256: sha256(file) }]);
  },
);
