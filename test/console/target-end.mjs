import globalTeardown from '../support/global-teardown.mjs';

export default async function endTarget() {
  const target = globalThis.consoleTarget;
  globalThis.consoleTarget = undefined;
  try {
    await target?.end();
  } finally {
    await globalTeardown();
  }
}
