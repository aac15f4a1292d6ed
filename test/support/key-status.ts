import { ACCOUNT_API } from '../../src/contracts/account/account.api.js';
import type { TestApp } from './app.js';
import type { Reply } from './http.js';

const PATH = ACCOUNT_API.prefix + ACCOUNT_API.routes.createAccount.path;

/** Status of a call to the Account API with an invalid body where the key is valid. */
export const ACCEPTED = 400;

export function callWithKey(service: TestApp, key: string): Promise<Reply> {
  return service.call('POST', PATH, { headers: { [ACCOUNT_API.keyHeader]: key }, body: {} });
}

export async function statusWithKey(service: TestApp, key: string): Promise<number> {
  return (await callWithKey(service, key)).status;
}
