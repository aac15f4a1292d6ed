import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import type { Reply, TestApp } from './app.js';

const PATH = ACCOUNT_API.prefix + ACCOUNT_API.routes.createAccount.path;

/** What a key for the Account API gets with a body that is always refused: 400 means that the key opened the door. */
export const OPEN = 400;
export const CLOSED = 401;

export function knock(service: TestApp, key: string): Promise<Reply> {
  return service.call('POST', PATH, { headers: { [ACCOUNT_API.keyHeader]: key }, body: {} });
}

export async function doorOf(service: TestApp, key: string): Promise<number> {
  return (await knock(service, key)).status;
}

/** Asks again and again until `done` holds, and returns the milliseconds that it took. */
export async function until(done: () => Promise<boolean>, patienceMs = 10_000): Promise<number> {
  const start = performance.now();
  while (!(await done())) {
    if (performance.now() - start > patienceMs) throw new Error(`not so within ${patienceMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return performance.now() - start;
}
