import { LRUCache } from 'lru-cache';

/**
 * Hosts whose HTTP Node.js refuses and curl reads (decision 64): a Content-Length beside chunks, lines that end without a
 * carriage return. They are learned from the error, so that the strict parser reads the answers of all other hosts.
 */
const lenientHosts = new LRUCache<string, true>({ max: 1_000, ttl: 24 * 3_600_000 });

export const isLenientHost = (host: string): boolean => lenientHosts.has(host);

/** Whether the bytes could not be read as HTTP. The next call of the host is then read leniently. */
export function learnParseError(host: string, { code }: { readonly code?: unknown }): boolean {
  if (typeof code !== 'string' || !code.startsWith('HPE_')) return false;
  lenientHosts.set(host, true);
  return true;
}
