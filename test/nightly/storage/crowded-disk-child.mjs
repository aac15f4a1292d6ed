import { randomUUID } from 'node:crypto';
import { openStorage } from '../../../src/storage/open-storage.ts';
import { storageName } from '../../../src/storage/storage.ts';
import { Downloader } from '../../../src/vision/downloads/downloader.ts';

// Starts downloads at the same time on a file system that only some of them fit on, and prints how many ended in each
// way, and how many MiB were received: node crowded-disk-child.mjs ROOT LINK COUNT
const [root, url, count] = process.argv.slice(2);
const downloader = new Downloader(await openStorage(`file:${root}`), { allowPrivate: true });
const ends = {};
let receivedBytes = 0;
const download = async () => {
  let bytes = 0;
  const onReceived = (received) => (bytes = received);
  const name = storageName('recordings', randomUUID());
  const end = await downloader.download({ url, name, onReceived }).then(
    () => 'stored',
    ({ kind, trouble }) => kind ?? trouble,
  );
  receivedBytes += bytes;
  ends[end] = (ends[end] ?? 0) + 1;
};
await Promise.all(Array.from({ length: Number(count) }, download));
console.log(JSON.stringify({ ...ends, receivedMib: receivedBytes / 1024 ** 2 }));
