import { randomBytes } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { DownloadErrorKind } from '../../../../src/vision/downloads/download-error.js';
import { Downloader } from '../../../../src/vision/downloads/downloader.js';
import { interrupted, MIB, sha256 } from '../../../shared/storage-cases.js';
import { DownloaderScene, sendsChunked } from './downloader-scene.js';
import { ResumedDownloads } from '../../../support/resumed-downloads.js';
import { serveFile } from '../../../support/file-host.js';
import { box, sampleVideo, FTYP, MOOV } from '../../../support/sample-video.js';

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

describe('a whole file', () => {
  const fragments = [1, 2, 3].flatMap((n) => [box('moof', randomBytes(90)), box('mdat', randomBytes(n * 9_000))]);
  const fragmented = Buffer.concat([FTYP, MOOV, ...fragments, box('mfra', randomBytes(50))]);

  test.each([
    ['with its length', serveFile(body, { etag: '"v1"' }), body],
    ['of a few bytes', serveFile(small, { etag: '"v1"' }), small],
    ['without its length', sendsChunked(small), small],
    ['in fragments', sendsChunked(fragmented), fragmented],
  ])('%s is stored', async (_, answer, expected) => {
    scene.host.answer(answer);
    await scene.expectStored(await scene.download({ limits: { maxBytes: expected.length } }), expected);
  });

  test('with bytes after its last box is stored, and their number is returned', async () => {
    const longer = Buffer.concat([small, Buffer.from('<html><body>Sign in</body></html>')]);
    scene.host.answer(sendsChunked(longer));
    const downloaded = await scene.download();
    expect(downloaded.trailingBytes).toBe(longer.length - small.length);
    await scene.expectStored(downloaded, longer);
  });

  test('reports its progress', async () => {
    scene.host.answer(serveFile(body));
    const seen: number[] = [];
    await scene.download({ onReceived: (bytes) => seen.push(bytes) });
    expect(seen.length).toBeGreaterThan(6);
    expect(seen.at(-1)).toBe(body.length);
  });

  test('of any size takes only the memory of the bytes that are not yet written', async () => {
    const large = sampleVideo(48 * MIB);
    scene.host.answer(serveFile(large));
    const before = process.memoryUsage().arrayBuffers;
    let peak = 0;
    const onReceived = (): void => void (peak = Math.max(peak, process.memoryUsage().arrayBuffers - before));
    expect((await scene.download({ onReceived })).sha256).toBe(sha256(large));
    expect(peak).toBeLessThan(24 * MIB);
  });

  test('is requested without a key, a cookie or compression, over a connection of its own', async () => {
    scene.host.answer(serveFile(small));
    await scene.download();
    const names = ['accept', 'accept-encoding', 'connection', 'host', 'user-agent', 'x-request-id'];
    expect(Object.keys(scene.host.asked[0] ?? {}).sort()).toEqual(names);
    expect(scene.host.asked[0]).toMatchObject({ 'accept-encoding': 'identity', connection: 'close' });
  });
});

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

  test('with a new link after the first one was refused', async () => {
    await breakOff({ etag: '"v1"' });
    scene.host.answer((_, res) => res.writeHead(403).end());
    expect(await scene.failure()).toMatchObject({ kind: 'link-refused', keepsBytes: true });
    scene.host.answer(serveFile(body, { etag: '"v1"' }));
    const downloaded = await scene.download({ url: scene.host.link.replace('top', 'other') });
    expect(downloaded.resumedFrom).toBe(2 * MIB);
    await scene.expectStored(downloaded, body);
  });

  test('without a request if only the publication is missing', async () => {
    const file = new ResumedDownloads(scene.storage, scene.name);
    const point = await interrupted(scene.storage, scene.name, body, body.length);
    file.point = { ...point, validator: '"v1"' };
    const downloaded = await file.download({ url: scene.host.link });
    expect(downloaded).toMatchObject({ sha256: sha256(body), resumedFrom: body.length });
    expect(scene.host.asked).toEqual([]);
  });

  test('after the signal stopped it', async () => {
    const stop = new AbortController();
    scene.host.answer((_, res) => {
      res.writeHead(200, { etag: '"v1"', 'content-length': body.length });
      res.write(body.subarray(0, 2 * MIB));
    });
    const onReceived = (bytes: number): void => void (bytes > 1.5 * MIB && stop.abort());
    expect(await scene.failure({ signal: stop.signal, onReceived })).toMatchObject({ kind: 'cancelled' });
    scene.host.answer(serveFile(body, { etag: '"v1"' }));
    const downloaded = await scene.download();
    expect(downloaded.resumedFrom).toBeGreaterThan(0);
    await scene.expectStored(downloaded, body);
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

  test('and the signal stops the second request too', async () => {
    await breakOff({ etag: '"v1"' });
    const stop = new AbortController();
    scene.host.answer((req, res) => (req.headers.range === undefined ? stop.abort() : res.writeHead(416).end()));
    expect(await scene.failure({ signal: stop.signal })).toMatchObject({ kind: 'cancelled' });
    expect(scene.host.asked).toHaveLength(2);
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

  test('if the first file was not a valid MP4', async () => {
    const page = Buffer.from('<html>One moment</html>');
    scene.host.answer(serveFile(page, { etag: '"v1"' }));
    expect(await scene.failure()).toMatchObject({ kind: 'invalid-mp4' });
    scene.host.answer(serveFile(small, { etag: '"v1"' }));
    await scene.expectStored(await scene.download(), small);
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

describe('a host', () => {
  const head = { 'content-length': body.length, etag: '"v1"' };
  const limits = { firstByteMs: 150, idleMs: 150 };

  test.each<[string, RequestListener, string]>([
    ['never answers', () => undefined, 'did not answer'],
    ['stops in the middle', (_, res) => void res.writeHead(200, head).write(small), 'sent nothing'],
  ])('that %s is retried later', async (_, answer, words) => {
    scene.host.answer(answer);
    const failed = await scene.failure({ limits });
    expect(failed).toMatchObject({ kind: 'retryable', message: expect.stringContaining(words) });
  });

  test('that sends without end is cut off at the limit', async () => {
    scene.host.answer((_, res) => {
      const more = (): void => {
        while (!res.destroyed && res.write(body.subarray(0, 65_536)));
      };
      res.on('drain', more);
      more();
    });
    expect(await scene.failure({ limits: { maxBytes: 2 * MIB } })).toMatchObject({ kind: 'too-large' });
    expect(await scene.drafts()).toEqual([]);
  });

  test.each([
    ['a private address', 'https://127.0.0.1/x', 'not a public one'],
    ['plain http', 'http://video.example.com/x', 'https://'],
  ])('that redirects to %s is refused (decision 50)', async (_, location, words) => {
    // The host of this test is private: the rule holds from its response on.
    const policy = { allowPrivate: true };
    scene.host.answer((_req, res) => {
      policy.allowPrivate = false;
      res.writeHead(302, { location }).end();
    });
    const downloaded = new Downloader(scene.storage, policy).download({ url: scene.host.link, name: scene.name });
    const refusal = { kind: 'address-refused', message: expect.stringContaining(words) };
    await expect(downloaded).rejects.toMatchObject(refusal);
    expect(scene.host.asked).toHaveLength(1);
  });

  test('whose address is private is not asked at all (decision 50)', async () => {
    const url = scene.host.link.replace('http:', 'https:');
    const downloaded = new Downloader(scene.storage, { allowPrivate: false }).download({ url, name: scene.name });
    await expect(downloaded).rejects.toMatchObject({ kind: 'address-refused', keepsBytes: false });
    expect(scene.host.asked).toEqual([]);
  });
});
