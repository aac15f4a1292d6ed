import globalSetup from '../support/global-setup.mjs';

/** The service that the tier calls: the one of `ACCEPTANCE_URL`, else the build, started once with a database of its own. */
export default async function startTarget() {
  await globalSetup();
  if (process.env.ACCEPTANCE_URL) return;
  const { startTargetService } = await import('./support/target-service.ts');
  globalThis.acceptanceTarget = await startTargetService();
}
