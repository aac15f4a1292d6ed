import globalTeardown from '../support/global-teardown.mjs';

export default async function endTarget() {
  const target = globalThis.acceptanceTarget;
  globalThis.acceptanceTarget = undefined;
  try {
    await target?.end();
  } finally {
    await globalTeardown();
  }
}
