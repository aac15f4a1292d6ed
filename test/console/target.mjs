import globalSetup from '../support/global-setup.mjs';

/** One built service with its demo and one browser for all files of the tier. */
export default async function startTarget() {
  await globalSetup();
  const { startConsoleTarget } = await import('./support/target.ts');
  globalThis.consoleTarget = await startConsoleTarget();
}
