import { leftBehind } from './left-behind.mjs';

/** Fails the run where a process of it is left. */
export default async function globalTeardown() {
  const { folder, stop } = globalThis.testServer;
  await stop();
  const left = await leftBehind(folder);
  for (const { pid } of left) process.kill(Number(pid), 'SIGKILL');
  if (left.length > 0) {
    const names = left.map(({ pid, command }) => `\n  ${pid} ${command.slice(0, 200)}`);
    throw new Error(`this run has left ${left.length} processes behind, which are ended now:${names.join('')}`);
  }
}
