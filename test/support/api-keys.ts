import type { InterfaceName } from '../../src/contracts/common/interfaces.values.js';
import type { TestApp } from './app.js';

export interface TestKey {
  readonly id: string;
  readonly key: string;
  readonly prefix: string;
  readonly haulerId: string;
  readonly connectionId: string | null;
  readonly expiresAt: string | null;
}

export interface TestKeyOptions {
  readonly haulerId?: string;
  readonly customerId?: string;
  readonly allCustomers?: boolean;
  readonly name?: string;
  readonly expiresAt?: string;
}

export async function createHauler(service: TestApp, name = 'Test Hauling'): Promise<string> {
  const { status, body } = await service.admin<{ id: string }>('POST', '/haulers', { name });
  if (status !== 201) throw new Error(`no hauler: ${status} ${JSON.stringify(body)}`);
  return body.id;
}

/** A key as an admin issues it, of a new hauler unless one is named, and for all customers unless one is named. */
export async function issueKey(
  service: TestApp,
  interfaces: readonly InterfaceName[],
  options: TestKeyOptions = {},
): Promise<TestKey> {
  const haulerId = options.haulerId ?? (await createHauler(service));
  const allCustomers = interfaces.includes('vision') && options.customerId === undefined;
  const request = { allCustomers, ...options, haulerId, interfaces };
  const { status, body } = await service.admin<TestKey>('POST', '/api-keys', request);
  if (status !== 201) throw new Error(`no key: ${status} ${JSON.stringify(body)}`);
  return body;
}

/** A key for the partner of a connection. */
export async function issueConnectionKey(
  service: TestApp,
  connectionId: string,
  options: Pick<TestKeyOptions, 'name' | 'expiresAt'> = {},
): Promise<TestKey> {
  const { status, body } = await service.admin<TestKey>('POST', '/api-keys', { connectionId, ...options });
  if (status !== 201) throw new Error(`no key: ${status} ${JSON.stringify(body)}`);
  return body;
}
