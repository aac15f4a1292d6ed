import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openDirect, writeBlock } from './direct-io.js';
import { dropFolder, emptyFolder, fileFailure, isFolder, publishFile, roomAt } from './file-durability.js';
import type { FilePlace } from './file-place.js';
import { BoxWalk } from './mp4.js';
import { partsIn, readPartState, removePart, writePartState } from './part-state.js';
import type { Memo, Published, StorageWriter, WriterOptions } from './storage.js';
import { errorCode, fullDisk, WriterSuperseded } from './storage-errors.js';
import { PARTIAL, partialOf } from './storage-name.js';

/**
 * Small chunks are gathered into blocks of this size. Larger blocks would have left the CPU cache before they are
 * copied.
 */
const BLOCK_BYTES = 96 * 1024;
const BLOCK_CHUNKS = 512;
/** A killed process loses at most what came since the last checkpoint: this long, or this much if that took longer. */
const CHECKPOINT = { ms: 1000, bytes: 1024 * 1024 };

type Guard = <T>(work: () => Promise<T>) => Promise<T>;

/** What fails because a file is gone was another writer's doing, as long as the place of all temporaries is there. */
const guardOf =
  (root: string): Guard =>
  async (work) => {
    try {
      return await work();
    } catch (error) {
      if (errorCode(error) === 'ENOENT' && (await isFolder(join(root, PARTIAL)))) throw new WriterSuperseded(error);
      throw fileFailure(error);
    }
  };

/**
 * One file's bytes on their way. Every start from zero takes a file of a new name, and a continued one is written at
 * its own offsets: so a late writer whose lease has ended either adds the same bytes in the same places, or writes to
 * a file that is no longer there, and can never spoil or publish what its successor has.
 */
class FileWriter implements StorageWriter {
  length = 0;
  memo: Memo | undefined;
  readonly #folder: string;
  readonly #guarded: Guard;
  /** Of the part; stays known when it is closed, so that nothing of a successor is ever removed. */
  #name: string | undefined;
  /** Parts that were there before this writer: what comes later is a successor's. */
  #found: readonly string[] = [];
  #handle: FileHandle | undefined;
  /** Of the same part; only of one that starts from zero, where all but the last bytes come at whole sectors. */
  #direct: FileHandle | undefined;
  #hash = createHash('sha256');
  #walk: BoxWalk | undefined;
  /** Bytes of an earlier attempt that hash and walk have not seen yet. */
  #unhashed = 0;
  #prepared: Promise<void> | undefined;
  /** Bytes that were free when the file was made. */
  #room = 0;
  #continued = false;
  #block: Buffer[] = [];
  #releases: (() => void)[] = [];
  #blockBytes = 0;
  #writing: Promise<void> = Promise.resolve();
  #checkpoint = { length: 0, at: 0, running: Promise.resolve() };

  constructor(
    readonly place: FilePlace,
    readonly name: string,
    readonly film: boolean,
  ) {
    this.#walk = film ? new BoxWalk() : undefined;
    this.#folder = join(place.root, partialOf(name));
    this.#guarded = guardOf(place.root);
  }

  /** Makes the file while whoever sends its bytes is still being asked; `begin` waits for it. */
  prepare(): void {
    this.#prepared = this.#create();
    // `begin` hears of a failure; if nobody begins, nobody has to.
    this.#prepared.catch(() => undefined);
  }

