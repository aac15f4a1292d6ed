import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile, rename, rm, truncate, utimes } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { CreateMultipartUploadCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openStorage } from '../../src/storage/open-storage.js';
import { s3Place } from '../../src/storage/s3-client.js';
import { PART_BYTES, readState, type UploadState } from '../../src/storage/s3-state.js';
import type { Storage } from '../../src/storage/storage.js';
import { WriterSuperseded } from '../../src/storage/storage-errors.js';
import { partialOf } from '../../src/storage/storage-name.js';
import { downloadCases, waitingDownloadCases } from '../shared/download-cases.js';
import { BEGUN, MIB, newName, sha256, storageCases, WHOLE } from '../shared/storage-cases.js';
import { film } from '../support/films.js';
import { held } from '../support/held.js';
import { uploadsFolder, uploadsOf } from '../support/s3-front.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';

/** What runs beside all others keeps its objects apart. */
const BESIDE = 'beside';

let server: S3Server;
let storage: Storage;
let storageBeside: Storage;
// Not within `describe`: what runs beside all others does not wait for that.
beforeAll(async () => {
  server = await startS3Server();
  storage = await openStorage(server.storageUrl('fleet/video'));
  storageBeside = await openStorage(server.storageUrl(BESIDE));
});
afterAll(async () => {
  storage.close();
  storageBeside.close();
  await server.stop();
});

/** Objects that tell of uploads, and the uploads themselves. */
async function leftoversOf(prefix: string, isOurs: (key: string) => boolean): Promise<string[]> {
  const told = await readdir(join(server.directory, prefix, '.partial')).catch(() => []);
  return [...told, ...(await server.keysOfUploads()).filter(isOurs).map((key) => key.replaceAll('/', '~'))];
}

/** Of the upload's parts that the object beside it tells of, as the server keeps that object. */
async function bytesKept(name: string): Promise<number> {
  const path = join(server.directory, BESIDE, `${partialOf(name)}.json._S3rver_object`);
  const { parts } = JSON.parse(await readFile(path, 'utf8')) as UploadState;
  return parts.length * PART_BYTES;
}

/** Where the server keeps the first part of the upload of that name. */
async function firstPartOf(name: string): Promise<string> {
  const upload = (await uploadsOf(server.directory)).find(({ key }) => key === `fleet/video/${name}`);
  return join(uploadsFolder(server.directory), upload?.id ?? 'none', '1');
}

