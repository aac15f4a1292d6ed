import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { LRUCache } from 'lru-cache';

/** A name takes at most two seconds for each name server, and `DEADLINE_MS` for all of them. */
const QUERY = { timeout: 1000, maxTimeout: 1000, tries: 2 };
const DEADLINE_MS = 4000;

const MAX_NAMES = 1000;
const MAX_TTL_SECONDS = 30;
/** A failure is cached for this time, so that callers do not wait for the same name again. */
const FAILURE_TTL_SECONDS = 5;

const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

const HOSTS_FILE = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';

/** Codes of c-ares for a name without an address. After any other, the name may be resolved later. */
const UNKNOWN_NAME: ReadonlySet<unknown> = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/** The name has no address (`ENOTFOUND`), or the name servers did not answer in time (`EAI_AGAIN`). */
export class NameError extends Error {
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN';

  constructor(name: string, cause?: unknown) {
    const isUnknown = cause === undefined || UNKNOWN_NAME.has((cause as NodeJS.ErrnoException).code);
    super(isUnknown ? `${name} is not known` : `${name} cannot be resolved at the moment`, { cause });
    this.name = 'NameError';
    this.code = isUnknown ? 'ENOTFOUND' : 'EAI_AGAIN';
  }
}

type Resolved = readonly LookupAddress[] | NameError;

/**
 * Resolves names with c-ares. `dns.lookup` occupies one of four threads that also read files and resolve the database's
 * name: a few names that hang would stop everything. Names are not completed by search domains.
 */
export class NameResolver {
  /** Concurrent callers share one query for a name. */
  private readonly names = new LRUCache<string, Resolved>({
    max: MAX_NAMES,
    ignoreFetchAbort: true,
    fetchMethod: async (name, _, { options }) => {
      const { ttlSeconds, resolved } = await this.find(name);
      // A TTL of 0 would be an entry for ever.
      options.ttl = Math.max(1, ttlSeconds * 1000);
      return resolved;
    },
  });

  /** Without `servers` those of the system. */
  constructor(private readonly servers: readonly string[] = []) {}

  /** At least one address. Throws an error with the code `ENOTFOUND` or `EAI_AGAIN`. */
  async resolve(host: string): Promise<readonly LookupAddress[]> {
    const name = host.toLowerCase().replace(/\.$/, '');
    const family = isIP(name);
    if (family !== 0) return [{ address: name, family }];
    if (/(^|\.)localhost$/.test(name)) return LOOPBACK;
    const found = await this.names.forceFetch(name);
    if (found instanceof NameError) throw found;
    return found;
  }

  private async find(name: string): Promise<{ readonly ttlSeconds: number; readonly resolved: Resolved }> {
    const listed = readHosts(await readFile(HOSTS_FILE, 'utf8').catch(() => '')).get(name);
    if (listed !== undefined) return { ttlSeconds: MAX_TTL_SECONDS, resolved: listed };
    const resolver = new Resolver(QUERY);
    if (this.servers.length > 0) resolver.setServers(this.servers);
    const deadline = setTimeout(() => resolver.cancel(), DEADLINE_MS).unref();
    try {
      const v4 = resolver.resolve4(name, { ttl: true }).then((all) => all.map((each) => ({ ...each, family: 4 })));
      const v6 = resolver.resolve6(name, { ttl: true }).then((all) => all.map((each) => ({ ...each, family: 6 })));
      const [four, six] = await Promise.allSettled([v4, v6]);
      const records = [four, six].flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
      if (records.length > 0)
        return {
          ttlSeconds: Math.min(MAX_TTL_SECONDS, ...records.map(({ ttl }) => ttl)),
          resolved: records.map(({ address, family }) => ({ address, family })),
        };
      const cause: unknown = four.status === 'rejected' ? four.reason : undefined;
      return { ttlSeconds: FAILURE_TTL_SECONDS, resolved: new NameError(name, cause) };
    } finally {
      clearTimeout(deadline);
      resolver.cancel();
    }
  }
}

/** The names of a hosts file with their addresses. */
export function readHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
    }
  }
  return hosts;
}
