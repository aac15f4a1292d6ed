import { registerTypeScript } from './typescript-hook.mjs';

/** One PostgreSQL and one migrated template database for the whole run, whatever number of test files and workers. */
export default async function globalSetup() {
  registerTypeScript();
  const { startTestServer } = await import('./test-server.ts');
  const { stop } = await startTestServer();
  globalThis.stopTestServer = stop;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.once(signal, () => void stop().finally(() => process.kill(process.pid, signal)));
  }
}
