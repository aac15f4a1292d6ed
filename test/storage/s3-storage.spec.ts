import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateMultipartUploadCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openStorage } from '../../src/storage/open-storage.js';
import type { Storage } from '../../src/storage/storage.js';
import { append, contentOf, interrupted, MIB, newName, sourceOf, storageCases } from '../shared/storage-cases.js';
import { type S3Server, startS3Server } from '../support/s3-server.js';

let server: S3Server;
let spool: string;
let storage: Storage;
beforeAll(async () => {
  server = await startS3Server({ perPage: 2 });
  spool = await mkdtemp(join(tmpdir(), 'haulbridge-spool-'));
  storage = await openStorage(server.storageUrl('fleet/video'), { spool });
});
afterAll(async () => {
  storage.close();
  await server.stop();
  await rm(spool, { recursive: true });
});

const leftovers = async () => [...(await readdir(spool)), ...(await server.keysOfUploads())];

describe('an S3 storage', () => {
  storageCases(() => ({ storage, leftovers }));

  test('keeps the draft if the upload fails, and uploads it later', async () => {
    const [name, body] = [newName(), randomBytes(9 * MIB)];
    const point = await interrupted(storage, name, body, body.length);
    const away = await openStorage(server.storageUrl('x').replace('s3://videos', 's3://elsewhere'), { spool });
    const first = await away.openDraft(name, point);
    await expect(first!.publish()).rejects.toMatchObject({ trouble: 'failed' });
    await first!.close();
    away.close();
    await (await storage.openDraft(name, point))!.publish();
    expect((await contentOf(storage, name)).equals(body)).toBe(true);
    expect(await leftovers()).toEqual([]);
  });

  test('lists its files page by page', async () => {
    const names = Array.from({ length: 5 }, newName);
    for (const name of names) await storage.store(name, sourceOf(Buffer.from('x')));
    const client = new S3Client({ region: 'us-east-1', endpoint: server.endpoint, forcePathStyle: true });
    const foreign = { Bucket: server.bucket, Key: 'fleet/video/recordings/notes.txt', Body: 'x' };
    await client.send(new PutObjectCommand(foreign));
    client.destroy();
    const listed: string[] = [];
    for await (const { name } of storage.list('recordings')) listed.push(name);
    expect(listed).toEqual(expect.arrayContaining(names));
    expect(listed).not.toContain('recordings/notes.txt');
  });
});

test.each([
  ['of the whole bucket', ''],
  ['of a folder', 'fleet/video/'],
])('a sweep %s aborts our abandoned uploads, and leaves those of other applications', async (_, prefix) => {
  const server = await startS3Server({ perPage: 2 });
  const storage = await openStorage(server.storageUrl(prefix), { spool });
  const client = new S3Client({ region: 'us-east-1', endpoint: server.endpoint, forcePathStyle: true });
  const begin = (Key: string) => client.send(new CreateMultipartUploadCommand({ Bucket: server.bucket, Key }));
  // Uploads of one key may be on both sides of a page's end.
  const repeated = prefix + newName();
  for (const key of [repeated, repeated, repeated, prefix + newName(), prefix + newName()]) await begin(key);
  const foreign = ['backups/2026.tar', ...['recordings/ab/notes.mp4', `more/${newName()}`].map((key) => prefix + key)];
  for (const key of foreign) await begin(key);
  await new Promise((done) => setTimeout(done, 20));
  expect(await storage.sweep(60_000)).toBe(0);
  expect(await storage.sweep(10)).toBe(5);
  expect((await server.keysOfUploads()).sort()).toEqual(foreign.sort());
  client.destroy();
  storage.close();
  await server.stop();
});

test('a server that cannot list or abort uploads is supported', async () => {
  const server = await startS3Server({ plain: true });
  const storage = await openStorage(server.storageUrl('x'), { spool });
  const [name, body] = [newName(), randomBytes(9 * MIB)];
  const draft = await storage.createDraft(name, body.length);
  await append(draft, body);
  await draft.publish();
  expect(await storage.stat(name)).toMatchObject({ size: body.length });
  expect(await storage.sweep(0)).toBe(0);
  storage.close();
  await server.stop();
});
