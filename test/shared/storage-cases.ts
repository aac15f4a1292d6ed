import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test } from '@jest/globals';
import { uuidv7 } from '../../src/core/database/uuid.js';
import type { Draft } from '../../src/core/storage/draft.js';
import type { Storage } from '../../src/core/storage/storage.js';
import { storageName } from '../../src/core/storage/storage-names.js';
import { DraftReplacedError, NotStoredError } from '../../src/core/storage/storage-errors.js';

/** A storage under test, and what is left of drafts and uploads in it. */
export interface StorageUnderTest {
  readonly storage: Storage;
  readonly leftovers: () => Promise<string[]>;
}

export const MIB = 1024 * 1024;
export const sha256 = (body: Buffer): string => createHash('sha256').update(body).digest('hex');
export const newName = (): string => storageName('recordings', uuidv7());

/** In pieces that fit no boundary, as from the network. */
const pieces = function* (body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += 65_521) yield body.subarray(at, at + 65_521);
};

export const sourceOf = (body: Buffer): Readable => Readable.from(pieces(body));
export const append = (draft: Draft, body: Buffer): Promise<void> => pipeline(sourceOf(body), draft.writable());
export const contentOf = async (storage: Storage, name: string): Promise<Buffer> => buffer(await storage.read(name));

/** An interrupted attempt: its draft is closed, and some of its bytes are durable. */
export async function interrupted(storage: Storage, name: string, begun: Buffer, total: number) {
  const draft = await storage.createDraft(name, total);
  await append(draft, begun);
  const bytes = await draft.sync();
  await draft.close();
  return { id: draft.id, bytes, total };
}

async function listed<T>(files: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const file of files) found.push(file);
  return found;
}

