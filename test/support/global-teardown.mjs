import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { leftBehind } from './left-behind.mjs';

/** Fails the run where a process of it is left. Prints what could not be searched for secrets, and how much that was. */
export default async function globalTeardown() {
  if (--globalThis.testServerUsers > 0 || globalThis.testServer === undefined) return;
  const { folder, stop } = globalThis.testServer;
  globalThis.testServer = undefined;
  // `secret-search.ts` writes it.
  const file = join(folder, 'not-searched-for-secrets.txt');
  const unsearched = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  await stop();
  if (unsearched.length > 0)
    process.stderr.write(`not searched for secrets in ${unsearched.length} databases:\n${unsearched.join('\n')}\n`);
  const left = await leftBehind(folder);
  for (const { pid } of left) process.kill(Number(pid), 'SIGKILL');
  if (left.length > 0) {
    const names = left.map(({ pid, command }) => `\n  ${pid} ${command.slice(0, 200)}`);
    throw new Error(`this run has left ${left.length} processes behind, which are ended now:${names.join('')}`);
  }
}
