import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DownloadErrorKind } from '../../../src/vision/downloads/download-error.js';
import { interrupted, MIB, sha256 } from '../../shared/storage-cases.js';
import { DownloaderScene } from './downloader-scene.js';
import { ResumedDownloads } from '../../support/resumed-downloads.js';
import { serveFile } from '../../support/file-host.js';
import { sampleVideo } from '../../support/sample-video.js';

const body = sampleVideo(3 * MIB);
const small = sampleVideo(40_000);

let scene: DownloaderScene;
beforeAll(async () => void (scene = await DownloaderScene.start()));
afterAll(() => scene.stop());
beforeEach(() => scene.nextFile());

/** A first attempt that breaks in the middle. */
async function breakOff(answer: Parameters<typeof serveFile>[1], content: Buffer = body): Promise<void> {
  scene.host.answer(serveFile(content, { ...answer, breakAfter: 2 * MIB }));
  expect(await scene.failure()).toMatchObject({ kind: 'retryable', keepsBytes: true });
  scene.host.asked.length = 0;
}

describe('an interrupted download resumes', () => {
  const monday = 'Mon, 01 Jan 2024 00:00:00 GMT';

  test.each([
    ['by its ETag', { etag: '"v1"' }, '"v1"'],
    ['by its Last-Modified', { lastModified: monday }, monday],
  ])('%s', async (_, answer, validator) => {
    await breakOff(answer);
    scene.host.answer(serveFile(body, answer));
    const downloaded = await scene.download();
    expect(downloaded.resumedFrom).toBe(2 * MIB);
    expect(scene.host.asked).toEqual([expect.objectContaining({ 'if-range': validator, range: `bytes=${2 * MIB}-` })]);
    await scene.expectStored(downloaded, body);
  });

  test.each<[string, number, DownloadErrorKind]>([
    ['shorter than its range', -1, 'retryable'],
    ['longer than its range', 1, 'wrong-length'],
  ])('and fails if the rest is %s', async (_, more, kind) => {
    await breakOff({ etag: '"v1"' });
    scene.host.answer((req, res) => {
      const from = Number(/\d+/.exec(req.headers.range ?? '')?.[0]);
      res.writeHead(206, { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` });
      res.end(Buffer.alloc(body.length - from + more));
    });
    expect(await scene.failure()).toMatchObject({ kind });
  });

  test('without a request if only the publication is missing', async () => {
    const file = new ResumedDownloads(scene.storage, scene.name);
    const point = await interrupted(scene.storage, scene.name, body, body.length);
    file.point = { ...point, validator: '"v1"' };
    const downloaded = await file.download({ url: scene.host.link });
    expect(downloaded).toMatchObject({ sha256: sha256(body), resumedFrom: body.length });
    expect(scene.host.asked).toEqual([]);
  });
});

describe('an interrupted download starts from zero', () => {
  const other = sampleVideo(3 * MIB);
  const part =
    (headers: Record<string, string>, from = 0): RequestListener =>
    (req, res) => {
      if (req.headers.range === undefined) return serveFile(other, { etag: '"v2"' })(req, res);
      const rest = other.subarray(from || Number(/\d+/.exec(req.headers.range)?.[0]));
      const start = other.length - rest.length;
      const contentRange = `bytes ${start}-${other.length - 1}/${other.length}`;
      res.writeHead(206, { 'content-length': rest.length, 'content-range': contentRange, ...headers }).end(rest);
    };

  test.each<[string, RequestListener, number]>([
    ['the ETag has changed', serveFile(other, { etag: '"v2"' }), 1],
    ['the host does not support ranges', serveFile(other, { etag: '"v1"', ranges: false }), 1],
    ['the host sends a range of another file', part({ etag: '"v2"' }), 2],
    ['the host sends another range', part({ etag: '"v1"' }, 1000), 2],
    ['the total has changed', part({ etag: '"v1"', 'content-range': 'bytes 2097152-3145727/3145799' }), 2],
    ['the range is compressed', part({ etag: '"v1"', 'content-encoding': 'gzip' }), 2],
    ['the host does not name the range', part({ etag: '"v1"', 'content-range': 'none' }), 2],
    [
      'the host names the range, but sends another whole file',
      (req, res) => {
        const from = /\d+/.exec(req.headers.range ?? '')?.[0];
        res.setHeader('content-range', `bytes ${from}-${other.length - 1}/${other.length}`);
        res.writeHead(200).end(other);
      },
      1,
    ],
    [
      'the host answers 416',
      (req, res) =>
        req.headers.range === undefined ? serveFile(other, { etag: '"v2"' })(req, res) : res.writeHead(416).end(),
      2,
    ],
  ])('if %s', async (_, answer, requests) => {
    await breakOff({ etag: '"v1"' });
    scene.host.answer(answer);
    const downloaded = await scene.download();
    expect(scene.host.asked).toHaveLength(requests);
    expect(downloaded.resumedFrom).toBe(0);
    await scene.expectStored(downloaded, other);
  });

  test.each<[string, Parameters<typeof serveFile>[1]]>([
    ['a weak ETag', { etag: 'W/"v1"' }],
    ['no validator', {}],
    ['no length', { etag: '"v1"', length: false }],
    ['a Last-Modified that is too recent', { lastModified: 'Fri, 01 Jan 2100 00:00:00 GMT' }],
  ])('if the host sent %s', async (_, answer) => {
    await breakOff(answer);
    expect(await scene.drafts()).toEqual([]);
    expect(scene.resumePoint).toBeUndefined();
    scene.host.answer(serveFile(body, answer));
    await scene.expectStored(await scene.download(), body);
    expect(scene.host.asked[0]).not.toHaveProperty('range');
  });
});

test('a download whose draft was replaced by another owner can be retried, and publishes nothing', async () => {
  const { promise: received, resolve: onReceived } = Promise.withResolvers<number>();
  const { promise: replaced, resolve: finish } = Promise.withResolvers<void>();
  scene.host.answer((_, res) => {
    res.writeHead(200, { 'content-length': small.length }).write(small.subarray(0, 1_000));
    void replaced.then(() => res.end(small.subarray(1_000)));
  });
  const failed = scene.failure({ onReceived });
  await received;
  const successor = await scene.storage.createDraft(scene.name);
  finish();
  expect(await failed).toMatchObject({ kind: 'retryable', message: expect.stringMatching(/^Another attempt/) });
  await successor.discard();
});
