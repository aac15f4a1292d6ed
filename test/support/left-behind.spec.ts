import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { held, heldChild } from './held.js';
import { testServer } from './test-run.js';

const { leftBehind } = (await import(join(import.meta.dirname, 'left-behind.mjs'))) as {
  readonly leftBehind: (
    folder: string,
    timeoutMs?: number,
  ) => Promise<{ pid: string; command: string; marked: boolean }[]>;
};
const onLinux = process.platform === 'linux' ? describe : describe.skip;

const sleeper = (env: NodeJS.ProcessEnv): ChildProcess =>
  heldChild(spawn('sleep', ['60'], { stdio: 'ignore', detached: true, env: { PATH: process.env['PATH'], ...env } }));

onLinux('a process that a run has left behind', () => {
  test('is found by the folder of the run, with any parent', async () => {
    const folder = mkdtempSync(join(testServer().folder, 'left-'));
    const orphan = sleeper({ ANYTHING: join(folder, 'below') });
    const marked = async () => (await leftBehind(folder, 0)).filter((found) => found.marked);
    expect(await marked()).toMatchObject([{ pid: String(orphan.pid), command: 'sleep 60' }]);
    orphan.kill();
    await once(orphan, 'exit');
    expect(await marked()).toEqual([]);
  });

  test('is found as a descendant', async () => {
    const child = sleeper({});
    const found = await leftBehind('/no/such/folder', 0);
    expect(found.map(({ pid }) => pid)).toContain(String(child.pid));
  });
});

test('a held resource ends only once', async () => {
  let count = 0;
  const end = held(async () => ++count);
  expect([await end(), await end(), count]).toEqual([1, 1, 1]);
});
