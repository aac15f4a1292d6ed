import { mkdtemp, readdir, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { openStorage } from '../../src/core/storage/open-storage.js';
import type { Storage } from '../../src/core/storage/storage.js';
import { DownloadError, type DownloadErrorKind } from '../../src/vision/downloads/download-error.js';
import {
  type Downloaded,
  Downloader,
  type DownloadOrder,
  type ResumePoint,
} from '../../src/vision/downloads/downloader.js';
import { contentOf, interrupted, MIB, newName, sha256 } from '../shared/storage-cases.js';
import { type FileHost, LINK_SECRET, serveFile, startFileHost } from '../support/file-host.js';
import { sampleVideo } from '../support/sample-video.js';

const body = sampleVideo(3 * MIB);
const small = sampleVideo(40_000);

let root: string;
let storage: Storage;
let host: FileHost;
/** The name and the resume point of the file of a test, as the row of a recording keeps them. */
let name: string;
let point: ResumePoint | undefined;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'haulbridge-download-'));
  [storage, host] = [await openStorage(`file:${root}`), await startFileHost()];
});
afterAll(async () => {
  await host.stop();
  await rm(root, { recursive: true });
});
beforeEach(() => {
  host.asked.length = 0;
  [name, point] = [newName(), undefined];
});

const download = (order: Partial<DownloadOrder> = {}): Promise<Downloaded> =>
  new Downloader(storage, { allowPrivate: true }).download({
    ...{ name, url: host.link, resume: point },
    onCheckpoint: async (reached) => void (point = reached),
    ...order,
  });

/** A failed attempt: nothing is published, and the error does not contain the link's secret. */
async function failure(order: Partial<DownloadOrder> = {}): Promise<DownloadError> {
  const error: unknown = await download(order).then(
    () => 'no failure',
    (failed: unknown) => failed,
  );
  expect(error).toBeInstanceOf(DownloadError);
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(LINK_SECRET);
  expect(await storage.stat(name)).toBeUndefined();
  return error as DownloadError;
}

async function expectStored(downloaded: Downloaded, expected: Buffer): Promise<void> {
  expect(downloaded).toMatchObject({ size: expected.length, sha256: sha256(expected) });
  expect((await contentOf(storage, name)).equals(expected)).toBe(true);
  expect(await drafts()).toEqual([]);
}

/** Drafts of this file. */
async function drafts(): Promise<string[]> {
  const all = await readdir(join(root, '.partial')).catch(() => []);
  return all.filter((found) => found.includes(name.slice(-40)));
}

/** A first attempt that breaks in the middle. */
async function breakOff(answer: Parameters<typeof serveFile>[1], content: Buffer = body): Promise<void> {
  host.answer(serveFile(content, { ...answer, breakAfter: 2 * MIB }));
  expect(await failure()).toMatchObject({ kind: 'retryable', keepsBytes: true });
  host.asked.length = 0;
}

describe('an interrupted download resumes', () => {
  const monday = 'Mon, 01 Jan 2024 00:00:00 GMT';

  test.each([
    ['by its ETag', { etag: '"v1"' }, '"v1"'],
    ['by its Last-Modified', { lastModified: monday }, monday],
  ])('%s', async (_, answer, validator) => {
    await breakOff(answer);
    host.answer(serveFile(body, answer));
    const downloaded = await download();
    expect(downloaded.resumedFrom).toBe(2 * MIB);
    expect(host.asked).toEqual([expect.objectContaining({ 'if-range': validator, range: `bytes=${2 * MIB}-` })]);
    await expectStored(downloaded, body);
  });

  test.each<[string, number, DownloadErrorKind]>([
    ['shorter than its range', -1, 'retryable'],
    ['longer than its range', 1, 'wrong-length'],
  ])('and fails if the rest is %s', async (_, more, kind) => {
    await breakOff({ etag: '"v1"' });
    host.answer((req, res) => {
      const from = Number(/\d+/.exec(req.headers.range ?? '')?.[0]);
      res.writeHead(206, { 'content-range': `bytes ${from}-${body.length - 1}/${body.length}` });
      res.end(Buffer.alloc(body.length - from + more));
    });
    expect(await failure()).toMatchObject({ kind });
  });

  test('without a request if only the publication is missing', async () => {
    point = { ...(await interrupted(storage, name, body, body.length)), validator: '"v1"' };
    const downloaded = await download();
    expect(downloaded).toMatchObject({ sha256: sha256(body), resumedFrom: body.length });
    expect(host.asked).toEqual([]);
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
    host.answer(answer);
    const downloaded = await download();
    expect(host.asked).toHaveLength(requests);
    expect(downloaded.resumedFrom).toBe(0);
    await expectStored(downloaded, other);
  });

  test.each<[string, Parameters<typeof serveFile>[1]]>([
    ['a weak ETag', { etag: 'W/"v1"' }],
    ['no validator', {}],
    ['no length', { etag: '"v1"', length: false }],
    ['a Last-Modified that is too recent', { lastModified: 'Fri, 01 Jan 2100 00:00:00 GMT' }],
  ])('if the host sent %s', async (_, answer) => {
    await breakOff(answer);
    expect(await drafts()).toEqual([]);
    expect(point).toBeUndefined();
    host.answer(serveFile(body, answer));
    await expectStored(await download(), body);
    expect(host.asked[0]).not.toHaveProperty('range');
  });
});

test('a download whose draft was replaced by another owner can be retried, and publishes nothing', async () => {
  const { promise: received, resolve: onReceived } = Promise.withResolvers<number>();
  const { promise: replaced, resolve: finish } = Promise.withResolvers<void>();
  host.answer((_, res) => {
    res.writeHead(200, { 'content-length': small.length }).write(small.subarray(0, 1_000));
    void replaced.then(() => res.end(small.subarray(1_000)));
  });
  const failed = failure({ onReceived });
  await received;
  const successor = await storage.createDraft(name);
  finish();
  expect(await failed).toMatchObject({ kind: 'retryable', message: expect.stringMatching(/^Another attempt/) });
  await successor.discard();
});
