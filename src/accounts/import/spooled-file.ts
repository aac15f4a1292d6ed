import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { randomUUID } from 'node:crypto';
import { PRIVATE_FILE } from '../../core/config/private-modes.js';
import { unavailable } from '../../core/errors/app-error.js';
import { makeFolder } from '../../core/storage/make-folder.js';

const HEAD_BYTES = 65_536;

/** A file without a name: it can be read from its start several times, and is gone with the process. */
export interface SpooledFile {
  readonly head: Buffer;
  bytes(): AsyncIterable<Buffer>;
}

/** Writes all bytes to a file below `folder` before `work` reads them, because nothing may be done for a part of them. */
export async function spooled<T>(
  folder: string,
  bytes: AsyncIterable<Buffer>,
  work: (file: SpooledFile) => Promise<T>,
): Promise<T> {
  const handle = await onDisk(() => openUnnamed(folder));
  try {
    for await (const chunk of bytes) await onDisk(() => handle.write(chunk));
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    return await work({
      head: buffer.subarray(0, bytesRead),
      bytes: () => handle.createReadStream({ start: 0, autoClose: false }) as AsyncIterable<Buffer>,
    });
  } finally {
    await handle.close();
  }
}

async function openUnnamed(folder: string): Promise<FileHandle> {
  await makeFolder(folder);
  const path = join(folder, `haulbridge-import-${randomUUID()}`);
  const handle = await open(path, 'wx+', PRIVATE_FILE);
  await unlink(path);
  return handle;
}

async function onDisk<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code === 'ENOSPC' ? 'the disk is full' : 'the disk refuses it';
    throw unavailable(`the file cannot be kept while it is read: ${reason}; nothing was imported`, { cause });
  }
}
