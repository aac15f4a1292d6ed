import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DraftSweep } from '../../../src/storage/storage.module.js';
import { ClipFolders } from '../../../src/reference-partner/vision/clip-folders.js';
import { startTestApp, type TestApp } from '../../support/app.js';

const DAY_MS = 86_400_000;
let app: TestApp;
beforeAll(async () => void (app = await startTestApp({ env: { SIDES: new Set(['partner'] as const) } })));
afterAll(() => app.close());

const MINUTE_MS = 60_000;
const untouchedFor = (path: string, ms: number) => {
  const then = new Date(Date.now() - ms);
  return utimes(path, then, then);
};

test('an upload that a kill has left half written is swept where only the partner side runs', async () => {
  const partial = join(new URL(app.env.STORAGE_URL).pathname, '.partial');
  for (const [name, days] of [
    ['old', 3],
    ['young', 1],
  ] as const) {
    await mkdir(join(partial, name), { recursive: true });
    await untouchedFor(join(partial, name), days * DAY_MS);
  }
  expect(await app.app.get(DraftSweep, { strict: false }).sweep()).toBe(1);
  expect(await readdir(partial)).toEqual(['young']);
});

test('so is the folder of a clip whose process has touched it no more, and at each start; one in use stays', async () => {
  const place = await mkdtemp(join(tmpdir(), 'clip-folders-'));
  const [mine, others] = [new ClipFolders(), new ClipFolders()];
  const [used, dead, young, done] = [
    await mine.make(place),
    await others.make(place),
    await others.make(place),
    await mine.make(place),
  ];
  const strange = await mkdtemp(join(place, 'somebody-elses-'));
  for (const path of [used, dead, strange]) await untouchedFor(path, 16 * MINUTE_MS);
  await untouchedFor(young, 14 * MINUTE_MS);
  await mine.remove(done);
  expect(await mine.sweep(place)).toBe(1);
  expect((await readdir(place)).sort()).toEqual([used, young, strange].map((path) => basename(path)).sort());
  expect((await stat(used)).mtimeMs).toBeGreaterThan(Date.now() - MINUTE_MS);

  const left = await others.make();
  await untouchedFor(left, 16 * MINUTE_MS);
  await new ClipFolders().onApplicationBootstrap();
  await expect(stat(left)).rejects.toThrow('ENOENT');
  await rm(place, { recursive: true });
});