/** The behaviour of every storage. */
export function storageCases(given: () => StorageUnderTest): void {
  const put = async (body: Buffer, name = newName()): Promise<string> => {
    await given().storage.store(name, sourceOf(body), body.length);
    return name;
  };

  describe('storing', () => {
    test.each([
      ['an empty file', 0],
      ['one byte', 1],
      ['just one part of an upload', 8 * MIB],
      ['two parts and a byte', 16 * MIB + 1],
    ])('%s returns size and SHA-256, and the file is read back unchanged', async (_, size) => {
      const { storage, leftovers } = given();
      const [name, body] = [newName(), randomBytes(size)];
      expect(await storage.store(name, sourceOf(body))).toEqual({ size, sha256: sha256(body) });
      expect(await storage.stat(name)).toMatchObject({ name, size });
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
      expect(await leftovers()).toEqual([]);
    });

    test('replaces a file of the same name', async () => {
      const { storage } = given();
      const name = await put(Buffer.from('old and longer'));
      await put(Buffer.from('new'), name);
      expect(String(await contentOf(storage, name))).toBe('new');
    });

    test('stores nothing if the stream fails', async () => {
      const { storage, leftovers } = given();
      const name = newName();
      async function* failing(): AsyncGenerator<Buffer> {
        yield Buffer.from('a first piece');
        throw new Error('the sender is gone');
      }
      await expect(storage.store(name, failing())).rejects.toThrow('the sender is gone');
      expect(await storage.stat(name)).toBeUndefined();
      expect(await leftovers()).toEqual([]);
    });
  });

  describe('a draft', () => {
    const body = randomBytes(300_000);

    test('appears under its name only when it is published', async () => {
      const { storage, leftovers } = given();
      const name = newName();
      const draft = await storage.createDraft(name, body.length);
      await append(draft, body);
      expect(await storage.stat(name)).toBeUndefined();
      await draft.publish();
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
      expect(await leftovers()).toEqual([]);
    });

    test('is resumed after its durable bytes', async () => {
      const { storage, leftovers } = given();
      const name = newName();
      const point = await interrupted(storage, name, body.subarray(0, 200_000), body.length);
      // The attempt wrote more than it reported.
      const reported = { ...point, bytes: 150_000 };
      const draft = await storage.openDraft(name, reported);
      expect(draft?.length).toBe(150_000);
      expect((await buffer(draft!.readable())).equals(body.subarray(0, 150_000))).toBe(true);
      await append(draft!, body.subarray(150_000, 160_000));
      await draft!.publish();
      expect((await contentOf(storage, name)).equals(body.subarray(0, 160_000))).toBe(true);
      expect(await leftovers()).toEqual([]);
    });

    test.each(['removed', 'replaced by another from zero', 'shorter than reported'])(
      'that was %s cannot be resumed',
      async (what) => {
        const { storage } = given();
        const name = newName();
        let point = await interrupted(storage, name, body, body.length);
        if (what === 'removed') await storage.removeDrafts(name);
        else if (what === 'shorter than reported') point = { ...point, bytes: body.length + 1 };
        else await (await storage.createDraft(name)).close();
        expect(await storage.openDraft(name, point)).toBeUndefined();
        await storage.removeDrafts(name);
      },
    );

    test('that is discarded leaves nothing, with or without bytes', async () => {
      const { storage, leftovers } = given();
      const [empty, begun] = [await storage.createDraft(newName()), await storage.createDraft(newName())];
      await append(begun, body);
      await Promise.all([empty.discard(), begun.discard()]);
      await storage.removeDrafts(newName());
      expect(await leftovers()).toEqual([]);
    });

    test('of a late owner cannot be published after its successor started from zero', async () => {
      const { storage } = given();
      const name = newName();
      const late = await storage.createDraft(name);
      await append(late, randomBytes(1_000));
      const successor = await storage.createDraft(name);
      await append(successor, body);
      await expect(late.publish()).rejects.toThrow(DraftReplacedError);
      await late.discard();
      await successor.publish();
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
    });

    test('of a late owner adds the same bytes as its successor if both resume it', async () => {
      const { storage } = given();
      const name = newName();
      const point = await interrupted(storage, name, body.subarray(0, 100_000), body.length);
      const [late, successor] = [await storage.openDraft(name, point), await storage.openDraft(name, point)];
      await append(late!, body.subarray(100_000, 250_000));
      await append(successor!, body.subarray(100_000));
      await successor!.publish();
      await late!.discard();
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
    });
  });

  describe('reading', () => {
    const body = randomBytes(300_000);

    test.each([
      [{ start: 0 }, 0, 300_000],
      [{ start: 0, end: 1 }, 0, 2],
      [{ start: 1000, end: 1999 }, 1000, 2000],
      [{ start: 299_999 }, 299_999, 300_000],
    ])('returns the range %j', async (range, from, to) => {
      const { storage } = given();
      const name = await put(body);
      expect((await buffer(await storage.read(name, range))).equals(body.subarray(from, to))).toBe(true);
    });

    test('reports a file that is not there', async () => {
      const { storage } = given();
      await put(body);
      const name = newName();
      expect(await storage.stat(name)).toBeUndefined();
      await expect(storage.read(name)).rejects.toThrow(NotStoredError);
      await storage.delete(name);
    });
  });

  test('a list has the published files of its folder, without deleted ones and drafts', async () => {
    const { storage } = given();
    const name = await put(Buffer.from('kept'));
    const other = await put(Buffer.from('clip'), storageName('clips', randomUUID()));
    const deleted = await put(Buffer.from('deleted'));
    await storage.delete(deleted);
    const draft = await storage.createDraft(newName());
    const names = (files: { name: string }[]): string[] => files.map((file) => file.name);
    const recordings = names(await listed(storage.list('recordings')));
    expect(recordings).toContain(name);
    expect(recordings).not.toContain(deleted);
    expect(recordings.filter((found) => !found.startsWith('recordings/') || !found.endsWith('.mp4'))).toEqual([]);
    expect(names(await listed(storage.list('clips')))).toEqual([other]);
    await draft.discard();
  });

  test.each([
    '../outside.mp4',
    'recordings/../../etc/passwd',
    '/etc/passwd',
    'recordings/ab/x.mp4',
    'recordings/ab/01990000-0000-7000-8000-0000000000ab.mp4/..',
    'recordings/ab/01990000-0000-7000-8000-0000000000ab.mp4\0',
    'Recordings/ab/01990000-0000-7000-8000-0000000000ab.mp4',
    '.partial/ab/01990000-0000-7000-8000-0000000000ab.mp4',
    '',
  ])('every call refuses the name %j', async (name) => {
    const { storage } = given();
    await expect(storage.createDraft(name)).rejects.toThrow(TypeError);
    await expect(storage.openDraft(name, { id: 'x', bytes: 0, total: 0 })).rejects.toThrow(TypeError);
    await expect(storage.removeDrafts(name)).rejects.toThrow(TypeError);
    await expect(storage.stat(name)).rejects.toThrow(TypeError);
    await expect(storage.read(name)).rejects.toThrow(TypeError);
    await expect(storage.delete(name)).rejects.toThrow(TypeError);
    for (const folder of ['..', '.partial']) await expect(listed(storage.list(folder))).rejects.toThrow(TypeError);
  });

  test('a sweep removes old drafts only', async () => {
    const { storage, leftovers } = given();
    const name = await put(Buffer.from('published'));
    await interrupted(storage, newName(), randomBytes(1_000), 2_000);
    expect(await storage.sweep(60_000)).toBe(0);
    expect(await leftovers()).not.toEqual([]);
    await new Promise((done) => setTimeout(done, 20));
    expect(await storage.sweep(10)).toBeGreaterThan(0);
    expect(await leftovers()).toEqual([]);
    expect(await storage.stat(name)).toMatchObject({ size: 9 });
  });

  test('a check of a working storage leaves no probe', async () => {
    const { storage, leftovers } = given();
    expect(await storage.check()).toEqual({ writable: true });
    expect(await leftovers()).toEqual([]);
  });
}
