import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { openStorage } from '../../../src/storage/open-storage.ts';

// Fails single calls of the file system as a failing disk does, and prints the reported trouble, how many handles of
// drafts are open, and how many drafts are left: node failing-disk-child.mjs ROOT NAME
const [root, name] = process.argv.slice(2);
const storage = await openStorage(`file:${root}`);
const failingCall = () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO', errno: -5 }));

const probe = await fs.promises.open(process.execPath);
const handles = Object.getPrototypeOf(probe);
await probe.close();

async function failing(object, method, work) {
  const real = object[method];
  object[method] = failingCall;
  syncBuiltinESMExports();
  try {
    return await work().then(
      () => 'nothing',
      ({ trouble }) => trouble,
    );
  } finally {
    object[method] = real;
    syncBuiltinESMExports();
  }
}

const isDraft = (path) => /\.part( \(deleted\))?$/.test(path);
const targetOf = (fd) => fs.readlinkSync(`/proc/self/fd/${fd}`);
const opened = () => fs.readdirSync('/proc/self/fd').filter((fd) => fs.existsSync(`/proc/self/fd/${fd}`));
const left = () => fs.readdirSync(join(root, '.partial'), { recursive: true }).filter(isDraft).length;
const state = (trouble) => [trouble, opened().map(targetOf).filter(isDraft).length, left()];

async function publishing() {
  const draft = await storage.createDraft(name, 10);
  await pipeline([Buffer.from('0123456789')], draft.writable());
  const trouble = await failing(handles, 'datasync', () => draft.publish());
  await draft.discard();
  return state(trouble);
}

async function creating() {
  return state(await failing(fs.promises, 'statfs', () => storage.createDraft(name, 10)));
}

async function opening() {
  const draft = await storage.createDraft(name, 10);
  await pipeline([Buffer.from('0123456789')], draft.writable());
  await draft.close();
  const point = { id: draft.id, bytes: 10, total: 10 };
  return state(await failing(handles, 'stat', () => storage.openDraft(name, point)));
}

console.log(JSON.stringify({ publishing: await publishing(), creating: await creating(), opening: await opening() }));
