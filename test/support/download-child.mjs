import { registerTypeScript } from './typescript-hook.mjs';

// A download in a process of its own, to be killed in the middle: node download-child.mjs STORAGE_URL LINK NAME
registerTypeScript();
const { openStorage } = await import('../../src/storage/open-storage.ts');
const { createDownloader } = await import('../../src/storage/download/downloader.ts');
const [storageUrl, url, name] = process.argv.slice(2);
const storage = await openStorage(storageUrl);
console.log(JSON.stringify(await createDownloader(storage, { allowPrivate: true }).download({ url, name })));
storage.close();
