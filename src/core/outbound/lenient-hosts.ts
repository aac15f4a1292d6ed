import { LRUCache } from 'lru-cache';

/**
 * Hosts whose HTTP Node.js refuses and curl reads (decision 64): a Content-Length beside chunks, lines that end without a
 * carriage return. They are learned from the error, so that the strict parser reads the answers of all other hosts.
 */
const lenientHosts = new LRUCache<string, true>({ max: 1_000, ttl: 24 * 3_600_000 });

export const isLenientHost = (host: string): boolean => lenientHosts.has(host);

/** The head of the answer is larger than `MAX_HEAD_BYTES`. No parser would read it. */
export const HEAD_TOO_LARGE = 'HPE_HEADER_OVERFLOW';

export const isParseError = ({ code }: NodeJS.ErrnoException): boolean => code?.startsWith('HPE_') === true;

/** Whether the bytes could not be read as HTTP. The next call of the host is then read leniently. */
export function learnParseError(host: string, error: NodeJS.ErrnoException): boolean {
  if (!isParseError(error) || error.code === HEAD_TOO_LARGE) return false;
  lenientHosts.set(host, true);
  return true;
}
