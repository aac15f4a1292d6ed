import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { registerTypeScript } from './typescript-hook.mjs';

// Fails single calls of the file system as a dying disk does, which no real one does on demand, and prints after each
// failure what was told, how many handles were left open, and which files: node failing-disk-child.mjs ROOT NAME
registerTypeScript();
const { openStorage } = await import('../../src/storage/open-storage.ts');
const [root, name] = process.argv.slice(2);
const storage = await openStorage(`file:${root}`);
const dying = () => Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO', errno: -5 }));

const probe = await fs.promises.open(process.execPath);
const handles = Object.getPrototypeOf(probe);
await probe.close();

async function failing(object, method, work) {
  const real = object[method];
  object[method] = dying;
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

const isPart = (path) => /\.part( \(deleted\))?$/.test(path);
const targetOf = (fd) => fs.readlinkSync(`/proc/self/fd/${fd}`);
const opened = () => fs.readdirSync('/proc/self/fd').filter((fd) => fs.existsSync(`/proc/self/fd/${fd}`));
const left = () => fs.readdirSync(join(root, '.partial'), { recursive: true }).filter(isPart).length;
const state = (told) => [told, opened().map(targetOf).filter(isPart).length, left()];

async function publishing() {
  const writer = await storage.writer(name, { resume: false });
  await writer.begin(undefined, 10);
  await writer.append(Buffer.from('0123456789'));
  const told = await failing(handles, 'datasync', () => writer.publish());
  await writer.discard();
  return state(told);
}

async function making() {
  const told = await failing(fs.promises, 'statfs', async () => {
    const writer = await storage.writer(name, { resume: false });
    await writer.begin().finally(() => writer.discard());
  });
  return state(told);
}

async function takingUp() {
  const first = await storage.writer(name);
  await first.begin({ validator: 'v' });
  await first.append(Buffer.from('0123456789'));
  await first.suspend();
  return state(await failing(handles, 'stat', () => storage.writer(name)));
}

console.log(JSON.stringify({ publishing: await publishing(), making: await making(), takingUp: await takingUp() }));
