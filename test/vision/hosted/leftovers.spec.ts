import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Leftovers } from '../../../src/storage/leftovers.js';
import { ClipFolders } from '../../../src/vision/hosted/clip-folders.js';
import { startTestApp, type TestApp } from '../../support/app.js';

const DAY_MS = 86_400_000;
let app: TestApp;
beforeAll(async () => void (app = await startTestApp({ env: { SIDES: new Set(['partner'] as const) } })));
afterAll(() => app.close());

const untouchedFor = (path: string, days: number) => {
  const then = new Date(Date.now() - days * DAY_MS);
  return utimes(path, then, then);
};

test('an upload that a kill has left half written is swept where only the partner side runs', async () => {
  const partial = join(new URL(app.env.STORAGE_URL).pathname, '.partial');
  for (const [name, days] of [
    ['old', 3],
    ['young', 1],
  ] as const) {
    await mkdir(join(partial, name), { recursive: true });
    await untouchedFor(join(partial, name), days);
  }
  expect(await app.app.get(Leftovers, { strict: false }).sweep()).toBe(1);
  expect(await readdir(partial)).toEqual(['young']);
});

test('so is the folder of a clip that was being cut', async () => {
  const folders = app.app.get(ClipFolders, { strict: false });
  const [old, young] = [await folders.make(), await folders.make()];
  const strange = await mkdtemp(join(tmpdir(), 'somebody-elses-'));
  await untouchedFor(old, 2);
  await untouchedFor(strange, 2);
  expect(await folders.sweep()).toBeGreaterThanOrEqual(1);
  const left = await readdir(tmpdir());
  expect([old, young, strange].map((path) => left.includes(basename(path)))).toEqual([false, true, true]);
  await Promise.all([rm(young, { recursive: true }), rm(strange, { recursive: true })]);
});