  async takeUp(): Promise<void> {
    this.#found = await partsIn(this.#folder);
    for (const part of this.#found) if (await this.#continue(part)) return;
  }

  /** False where nothing tells of it, or it is not what is told. */
  async #continue(part: string): Promise<boolean> {
    const state = await readPartState(this.#folder, part);
    if (state === undefined) return false;
    const handle = await open(join(this.#folder, part), 'r+').catch(() => undefined);
    if (handle === undefined) return false;
    this.#name = part;
    this.#handle = handle;
    if ((await this.#sizeKept(handle)) < state.length) {
      await this.#close();
      return false;
    }
    this.#continued = true;
    this.memo = state.memo;
    this.length = this.#unhashed = state.length;
    this.#checkpoint = { length: state.length, at: Date.now(), running: Promise.resolve() };
    return true;
  }

  async begin(memo?: Memo, size = 0): Promise<void> {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    if (prepared === undefined) await this.#close();
    await this.#guarded(async () => {
      await (prepared ?? this.#create());
      // Refused before the disk is full: the database may live on it too.
      if (size > this.#room) throw fullDisk(`${size} bytes are needed, ${this.#room} are free`);
    });
    this.#continued = false;
    this.memo = memo;
    this.length = this.#unhashed = 0;
    this.#hash = createHash('sha256');
    this.#walk = this.film ? new BoxWalk() : undefined;
    this.#checkpoint = { length: 0, at: Date.now(), running: Promise.resolve() };
  }

  async append(chunk: Buffer, release?: () => void): Promise<void> {
    if (this.#unhashed > 0) await this.#guarded(() => this.#hashKept());
    this.#see(chunk);
    this.#block.push(chunk);
    if (release !== undefined) this.#releases.push(release);
    this.#blockBytes += chunk.length;
    this.length += chunk.length;
    // The next block gathers while this one is written.
    if (this.#blockBytes >= BLOCK_BYTES || this.#block.length >= BLOCK_CHUNKS)
      await this.#guarded(() => this.#nextBlock());
  }

  async suspend(): Promise<void> {
    if (this.memo === undefined) return this.discard();
    try {
      await this.#guarded(async () => {
        await this.#flush();
        await this.#checkpoint.running;
        await this.#keep(this.length);
      });
    } finally {
      await this.#close();
    }
  }

  async discard(): Promise<void> {
    await this.#close();
    await this.#guarded(async () => {
      const own = this.#name === undefined ? this.#found : [this.#name];
      for (const part of own) await removePart(this.#folder, part);
      // A part that is left belongs to a successor.
      if ((await partsIn(this.#folder)).length === 0) await rm(this.#folder, { recursive: true, force: true });
    });
  }

  async publish(): Promise<Published> {
    const handle = this.#open();
    return this.#guarded(async () => {
      await this.#flush();
      if (this.#unhashed > 0) await this.#hashKept();
      this.#walk?.end();
      await this.#checkpoint.running;
      // Behind the last checkpoint of an earlier attempt there may be anything.
      if (this.#continued) await handle.truncate(this.length);
      await handle.datasync();
      const [from, to] = [join(this.#folder, this.#name ?? ''), join(this.place.root, this.name)];
      await Promise.all([this.#close(), publishFile(from, to, () => dropFolder(this.#folder))]);
      await this.place.remember();
      return { size: this.length, sha256: this.#hash.digest('hex') };
    });
  }

  async #create(): Promise<void> {
    await this.place.within(() => emptyFolder(this.#folder));
    const name = `${randomBytes(8).toString('hex')}.part`;
    this.#handle = await open(join(this.#folder, name), 'wx');
    this.#name = name;
    const direct = openDirect(join(this.#folder, name));
    // Waited for in any case, so that `#close` finds the handle.
    this.#room = await roomAt(this.#folder).finally(async () => (this.#direct = await direct));
  }

  /** Closes the file where that fails: nobody is given the writer then who could. */
  async #sizeKept(handle: FileHandle): Promise<number> {
    try {
      return (await handle.stat()).size;
    } catch (error) {
      await this.#close();
      throw error;
    }
  }

  #open(): FileHandle {
    if (this.#handle === undefined) throw new TypeError('the writer has not begun, or is spent');
    return this.#handle;
  }

  async #nextBlock(): Promise<void> {
    await this.#writing;
    const [block, releases, end] = [this.#block, this.#releases, this.length];
    const start = end - this.#blockBytes;
    this.#emptyBlock();
    this.#writing = writeBlock(this.#open(), this.#direct, block, start).then(() => {
      for (const release of releases) release();
      this.#checkpointIfDue(end);
    });
    // Whoever awaits it next hears of the failure; until then it must not count as unhandled.
    this.#writing.catch(() => undefined);
  }

  #emptyBlock(): void {
    this.#block = [];
    this.#releases = [];
    this.#blockBytes = 0;
  }

  async #flush(): Promise<void> {
    if (this.#blockBytes > 0) await this.#nextBlock();
    await this.#writing;
  }

  /** Runs beside the writing: waiting for the disk here would hold up the network. */
  #checkpointIfDue(length: number): void {
    const last = this.#checkpoint;
    const due = Date.now() - last.at >= CHECKPOINT.ms && length - last.length >= CHECKPOINT.bytes;
    if (!due || this.memo === undefined) return;
    const running = last.running.then(() => this.#keep(length));
    running.catch(() => undefined);
    this.#checkpoint = { length, at: Date.now(), running };
  }

  /** The state never names more bytes than are durable. */
  async #keep(length: number): Promise<void> {
    await this.#open().datasync();
    if (this.memo === undefined || this.#name === undefined) return;
    await writePartState(this.#folder, this.#name, { length, memo: this.memo });
  }

  #see(bytes: Buffer): void {
    this.#walk?.update(bytes);
    this.#hash.update(bytes);
  }

  async #hashKept(): Promise<void> {
    const kept = { start: 0, end: this.#unhashed - 1, autoClose: false, highWaterMark: 1024 * 1024 };
    for await (const chunk of this.#open().createReadStream(kept)) this.#see(chunk as Buffer);
    this.#unhashed = 0;
  }

  async #close(): Promise<void> {
    await Promise.allSettled([this.#prepared]);
    const handle = this.#handle;
    await Promise.allSettled([this.#writing, this.#checkpoint.running]);
    this.#handle = undefined;
    this.#emptyBlock();
    const direct = this.#direct;
    this.#direct = undefined;
    await Promise.allSettled([handle?.close(), direct?.close()]);
  }
}

export async function openFileWriter(
  place: FilePlace,
  name: string,
  { resume = true, film = false }: WriterOptions = {},
): Promise<StorageWriter> {
  const writer = new FileWriter(place, name, film);
  if (resume) await guardOf(place.root)(() => writer.takeUp());
  else writer.prepare();
  return writer;
}
