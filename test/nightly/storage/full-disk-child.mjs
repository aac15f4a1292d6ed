import { rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { Downloader } from '../../../src/vision/downloads/downloader.ts';

// Works on a file system of 16 MiB, of which videos may use 8, and prints what each attempt ended with and how much space
// is free afterwards: node full-disk-child.mjs ROOT ENDLESS_LINK BREAKING_LINK SMALL_LINK NAME
const [root, endless, breaking, small, name] = process.argv.slice(2);
const storage = await openStorage(`file:${root}`);
const downloader = new Downloader(storage, { allowPrivate: true });
const ends = [];
let resume;
async function attempt(url) {
  const onCheckpoint = async (point) => void (resume = point);
  const end = await downloader.download({ url, name, resume, onCheckpoint }).then(
    () => 'stored',
    ({ kind, trouble }) => kind ?? trouble,
  );
  const { bavail, bsize } = statfsSync(root);
  ends.push([end, Math.floor((bavail * bsize) / 1024 ** 2)]);
}
await attempt(endless);
await attempt(breaking);
const filler = join(root, 'filler');
writeFileSync(filler, Buffer.alloc(3 * 1024 ** 2));
await attempt(breaking);
rmSync(filler);
await attempt(small);
console.log(JSON.stringify(ends));