describe('S3', () => {
  const isOurs = (key: string) => !key.startsWith(`${BESIDE}/`);
  const leftovers = () => leftoversOf('fleet/video', isOurs);
  storageCases(() => ({ storage, leftovers }));
  describe('downloads', () => {
    downloadCases(() => ({ storage, leftovers }));
    waitingDownloadCases(() => ({
      storage: storageBeside,
      leftovers: () => leftoversOf(BESIDE, (key) => key.startsWith(`${BESIDE}/`)),
      storageUrl: server.storageUrl(BESIDE),
      kept: bytesKept,
    }));
  });

  test.each([
    ['before its last part', 6, 7],
    ['before it was put together', 10, 0],
  ])('an upload that the server gave up %s is begun again the next time', async (_, before, after) => {
    const name = newName();
    const first = await storage.writer(name);
    await first.begin({ validator: '"v"', total: 12 * MIB });
    await first.append(randomBytes(before * MIB));
    await first.suspend();
    await rm(uploadsFolder(server.directory), { recursive: true });
    const second = await storage.writer(name);
    expect(second.length).toBe(Math.floor(before / 5) * 5 * MIB);
    const goneOn = second.append(randomBytes(after * MIB)).then(() => second.publish());
    await expect(goneOn).rejects.toThrow(WriterSuperseded);
    await second.suspend().catch(() => undefined);
    expect((await storage.writer(name)).length).toBe(0);
    expect(await leftovers()).toEqual([]);
  });

  test('what fills no part is given up without a trace', async () => {
    const name = newName();
    const first = await storage.writer(name);
    await first.begin({ validator: '"v"', total: 12 * MIB });
    await first.append(randomBytes(MIB));
    await first.suspend();
    expect(await leftovers()).toEqual([]);
    expect((await storage.writer(name)).length).toBe(0);
  });

  describe('what tells of an upload is understood where it is whole', () => {
    const key = 'fleet/video/recordings/x';
    const state = { uploadId: 'u', key, parts: ['"e"'], memo: {} };
    test.each<[string, boolean]>([
      [JSON.stringify(state), true],
      [JSON.stringify({ ...state, uploadId: undefined }), false],
      [JSON.stringify({ ...state, uploadId: 1 }), false],
      [JSON.stringify({ ...state, key: undefined }), false],
      [JSON.stringify({ ...state, key: 1 }), false],
      [JSON.stringify({ ...state, parts: undefined }), false],
      [JSON.stringify({ ...state, parts: 'e' }), false],
      [JSON.stringify({ ...state, memo: undefined }), false],
      [JSON.stringify({ ...state, memo: 'x' }), false],
      [JSON.stringify(state).slice(0, -1), false],
      ['"text"', false],
      ['null', false],
    ])('%s: %s', async (Body, understood) => {
      const { bucket, endpoint } = server;
      const place = s3Place({ kind: 's3', bucket, prefix: '', endpoint, region: 'us-east-1' });
      const Key = 'states/state.json';
      await place.client.send(new PutObjectCommand({ Bucket: bucket, Key, Body }));
      expect(await readState(place, Key)).toEqual(understood ? state : undefined);
      place.client.destroy();
    });
  });

  test('an upload that could not be put together goes on behind its last full part', async () => {
    const [name, body] = [newName(), film(12 * MIB)];
    const first = await storage.writer(name, { film: true });
    await first.begin({ validator: '"v"', total: body.length });
    await first.append(body);
    const part = await firstPartOf(name);
    await rename(part, `${part}.aside`);
    await expect(first.publish()).rejects.toMatchObject({ trouble: 'failed' });
    await rename(`${part}.aside`, part);
    await first.suspend();
    const second = await storage.writer(name, { film: true });
    expect(second.length).toBe(10 * MIB);
    await second.append(body.subarray(second.length));
    expect(await second.publish()).toEqual({ size: body.length, sha256: sha256(body) });
    expect(await leftovers()).toEqual([]);
  });

  test('an upload of which the server has put together less than was sent is none', async () => {
    const name = newName();
    const first = await storage.writer(name);
    await first.begin({ validator: '"v"', total: 12 * MIB });
    await first.append(randomBytes(BEGUN));
    await first.suspend();
    await truncate(await firstPartOf(name), 5 * MIB - 1);
    const second = await storage.writer(name);
    await second.append(randomBytes(7 * MIB));
    await expect(second.publish()).rejects.toMatchObject({
      trouble: 'failed',
      message: 'The video storage (S3) kept 12582911 of 12582912 bytes.',
    });
    await storage.delete(name);
  });

  test('a writer whose upload the server gave up may begin anew', async () => {
    const [name, body] = [newName(), randomBytes(WHOLE)];
    const first = await storage.writer(name);
    await first.begin({ validator: '"v"', total: 12 * MIB });
    await first.append(body);
    await first.suspend();
    const writer = await storage.writer(name);
    await rm(dirname(await firstPartOf(name)), { recursive: true });
    await expect(writer.append(body).then(() => writer.publish())).rejects.toThrow(WriterSuperseded);
    await writer.begin();
    await writer.append(body);
    expect(await writer.publish()).toEqual({ size: body.length, sha256: sha256(body) });
    expect(await leftovers()).toEqual([]);
  });

  test('a sweep leaves an upload that was begun long ago and still goes on', async () => {
    const name = newName();
    const first = await storage.writer(name);
    await first.begin({ validator: '"v"', total: 12 * MIB });
    await first.append(randomBytes(BEGUN));
    await first.suspend();
    const uploads = uploadsFolder(server.directory);
    const begun = new Date(Date.now() - 3_600_000);
    for (const id of await readdir(uploads)) await utimes(join(uploads, id, 'key'), begun, begun);
    expect(await storage.sweep(60_000)).toBe(0);
    const second = await storage.writer(name);
    expect(second.length).toBe(5 * MIB);
    await second.append(randomBytes(7 * MIB));
    expect(await second.publish()).toMatchObject({ size: 12 * MIB });
    expect(await leftovers()).toEqual([]);
  });

  test('a sweep ends uploads that nothing tells of', async () => {
    const half = await storage.writer(newName());
    await half.begin({ validator: '"v"', total: 12 * MIB });
    await half.append(randomBytes(BEGUN));
    // A part that is still under way would come back after the sweep.
    await half.suspend();
    expect((await server.keysOfUploads()).filter(isOurs)).toHaveLength(1);
    await rm(join(server.directory, 'fleet/video/.partial'), { recursive: true });
    await new Promise((done) => setTimeout(done, 20));
    expect(await storage.sweep(10)).toBe(1);
    expect(await leftovers()).toEqual([]);
  });
});

