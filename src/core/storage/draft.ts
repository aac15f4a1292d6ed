import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../config/private-modes.js';
import type { DiskSpace, Reservation } from './disk-space.js';
import { DraftReplacedError, errorCode, fileFailure } from './storage-errors.js';
import { isStorageName, safeName } from './storage-names.js';

const BUFFER_BYTES = 1024 * 1024;
const PART = '.part';

/** Size and checksum of a published file. */
export interface Published {
  /** Bytes. */
  readonly size: number;
  /** In hex. */
  readonly sha256: string;
}

/** Progress of a draft. */
export interface DraftPoint {
  /** Of the `Draft`. */
  readonly id: string;
  /** Bytes that are durable; the draft may have more. */
  readonly bytes: number;
  /** Bytes of the whole file. */
  readonly total: number;
}

/** The folder of all drafts of a storage, on a local disk. */
export interface DraftFolder {
  readonly path: string;
  readonly space: DiskSpace;
  /** Runs work that needs the folder, and creates the folder if it is missing. */
  within<T>(work: () => Promise<T>): Promise<T>;
  /** Makes a whole and durable file available under its name and removes it from this folder. */
  publish(path: string, name: string): Promise<void>;
}

/**
 * A file that is being written. It appears under its name only by `publish`. A draft that starts from zero is a new file,
 * and a resumed one is written at its own offsets: a late owner, whose row was lost, either writes the same bytes at
 * the same places or writes to a file that was removed. Every method may reject with `StorageUnavailableError`, or with
 * `DraftReplacedError` if another owner started this file from zero.
 */
export class Draft {
  #writing: Promise<void> = Promise.resolve();
  #handle: FileHandle | undefined;
  #isWhole = false;
  /** Bytes written so far, including those of earlier attempts. */
  length: number;

  constructor(
    private readonly drafts: DraftFolder,
    private readonly name: string,
    /** Identifies the draft among those of its name, for `openDraft`. */
    readonly id: string,
    handle: FileHandle,
    private readonly reservation: Reservation,
    /** Bytes of earlier attempts; undefined if the draft started from zero. */
    private readonly resumedFrom?: number,
  ) {
    this.#handle = handle;
    this.length = resumedFrom ?? 0;
  }

  /** Appends. A draft has one writable at a time. `onWritten` is called with each chunk after it was written. */
  writable(onWritten: (chunk: Buffer) => void = () => undefined): Writable {
    const append = (chunks: Buffer[], done: (error?: Error | null) => void): void => {
      this.#writing = this.#guarded((handle) => this.#append(handle, chunks));
      this.#writing.then(() => {
        chunks.forEach(onWritten);
        done();
      }, done);
    };
    return new Writable({
      highWaterMark: BUFFER_BYTES,
      write: (chunk: Buffer, _encoding, done) => append([chunk], done),
      writev: (chunks, done) =>
        append(
          chunks.map(({ chunk }) => chunk as Buffer),
          done,
        ),
    });
  }

  /** The bytes written so far. */
  readable(): Readable {
    const options = { start: 0, end: this.length - 1, autoClose: false, highWaterMark: BUFFER_BYTES };
    return this.#opened().createReadStream(options);
  }

  /** Makes the bytes written so far durable. Returns how many there are. */
  async sync(): Promise<number> {
    await this.#settled();
    const { length } = this;
    await this.#guarded((handle) => handle.datasync());
    return length;
  }

  /** Makes the whole file appear under its name at once, durably; a file of that name is replaced. */
  async publish(): Promise<void> {
    await this.#settled();
    await this.#guarded(async (handle) => {
      // A killed attempt may have written more than it reported.
      if (this.resumedFrom !== undefined) await handle.truncate(this.length);
      await handle.datasync();
      this.#isWhole = true;
      await Promise.all([this.close(), this.drafts.publish(this.#path, this.name)]);
    });
  }

  /** Every byte is durable. If the publication failed, `openDraft` with all bytes repeats it without another download. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Keeps the bytes for `openDraft`. */
  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    this.reservation.release();
    await this.#settled();
    await handle?.close().catch(() => undefined);
  }

  async discard(): Promise<void> {
    await this.close();
    await this.#guardedPath(async () => {
      await rm(this.#path, { force: true });
      // Another draft in the folder belongs to a later owner.
      await rmdir(this.#folder).catch(() => undefined);
    });
  }

  get #folder(): string {
    return draftsOf(this.drafts, this.name);
  }

  get #path(): string {
    return join(this.#folder, this.id);
  }

  async #append(handle: FileHandle, chunks: Buffer[]): Promise<void> {
    const bytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    await this.reservation.use(bytes);
    await writeAll(handle, chunks, bytes, this.length);
    this.length += bytes;
  }

  async #settled(): Promise<void> {
    await this.#writing.catch(() => undefined);
  }

  #opened(): FileHandle {
    if (this.#handle === undefined) throw new TypeError('the draft is closed');
    return this.#handle;
  }

  #guarded<T>(work: (handle: FileHandle) => Promise<T>): Promise<T> {
    return this.#guardedPath(() => work(this.#opened()));
  }

  /** If a file of this draft is missing while the folder of all drafts exists, another owner removed it. */
  async #guardedPath<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (errorCode(error) === 'ENOENT' && (await readdir(this.drafts.path).catch(() => undefined)) !== undefined)
        throw new DraftReplacedError(error);
      throw fileFailure(error);
    }
  }
}

