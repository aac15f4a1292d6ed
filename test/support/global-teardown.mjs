import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { leftBehind } from './left-behind.mjs';

/** Fails the run where a process of it is left, or where a secret was found in a log, table or answer. */
export default async function globalTeardown() {
  if (globalThis.testServer === undefined) return;
  const { folder, stop } = globalThis.testServer;
  globalThis.testServer = undefined;
  // `secret-search.ts` writes it.
  const secrets = join(folder, 'secrets-found.txt');
  const found = existsSync(secrets) ? readFileSync(secrets, 'utf8') : '';
  await stop();
  if (found !== '') throw new Error(`secrets of this run stand in clear, see test/support/secret-search.ts:\n${found}`);
  const left = await leftBehind(folder);
  for (const { pid } of left) process.kill(Number(pid), 'SIGKILL');
  if (left.length > 0) {
    const names = left.map(({ pid, command }) => `\n  ${pid} ${command.slice(0, 200)}`);
    throw new Error(`this run has left ${left.length} processes behind, which are ended now:${names.join('')}`);
  }
}
