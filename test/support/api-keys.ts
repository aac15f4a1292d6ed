import type { InterfaceName } from '../../src/contracts/common/api-contract.js';
import type { TestApp } from './app.js';

export interface TestKey {
  readonly id: string;
  readonly key: string;
  readonly prefix: string;
  readonly haulerId: string;
  readonly expiresAt: string | null;
}

export interface TestKeyOptions {
  readonly haulerId?: string;
  readonly customerId?: string;
  readonly name?: string;
  readonly expiresAt?: string;
}

export async function createHauler(service: TestApp, name = 'Test Hauling'): Promise<string> {
  const { status, body } = await service.admin<{ id: string }>('POST', '/haulers', { name });
  if (status !== 201) throw new Error(`no hauler: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

/** A key as an admin issues it, of a new hauler unless one is named. */
export async function issueKey(
  service: TestApp,
  interfaces: readonly InterfaceName[],
  options: TestKeyOptions = {},
): Promise<TestKey> {
  const haulerId = options.haulerId ?? (await createHauler(service));
  const { status, body } = await service.admin<TestKey>('POST', '/api-keys', { ...options, haulerId, interfaces });
  if (status !== 201) throw new Error(`no key: ${status} ${JSON.stringify(body)}`);
  return body;
}
