import { type Hauler, type Plain } from './hauler.js';
import { administer, call, listed, type Service, target } from './target.js';

/** As the admin API answers it; a list has all but the key itself. */
export interface Key {
  readonly id: string;
  readonly key: string;
  readonly prefix: string;
  readonly haulerId: string | null;
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
  readonly revokedAt: string | null;
}

/** A valid key gets past the check of the key, and is refused for its empty body. */
export const [VALID, INVALID] = [400, 401];

export const openedBy = async (key: string, service: Service = target): Promise<number> =>
  (await call('POST', '/platform-api/v1/accounts', { headers: { 'PLATFORM-API-KEY': key }, body: {} }, service)).status;

export async function issueKey(hauler: Hauler, more: Plain = {}): Promise<Key> {
  const body = { haulerId: hauler.id, interfaces: ['account'], ...more };
  return administer<Key>('POST', '/api-keys', body, hauler.service);
}

export const rotateKey = (hauler: Hauler, { id }: Key, body?: Plain) =>
  administer<Key>('POST', `/api-keys/${id}/rotate`, body, hauler.service);

export async function shownKey(hauler: Hauler, { id }: Key): Promise<Key> {
  const all = await listed<Key>(`/api-keys?haulerId=${hauler.id}`, hauler.service);
  const found = all.find((key) => key.id === id);
  if (found === undefined) throw new Error('the key is not listed');
  return found;
}
