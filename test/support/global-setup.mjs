import { execFileSync } from 'node:child_process';
import { CACHE, registerTypeScript } from './typescript-hook.mjs';

/** One PostgreSQL and one migrated template database for the whole run, whatever number of test files and workers. */
export default async function globalSetup() {
  // Several projects of a run use it; the last one to end stops it.
  globalThis.testServerUsers = (globalThis.testServerUsers ?? 0) + 1;
  if (globalThis.testServer !== undefined) return;
  registerTypeScript();
  // For the workers of Jest, and for the programs that tests start.
  process.env['NODE_COMPILE_CACHE'] ??= CACHE;
  const { startTestServer } = await import('./test-server.ts');
  const { folder, stop } = await startTestServer();
  globalThis.testServer = { folder, stop };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => {
      endWorkers();
      void stop().finally(() => process.kill(process.pid, signal));
    });
  }
}

/** Jest leaves its workers running when a signal reaches Jest alone, and not the whole group as Ctrl-C does. */
function endWorkers() {
  try {
    const list = execFileSync('pgrep', ['-P', String(process.pid), '-f', 'jest'], { encoding: 'utf8' });
    for (const pid of list.trim().split('\n')) process.kill(Number(pid), 'SIGKILL');
  } catch {
    // There is none, or this machine has no pgrep.
  }
}
