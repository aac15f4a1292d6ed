import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { DiskSpace } from '../../../src/core/storage/disk-space.js';
import { openStorage } from '../../../src/core/storage/open-storage.js';
import type { Storage } from '../../../src/core/storage/storage.js';
import { contentOf, MIB, newName, sourceOf } from '../../shared/storage-cases.js';
import { startS3Server } from '../../support/s3-server.js';

/** Stores for video as operators have them: what was reported, and what the service does. */
let folder: string;
beforeAll(async () => {
  Logger.overrideLogger(false);
  folder = await mkdtemp(join(tmpdir(), 'haulbridge-stores-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Files of both kinds of upload are stored, read and deleted. */
async function expectWorking(storage: Storage): Promise<void> {
  expect(await storage.check()).toMatchObject({ writable: true });
  for (const body of [randomBytes(100), randomBytes(9 * MIB)]) {
    const name = newName();
    await storage.store(name, sourceOf(body));
    expect((await contentOf(storage, name)).equals(body)).toBe(true);
    expect(await storage.stat(name)).toMatchObject({ size: body.length });
    expect(await storage.delete(name)).toEqual({ versionsLeft: false });
    expect(await storage.stat(name)).toBeUndefined();
  }
}

describe('a bucket', () => {
  test.each<[string, Parameters<typeof startS3Server>[0], RegExp]>([
    // Source: a bucket that keeps video for a court refused every upload: "Content-MD5 or checksum is required".
    ['with Object Lock, which takes no body without a checksum', { locked: true }, /CRC32/],
    // Source: an appliance of an earlier year refused every upload since the SDK sends checksums by itself.
    ['of an old server that refuses checksums', { old: true }, /^$/],
    ['that lists one object a page', { perPage: 1 }, /^$/],
    // Source: each of a hundred parallel uploads met SlowDown.
    ['that refuses every second request', { busy: true }, /^$/],
  ])(
    '%s stores files of any size',
    async (_, options, advice) => {
      const server = await startS3Server(options);
      const storage = await openStorage(server.storageUrl('x'), { spool: folder });
      await expectWorking(storage);
      expect((await storage.check()).advice ?? '').toMatch(advice);
      storage.close();
      await server.stop();
    },
    30_000,
  );
});

describe('a folder', () => {
  // Source: a mounted bucket reports a size of 0: "the disk is full".
  test('whose file system has no size is not full', async () => {
    await expect(new DiskSpace('/proc').reserve(MIB)).resolves.toBeDefined();
  });

  // Source: SMB of a NAS, NFS with old firmware, and a mounted bucket: "EINVAL: invalid argument, fsync".
  test.each(['EINVAL', 'ENOTSUP', 'EISDIR', 'ENOSYS', 'EBADF', 'EPERM', 'EACCES'])(
    'whose file system refuses with %s to make folders durable stores files',
    async (code) => {
      const storage = await openStorage(`file:${await mkdtemp(join(folder, 'smb-'))}`);
      const probe = await open(folder);
      const handles = Object.getPrototypeOf(probe) as FileHandle;
      await probe.close();
      const sync = jest.spyOn(handles, 'sync').mockRejectedValue(Object.assign(new Error(code), { code, errno: -22 }));
      try {
        const [name, body] = [newName(), randomBytes(100)];
        await storage.store(name, sourceOf(body));
        expect((await contentOf(storage, name)).equals(body)).toBe(true);
        expect(sync).toHaveBeenCalled();
      } finally {
        sync.mockRestore();
      }
    },
  );
});