/** The calls of a storage that write files. */
export const draftCalls = (drafts: DraftFolder) => ({
  createDraft: (name: string, size?: number) => createDraft(drafts, name, size),
  openDraft: (name: string, point: DraftPoint) => openDraft(drafts, name, point),
  removeDrafts: (name: string) => removeDrafts(drafts, name),
  store: async (name: string, source: AsyncIterable<Buffer>, size?: number) =>
    storeStream(await createDraft(drafts, name, size), source),
});

/** Creates an empty draft; earlier drafts of the name are removed, so that a late owner cannot publish one. */
async function createDraft(drafts: DraftFolder, name: string, size?: number): Promise<Draft> {
  const folder = draftsOf(drafts, safeName(name));
  try {
    await drafts.within(() => makeEmptyFolder(folder));
    const reservation = await drafts.space.reserve(size ?? 0);
    try {
      const id = `${randomBytes(8).toString('hex')}${PART}`;
      const handle = await open(join(folder, id), 'wx+', PRIVATE_FILE);
      return new Draft(drafts, name, id, handle, reservation);
    } catch (error) {
      reservation.release();
      throw error;
    }
  } catch (error) {
    await rmdir(folder).catch(() => undefined);
    throw fileFailure(error);
  }
}

/** Returns undefined if the bytes are no longer there. Reserves the space of the missing ones. */
async function openDraft(
  drafts: DraftFolder,
  name: string,
  { id, bytes, total }: DraftPoint,
): Promise<Draft | undefined> {
  const path = join(draftsOf(drafts, safeName(name)), id);
  const handle = await open(path, 'r+').catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    if ((await handle.stat()).size < bytes) {
      await handle.close();
      return undefined;
    }
    const reservation = await drafts.space.reserve(total - bytes);
    return new Draft(drafts, name, id, handle, reservation, bytes);
  } catch (error) {
    await handle.close();
    throw fileFailure(error);
  }
}

async function removeDrafts(drafts: DraftFolder, name: string): Promise<void> {
  await rm(draftsOf(drafts, safeName(name)), { recursive: true, force: true }).catch((error: unknown) => {
    throw fileFailure(error);
  });
}

/** Writes a whole stream and publishes it; the draft is removed if the stream fails. */
async function storeStream(draft: Draft, source: AsyncIterable<Buffer>): Promise<Published> {
  const hash = createHash('sha256');
  async function* hashed(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  }
  try {
    await pipeline(source, hashed, draft.writable());
    await draft.publish();
    return { size: draft.length, sha256: hash.digest('hex') };
  } catch (error) {
    await draft.discard().catch(() => undefined);
    throw error;
  }
}

/** Each name has a folder of its own, so that starting from zero removes the drafts of that name only. */
const draftsOf = ({ path }: DraftFolder, name: string): string => join(path, name.replaceAll('/', '~'));

/** Whether it is the folder of the drafts of a name. */
export const isDraftFolder = (entry: string): boolean => isStorageName(entry.replaceAll('~', '/'));

async function makeEmptyFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: PRIVATE_FOLDER });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
    for (const entry of await readdir(path)) if (entry.endsWith(PART)) await rm(join(path, entry), { force: true });
  }
}

/** The system may write fewer bytes than asked, and does so just before a disk is full. */
async function writeAll(handle: FileHandle, chunks: Buffer[], total: number, position: number): Promise<void> {
  let { bytesWritten: done } = await handle.writev(chunks, position);
  if (done === total) return;
  const rest = Buffer.concat(chunks);
  while (done < total) done += (await handle.write(rest, done, total - done, position + done)).bytesWritten;
}
