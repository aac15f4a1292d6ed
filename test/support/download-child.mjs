import { registerTypeScript } from './typescript-hook.mjs';

// A download in a process of its own: node download-child.mjs STORAGE_URL LINK NAME [RESUME_POINT]
// Prints each checkpoint and then the result, one JSON document per line.
registerTypeScript();
const { openStorage } = await import('../../src/storage/open-storage.ts');
const { Downloader } = await import('../../src/vision/downloads/downloader.ts');
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
