import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { describe, expect, jest, test } from '@jest/globals';
import type { Storage, StorageWriter } from '../../src/storage/storage.js';
import { NotAFilm, NotStored, WriterSuperseded } from '../../src/storage/storage-errors.js';
import { storageName } from '../../src/storage/storage-name.js';
import { box, film } from '../support/films.js';

/** A storage under test, and a look behind it. */
export interface StorageUnderTest {
  readonly storage: Storage;
  /** Temporaries that exist, whatever they are. */
  readonly leftovers: () => Promise<string[]>;
}

export const MIB = 1024 * 1024;
/** More than one part of an S3 upload, and not much more: each byte is hashed and copied a dozen times on its way. */
export const BEGUN = 5.25 * MIB;
/** Of which that is the beginning. */
export const WHOLE = 5.75 * MIB;
export const sha256 = (body: Buffer): string => createHash('sha256').update(body).digest('hex');
export const newName = (): string => storageName('recordings', randomUUID());

/** As the network brings it: in pieces that fit no boundary. */
async function appendAll(writer: StorageWriter, body: Buffer): Promise<void> {
  for (let at = 0; at < body.length; at += 65_521) await writer.append(body.subarray(at, at + 65_521));
}

async function listed<T>(files: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const file of files) found.push(file);
  return found;
}

export const contentOf = async (storage: Storage, name: string): Promise<Buffer> => buffer(await storage.read(name));

