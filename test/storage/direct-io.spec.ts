import { expect, test } from '@jest/globals';
import { randomFillSync } from 'node:crypto';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alignedBuffer, openDirect, writeDirectly } from '../../src/storage/direct-io.js';

const aligned = alignedBuffer(64 * 1024);
randomFillSync(aligned);

const CASES: [string, Buffer, position: number, written: number][] = [
  ['whole sectors', aligned.subarray(0, 8192), 4096, 8192],
  ['all but the last bytes', aligned.subarray(0, 8192 + 7), 0, 8192],
  ['nothing of less than a sector', aligned.subarray(0, 4095), 0, 0],
  ['nothing to another place of the file', aligned.subarray(0, 8192), 100, 0],
  ['nothing from another place of memory', aligned.subarray(16, 8192 + 16), 0, 0],
  ['nothing of common memory', Buffer.alloc(8192), 0, 0],
];

test.each(CASES)('directly is written: %s', async (_, chunk, position, written) => {
  const folder = await mkdtemp(join(tmpdir(), 'direct-'));
  try {
    const path = join(folder, 'film');
    await writeFile(path, '');
    // Where the file system has no direct writes, all of them go the other way.
    const direct = await openDirect(path);
    const handle = direct ?? (await open(path, 'r+'));
    try {
      expect(await writeDirectly(handle, chunk, position)).toBe(written);
    } finally {
      await handle.close();
    }
    const stored = await readFile(path);
    expect(stored.subarray(position)).toEqual(chunk.subarray(0, written));
  } finally {
    await rm(folder, { recursive: true });
  }
});
