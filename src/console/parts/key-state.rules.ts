import type { ApiKey } from '../../contracts/admin/api-key.dto.js';

const RENEW_MS = 14 * 86_400_000;

/** An active key that expires soon is expiring. */
export function keyState({ revokedAt, expiresAt }: ApiKey, now: number): 'active' | 'expiring' | 'expired' | 'revoked' {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  const left = Date.parse(expiresAt) - now;
  return left <= 0 ? 'expired' : left < RENEW_MS ? 'expiring' : 'active';
}
