import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import type { TestApp } from './app.js';
import type { Reply } from './http.js';

const PATH = ACCOUNT_API.prefix + ACCOUNT_API.routes.createAccount.path;

/** Status of a call to the Account API with an invalid body: 400 if the key is valid, else 401. */
export const ACCEPTED = 400;
export const REFUSED = 401;

export function callWithKey(service: TestApp, key: string): Promise<Reply> {
  return service.call('POST', PATH, { headers: { [ACCOUNT_API.keyHeader]: key }, body: {} });
}

export async function statusWithKey(service: TestApp, key: string): Promise<number> {
  return (await callWithKey(service, key)).status;
}

/** Polls until `done` returns true. Returns the elapsed milliseconds. */
export async function until(done: () => Promise<boolean>, timeoutMs = 10_000): Promise<number> {
  const start = performance.now();
  while (!(await done())) {
    if (performance.now() - start > timeoutMs) throw new Error(`the condition did not hold within ${timeoutMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  return performance.now() - start;
}
