import { openStorage } from '../../../../src/storage/open-storage.ts';
import { Downloader } from '../../../../src/vision/downloads/downloader.ts';

// A download in a process of its own: node download-child.mjs STORAGE_URL LINK NAME [RESUME_POINT]
// Prints each checkpoint and then the result, one JSON document per line.
const [storageUrl, url, name, resume] = process.argv.slice(2);
const storage = await openStorage(storageUrl);
const print = async (value) => console.log(JSON.stringify(value ?? null));
await print(
  await new Downloader(storage, { allowPrivate: true }).download({
    url,
    name,
    resume: resume === undefined ? undefined : JSON.parse(resume),
    onCheckpoint: print,
  }),
);
storage.close();