/** What every storage does, whatever it is made of. */
export function storageCases(given: () => StorageUnderTest): void {
  const put = async (body: Buffer, name = newName()): Promise<string> => {
    const writer = await given().storage.writer(name);
    await writer.begin();
    await appendAll(writer, body);
    await writer.publish();
    return name;
  };

  describe('publishing', () => {
    test.each([
      ['nothing', 0],
      ['one byte', 1],
      ['just one part', 5 * MIB],
      ['one part and a byte', 5 * MIB + 1],
      ['two parts', 10 * MIB],
      ['some parts and a rest', 11 * MIB + 12_345],
    ])('%s comes back as it was written', async (_, size) => {
      const { storage, leftovers } = given();
      const [name, body] = [newName(), randomBytes(size)];
      const writer = await storage.writer(name);
      await writer.begin({ validator: '"a"', total: size }, size);
      await appendAll(writer, body);
      expect(await storage.stat(name)).toBeUndefined();
      expect(await writer.publish()).toEqual({ size, sha256: sha256(body) });
      expect(await storage.stat(name)).toMatchObject({ name, size });
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
      expect(await leftovers()).toEqual([]);
    });

    test('a writing that begins anew has nothing of what it had', async () => {
      const { storage, leftovers } = given();
      const [name, body] = [newName(), film(WHOLE)];
      const writer = await storage.writer(name, { film: true });
      for (const length of [BEGUN, 1_000, body.length]) {
        await writer.begin({ validator: '"a"', total: length });
        await appendAll(writer, body.subarray(0, length));
      }
      expect(await writer.publish()).toEqual({ size: body.length, sha256: sha256(body) });
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
      expect(await leftovers()).toEqual([]);
    });

    test('a file of the same name is replaced', async () => {
      const { storage } = given();
      const name = await put(Buffer.from('old and longer'));
      await put(Buffer.from('new'), name);
      expect(String(await contentOf(storage, name))).toBe('new');
    });
  });

  describe('an interrupted writing', () => {
    const memo = { validator: '"v1"', total: WHOLE };

    test('goes on where it was suspended, with its memo and the hash of all bytes', async () => {
      const { storage, leftovers } = given();
      const [name, body] = [newName(), randomBytes(memo.total)];
      const first = await storage.writer(name);
      await first.begin(memo, body.length);
      await appendAll(first, body.subarray(0, BEGUN));
      await first.suspend();
      expect(await storage.stat(name)).toBeUndefined();

      const second = await storage.writer(name);
      expect(second.memo).toEqual(memo);
      expect(second.length).toBeGreaterThanOrEqual(5 * MIB);
      await appendAll(second, body.subarray(second.length));
      expect(await second.publish()).toEqual({ size: body.length, sha256: sha256(body) });
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
      expect(await leftovers()).toEqual([]);
    });

    test('starts from zero where that is asked for, or where there is no memo', async () => {
      const { storage, leftovers } = given();
      const name = newName();
      for (const kept of [memo, undefined]) {
        const first = await storage.writer(name);
        await first.begin(kept);
        await appendAll(first, randomBytes(BEGUN));
        await first.suspend();
        if (kept === undefined) expect(await leftovers()).toEqual([]);
        const second = await storage.writer(name, { resume: kept === undefined });
        expect([second.length, second.memo]).toEqual([0, undefined]);
        await second.begin(memo);
        await second.append(Buffer.from('afresh'));
        await second.publish();
        expect(String(await contentOf(storage, name))).toBe('afresh');
        expect(await leftovers()).toEqual([]);
      }
    });

    test('is discarded without a trace', async () => {
      const { storage, leftovers } = given();
      const name = newName();
      const first = await storage.writer(name);
      await first.begin(memo);
      await appendAll(first, randomBytes(BEGUN));
      await first.suspend();
      await (await storage.writer(name)).discard();
      expect(await leftovers()).toEqual([]);
      expect(await storage.stat(name)).toBeUndefined();
    });
  });

  test.each([true, false])('a writer that never began leaves nothing (resume: %s)', async (resume) => {
    const { storage, leftovers } = given();
    const before = await leftovers();
    const writer = await storage.writer(newName(), { resume });
    await writer.discard();
    expect(await leftovers()).toEqual(before);
  });

  describe('a late writer, whose lease another one has taken over', () => {
    const memo = { validator: '"v1"', total: WHOLE };

    test('publishes nothing and spoils nothing where its successor started from zero', async () => {
      const { storage } = given();
      const [name, body] = [newName(), randomBytes(memo.total)];
      const late = await storage.writer(name);
      await late.begin(memo);
      await appendAll(late, randomBytes(BEGUN));
      const successor = await storage.writer(name, { resume: false });
      await successor.begin(memo);
      await appendAll(successor, body.subarray(0, BEGUN));
      await appendAll(late, randomBytes(WHOLE - BEGUN)).catch(() => undefined);
      await late.publish().catch((error: unknown) => expect(error).toBeInstanceOf(WriterSuperseded));
      await late.discard();
      await appendAll(successor, body.subarray(BEGUN));
      await successor.publish();
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
    });

    test.each([
      ['at once', 0],
      ['when its own checkpoint is due', 10_000],
    ])('leaves what its successor has laid down for the next one, however it ends, %s', async (_, laterMs) => {
      const { storage, leftovers } = given();
      const [name, body] = [newName(), randomBytes(memo.total)];
      const first = await storage.writer(name);
      await first.begin(memo);
      await appendAll(first, randomBytes(BEGUN));
      await first.suspend();
      const late = await storage.writer(name);
      const successor = await storage.writer(name, { resume: false });
      await successor.begin(memo);
      await appendAll(successor, body.subarray(0, BEGUN));
      await successor.suspend();
      const { now } = Date;
      const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + laterMs);
      const goneOn = appendAll(late, randomBytes(BEGUN)).then(() => late.publish());
      await expect(goneOn).rejects.toThrow(WriterSuperseded);
      clock.mockRestore();
      await late.discard();

      const next = await storage.writer(name);
      expect(next.memo).toEqual(memo);
      expect(next.length).toBeGreaterThanOrEqual(5 * MIB);
      await appendAll(next, body.subarray(next.length));
      expect(await next.publish()).toEqual({ size: body.length, sha256: sha256(body) });
      expect(await leftovers()).toEqual([]);
    });

    test('leaves what its successor has begun, where it never began itself', async () => {
      const { storage, leftovers } = given();
      const [name, body] = [newName(), randomBytes(memo.total)];
      const late = await storage.writer(name);
      const successor = await storage.writer(name);
      await successor.begin(memo);
      await appendAll(successor, body.subarray(0, BEGUN));
      await late.discard();
      await appendAll(successor, body.subarray(BEGUN));
      expect(await successor.publish()).toEqual({ size: body.length, sha256: sha256(body) });
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
      expect(await leftovers()).toEqual([]);
    });

    test('and its successor add the same bytes where both continue the same file', async () => {
      const { storage } = given();
      const [name, body] = [newName(), randomBytes(memo.total)];
      const first = await storage.writer(name);
      await first.begin(memo);
      await appendAll(first, body.subarray(0, BEGUN));
      await first.suspend();
      const late = await storage.writer(name);
      const successor = await storage.writer(name);
      await appendAll(late, body.subarray(late.length, WHOLE - 1_000));
      await appendAll(successor, body.subarray(successor.length));
      await successor.publish();
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
      await late.discard();
      expect((await contentOf(storage, name)).equals(body)).toBe(true);
    });
  });

  describe('reading', () => {
    const body = randomBytes(300_000);

    test.each([
      [{ start: 0 }, 0, 300_000],
      [{ start: 0, end: 1 }, 0, 2],
      [{ start: 7, end: 7 }, 7, 8],
      [{ start: 1000, end: 1999 }, 1000, 2000],
      [{ start: 299_999 }, 299_999, 300_000],
    ])('the range %j', async (range, from, to) => {
      const { storage } = given();
      const name = await put(body);
      expect((await buffer(await storage.read(name, range))).equals(body.subarray(from, to))).toBe(true);
    });

    test('what is not there', async () => {
      const { storage } = given();
      await put(body);
      const name = newName();
      expect(await storage.stat(name)).toBeUndefined();
      await expect(storage.read(name)).rejects.toThrow(NotStored);
      await storage.delete(name);
    });
  });

  test('deleted files are gone, listed ones are those of the folder', async () => {
    const { storage } = given();
    const name = await put(Buffer.from('kept'));
    const other = await put(Buffer.from('clip'), storageName('clips', randomUUID()));
    const gone = await put(Buffer.from('gone'));
    await storage.delete(gone);
    const half = await storage.writer(newName());
    await half.begin({ validator: '"v"', total: 12 * MIB });
    await appendAll(half, randomBytes(BEGUN));
    const names = (files: { name: string }[]): string[] => files.map((file) => file.name);
    const recordings = names(await listed(storage.list('recordings')));
    expect(recordings).toContain(name);
    expect(recordings).not.toContain(gone);
    expect(recordings.filter((found) => !found.startsWith('recordings/') || found.includes('partial'))).toEqual([]);
    expect(names(await listed(storage.list('clips')))).toEqual([other]);
    await half.discard();
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
  ])('the name %j is refused everywhere', async (name) => {
    const { storage } = given();
    await expect(storage.writer(name)).rejects.toThrow(TypeError);
    await expect(storage.stat(name)).rejects.toThrow(TypeError);
    await expect(storage.read(name)).rejects.toThrow(TypeError);
    await expect(storage.delete(name)).rejects.toThrow(TypeError);
    for (const folder of ['..', '.partial']) await expect(listed(storage.list(folder))).rejects.toThrow(TypeError);
  });

  test('a sweep removes what nobody touched for long enough, and nothing else', async () => {
    const { storage, leftovers } = given();
    const name = await put(Buffer.from('published'));
    const half = await storage.writer(newName());
    await half.begin({ validator: '"v"', total: 12 * MIB });
    await appendAll(half, randomBytes(BEGUN));
    await half.suspend();
    expect(await storage.sweep(60_000)).toBe(0);
    expect(await leftovers()).not.toEqual([]);
    await new Promise((done) => setTimeout(done, 20));
    expect(await storage.sweep(10)).toBeGreaterThan(0);
    expect(await leftovers()).toEqual([]);
    expect(await storage.stat(name)).toMatchObject({ size: 9 });
  });

  test('a healthy storage says so and leaves no probe', async () => {
    const { storage, leftovers } = given();
    expect(await storage.check()).toMatchObject({ writable: true });
    expect(await leftovers()).toEqual([]);
  });

  describe('a film', () => {
    /** A box begins just before the end of the first part of an S3 upload, its head lying across. */
    const long = Buffer.concat([film(5 * MIB - 3), box('moof', randomBytes(90)), box('mdat', randomBytes(0.75 * MIB))]);
    const memo = { validator: '"v1"', total: long.length };

    async function write(body: Buffer, name: string): Promise<unknown> {
      const writer = await given().storage.writer(name, { film: true });
      try {
        if (writer.length === 0) await writer.begin(memo);
        await appendAll(writer, body.subarray(writer.length));
        return await writer.publish();
      } catch (error) {
        await writer.discard();
        return error;
      }
    }

    async function interrupted(body: Buffer, name: string, film = true): Promise<void> {
      const writer = await given().storage.writer(name, { film });
      await writer.begin(memo);
      await appendAll(writer, body.subarray(0, BEGUN));
      await writer.suspend();
    }

    test('is published, also one that was interrupted within the head of a box', async () => {
      const name = newName();
      await interrupted(long, name);
      // Who goes on without a byte more leaves it as it was.
      for (let time = 0; time < 2; time++) {
        const next = await given().storage.writer(name, { film: true });
        expect(next.length).toBeGreaterThanOrEqual(5 * MIB);
        await next.suspend();
      }
      expect(await write(long, name)).toEqual({ size: long.length, sha256: sha256(long) });
    });

    test('is published where nobody had asked for a film when it was begun', async () => {
      const name = newName();
      await interrupted(long, name, false);
      expect(await write(long, name)).toEqual({ size: long.length, sha256: sha256(long) });
    });

    test('that is cut short is not, and leaves nothing, however it was written', async () => {
      const cut = long.subarray(0, -1);
      for (const begun of [false, true]) {
        const name = newName();
        if (begun) await interrupted(cut, name);
        expect(await write(cut, name)).toEqual(new NotAFilm('its mdat box ends 1 bytes behind the end of the file'));
        expect(await given().storage.stat(name)).toBeUndefined();
        expect(await given().leftovers()).toEqual([]);
      }
    });
  });
}