test.each([
  ['of the whole bucket', ''],
  ['of a folder', 'fleet/video/'],
])('a sweep %s ends our abandoned uploads, page by page, and leaves those of other applications', async (_, prefix) => {
  const server = await startS3Server({ perPage: 2 });
  const storage = await openStorage(server.storageUrl(prefix));
  const client = new S3Client({ region: 'us-east-1', endpoint: server.endpoint, forcePathStyle: true });
  const begin = (Key: string) => client.send(new CreateMultipartUploadCommand({ Bucket: server.bucket, Key }));
  const twice = prefix + newName();
  // Uploads of one key, which may lie on both sides of a page's end, too.
  for (const key of [twice, twice, twice, ...Array.from({ length: 4 }, () => prefix + newName())]) await begin(key);
  const foreign = [
    'backups/2026.tar',
    ...['report.csv', 'recordings/ab/notes.mp4', `more/${newName()}`, `${newName()}.part`].map((key) => prefix + key),
  ];
  for (const key of foreign) await begin(key);
  await new Promise((done) => setTimeout(done, 20));
  expect(await storage.sweep(60_000)).toBe(0);
  expect(await storage.sweep(10)).toBe(7);
  expect((await server.keysOfUploads()).sort()).toEqual(foreign.sort());
  client.destroy();
  storage.close();
  await server.stop();
});

test('files, and what tells of uploads, are listed and swept to the end, page by page', async () => {
  const server = await startS3Server({ perPage: 2 });
  const storage = await openStorage(server.storageUrl('fleet'));
  const client = new S3Client({ region: 'us-east-1', endpoint: server.endpoint, forcePathStyle: true });
  const put = (Key: string) => client.send(new PutObjectCommand({ Bucket: server.bucket, Key, Body: 'x' }));
  const names = Array.from({ length: 5 }, newName).sort();
  for (const key of [...names, 'recordings/notes.txt']) await put(`fleet/${key}`);
  for (const name of names) await put(`fleet/${partialOf(name)}.json`);
  const listed: string[] = [];
  for await (const { name } of storage.list('recordings')) listed.push(name);
  expect(listed.sort()).toEqual(names);
  expect(await storage.sweep(60_000)).toBe(0);
  // Whatever was touched up to a minute from now: the server's clock is that of this machine.
  expect(await storage.sweep(-60_000)).toBe(names.length);
  expect(await readdir(join(server.directory, 'fleet/.partial')).catch(() => [])).toEqual([]);
  client.destroy();
  storage.close();
  await server.stop();
});

test('a server that cannot abort uploads is used all the same', async () => {
  const server = await startS3Server({ plain: true });
  const storage = await openStorage(server.storageUrl('x'));
  const name = newName();
  const half = await storage.writer(name);
  await half.begin({ validator: '"v"', total: 12 * MIB });
  await half.append(randomBytes(BEGUN));
  await half.discard();
  expect((await storage.writer(name)).length).toBe(0);
  expect(await storage.sweep(0)).toBe(0);
  storage.close();
  await server.stop();
});

/** Passes on all that is asked, but for the answer to the first completion of an upload, which is lost. */
async function startForgetful(): Promise<{ readonly port: number; readonly stop: () => Promise<void> }> {
  let lost = false;
  const front = createServer((asked, answer) => {
    const { method, headers, url = '' } = asked;
    const passed = request(server.endpoint + url, { method, headers }, (got) => {
      const loses = !lost && method === 'POST' && url.includes('uploadId=');
      lost ||= loses;
      if (loses) return void got.resume().once('end', () => answer.destroy());
      got.pipe(answer.writeHead(got.statusCode ?? 500, got.headers));
    });
    asked.pipe(passed);
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  const stop = held(async () => {
    front.closeAllConnections();
    front.close();
  });
  return { port: (front.address() as AddressInfo).port, stop };
}

test('a file whose completion was answered, but not heard of, is published', async () => {
  const front = await startForgetful();
  const forgetful = await openStorage(
    server.storageUrl('forgetful').replace(/127\.0\.0\.1:\d+/, `127.0.0.1:${front.port}`),
  );
  const name = newName();
  const bytes = randomBytes(PART_BYTES + 1_000);
  const writer = await forgetful.writer(name);
  await writer.begin();
  await writer.append(bytes);
  expect(await writer.publish()).toEqual({ size: bytes.length, sha256: sha256(bytes) });
  expect(await forgetful.stat(name)).toMatchObject({ size: bytes.length });
  expect(await leftoversOf('forgetful', (key) => key.startsWith('forgetful'))).toEqual([]);
  forgetful.close();
  await front.stop();
});
