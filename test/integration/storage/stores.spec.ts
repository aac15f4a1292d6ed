import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openStorage } from '../../../src/core/storage/open-storage.js';
import type { Storage } from '../../../src/core/storage/storage.js';
import { StorageUnavailableError } from '../../../src/core/storage/storage-errors.js';
import { contentOf, interrupted, MIB, newName, sourceOf, storageCases } from '../../shared/storage-cases.js';
import { type S3Server, startS3Server } from '../../support/s3-server.js';

let root: string;
let storage: Storage;
beforeAll(async () => {
  Logger.overrideLogger(false);
  root = await mkdtemp(join(tmpdir(), 'haulbridge files %20#?'));
  storage = await openStorage(`file:${root}`);
});
afterAll(() => rm(root, { recursive: true }));

const drafts = (): Promise<string[]> => readdir(join(root, '.partial')).catch(() => []);

describe('a file storage', () => {
  storageCases(() => ({ storage, leftovers: drafts }));

  test('does not list files that others put among its own', async () => {
    const name = newName();
    await storage.store(name, sourceOf(Buffer.alloc(0)));
    await writeFile(join(root, dirname(name), '.DS_Store'), 'x');
    await writeFile(join(root, 'recordings/README'), 'x');
    const listed: string[] = [];
    for await (const file of storage.list('recordings')) listed.push(file.name);
    expect(listed).toContain(name);
    expect(listed.filter((found) => !found.endsWith('.mp4'))).toEqual([]);
  });

  test('keeps a draft whose folder is old while the draft is new, and sweeps an old probe', async () => {
    const name = newName();
    await interrupted(storage, name, Buffer.from('x'), 2);
    const [folder = ''] = await drafts();
    const probe = join(root, '.partial/.probe-0');
    await writeFile(probe, 'probe');
    const old = new Date(Date.now() - 3_600_000);
    for (const path of [probe, join(root, '.partial', folder)]) await utimes(path, old, old);
    expect(await storage.sweep(60_000)).toBe(1);
    expect(await drafts()).toEqual([folder]);
    await storage.removeDrafts(name);
  });
});

test('a folder that the system does not create is a failure of the storage, and nothing waits for it', async () => {
  // With `recursive` the `mkdir` of Node.js never ends below /proc.
  const folder = process.platform === 'linux' ? '/proc/haulbridge' : join(process.execPath, 'videos');
  const nowhere = await openStorage(`file:${folder}/videos`);
  expect(await nowhere.check()).toMatchObject({ writable: false });
  await expect(nowhere.store(newName(), sourceOf(Buffer.from('x')))).rejects.toThrow(StorageUnavailableError);
});

let server: S3Server;
let spool: string;
let s3: Storage;
beforeAll(async () => {
  server = await startS3Server({ perPage: 2 });
  spool = await mkdtemp(join(tmpdir(), 'haulbridge-spool-'));
  s3 = await openStorage(server.storageUrl('fleet/video'), { spool });
});
afterAll(async () => {
  s3.close();
  await server.stop();
  await rm(spool, { recursive: true });
});

const leftovers = async () => [...(await readdir(spool)), ...(await server.keysOfUploads())];

describe('an S3 storage', () => {
  storageCases(() => ({ storage: s3, leftovers }));

  test('keeps the draft if the upload fails, and uploads it later', async () => {
    const [name, body] = [newName(), randomBytes(9 * MIB)];
    const point = await interrupted(s3, name, body, body.length);
    const away = await openStorage(server.storageUrl('x').replace('s3://videos', 's3://elsewhere'), { spool });
    const first = await away.openDraft(name, point);
    await expect(first!.publish()).rejects.toMatchObject({ trouble: 'failed' });
    await first!.close();
    away.close();
    await (await s3.openDraft(name, point))!.publish();
    expect((await contentOf(s3, name)).equals(body)).toBe(true);
    expect(await leftovers()).toEqual([]);
  });

  test('lists its files page by page', async () => {
    const names = Array.from({ length: 5 }, newName);
    for (const name of names) await s3.store(name, sourceOf(Buffer.from('x')));
    const client = new S3Client({ region: 'us-east-1', endpoint: server.endpoint, forcePathStyle: true });
    const foreign = { Bucket: server.bucket, Key: 'fleet/video/recordings/notes.txt', Body: 'x' };
    await client.send(new PutObjectCommand(foreign));
    client.destroy();
    const listed: string[] = [];
    for await (const { name } of s3.list('recordings')) listed.push(name);
    expect(listed).toEqual(expect.arrayContaining(names));
    expect(listed).not.toContain('recordings/notes.txt');
  });
});

describe('deleting files', () => {
  test.each([
    ['open', 1, 0],
    ['closed', 3, 6],
  ] as const)(
    'and replacing them leaves no old version in a bucket where these are %s to the service (issue 46, row 15)',
    async (versions, ofReplaced, left) => {
      const server = await startS3Server({ versions, perPage: 2 });
      const other = await openStorage(server.storageUrl('fleet'), { spool });
      const [replaced, ...names] = [newName(), newName(), newName(), newName()];
      for (const content of ['1', '2', '3']) await other.store(replaced, sourceOf(Buffer.from(content)));
      expect([await server.versions(), String(await contentOf(other, replaced))]).toEqual([ofReplaced, '3']);
      await other.delete(replaced);
      for (const name of names) await other.store(name, sourceOf(Buffer.from('x')));
      for (const name of names) await other.delete(name);
      expect(await Promise.all(names.map((name) => other.stat(name)))).toEqual([undefined, undefined, undefined]);
      expect(await server.versions()).toBe(left);
      other.close();
      await server.stop();
    },
  );
});
