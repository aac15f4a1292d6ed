import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';

/** Extracts a whole archive into a folder. Returns its names; rejects if the archive is cut off or damaged. */
export async function extractZip(file: string, folder: string): Promise<string[]> {
  const zip = await openPromise(file);
  const names: string[] = [];
  for await (const entry of zip.eachEntry()) {
    const path = join(folder, entry.fileName);
    await mkdir(dirname(path), { recursive: true });
    await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(path));
    names.push(entry.fileName);
  }
  return names;
}
