import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP, type LookupFunction } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';

/** A name takes at most two seconds for each name server. */
const QUERY = { timeout: 1000, maxTimeout: 1000, tries: 2 };
/** For all name servers together. */
const DEADLINE_MS = 4000;
/** Wait for IPv6 after the IPv4 addresses have arrived: some resolvers never answer the IPv6 query. */
const IPV6_MARGIN_MS = 300;

const MAX_NAMES = 1000;
const MAX_TTL_MS = 30_000;
/** A failure is cached for this time, so that callers do not wait for the same name again. */
const FAILURE_TTL_MS = 5000;
const HOSTS_TTL_MS = 10_000;

const LOOPBACK: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

const HOSTS_FILE = process.platform === 'win32' ? 'C:\\Windows\\System32\\drivers\\etc\\hosts' : '/etc/hosts';

/** The name has no address (`ENOTFOUND`), or the name servers did not answer in time (`EAI_AGAIN`). */
class NameError extends Error {
  constructor(
    name: string,
    readonly code: 'ENOTFOUND' | 'EAI_AGAIN',
    cause?: unknown,
  ) {
    super(code === 'ENOTFOUND' ? `${name} is not known` : `${name} cannot be resolved at the moment`, { cause });
    this.name = 'NameError';
  }
}

type Resolved = readonly LookupAddress[] | NameError;

/**
 * Resolves names with c-ares. `dns.lookup` occupies one of four threads that also read files and resolve the database's
 * name: a few names that hang would stop everything. Names are not completed by search domains.
 */
export class NameResolver {
  private readonly known = new LRUCache<string, Resolved>({ max: MAX_NAMES });
  private readonly running = new Map<string, Promise<Resolved>>();
  private hosts: { readonly until: number; readonly names: Map<string, LookupAddress[]> } | undefined;

  /** Without `servers` those of the system. */
  constructor(private readonly servers: readonly string[] = []) {}

  /** At least one address. Throws an error with the code `ENOTFOUND` or `EAI_AGAIN`. */
  async resolve(host: string): Promise<readonly LookupAddress[]> {
    const name = host.toLowerCase().replace(/\.$/, '');
    const family = isIP(name);
    if (family !== 0) return [{ address: name, family }];
    if (/(^|\.)localhost$/.test(name)) return LOOPBACK;
    const found = this.known.get(name) ?? (await this.shared(name));
    if (found instanceof NameError) throw found;
    return found;
  }

  /** For the option `lookup` of a socket. */
  readonly lookup: LookupFunction = (hostname, options, callback) => {
    this.resolve(hostname).then(
      (all) => {
        const family = options.family === 'IPv4' ? 4 : options.family === 'IPv6' ? 6 : (options.family ?? 0);
        const addresses = family === 0 ? [...all] : all.filter((each) => each.family === family);
        const [first] = addresses;
        if (first === undefined) callback(new NameError(hostname, 'ENOTFOUND'), '', 0);
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };

  /** Concurrent callers share one query for a name. */
  private shared(name: string): Promise<Resolved> {
    const running = this.running.get(name) ?? this.find(name).finally(() => this.running.delete(name));
    this.running.set(name, running);
    return running;
  }

  private async find(name: string): Promise<Resolved> {
    const listed = (await this.hostsFile()).get(name);
    return listed ?? (await this.query(name));
  }

  private async query(name: string): Promise<Resolved> {
    const resolver = new Resolver(QUERY);
    if (this.servers.length > 0) resolver.setServers(this.servers);
    const deadline = setTimeout(() => resolver.cancel(), DEADLINE_MS).unref();
    try {
      const v4 = resolver.resolve4(name, { ttl: true });
      const v6 = resolver.resolve6(name, { ttl: true });
      const late = v4.then(
        () => delay(IPV6_MARGIN_MS, [], { ref: false }),
        () => v6,
      );
      const [four, six] = await Promise.allSettled([v4, Promise.race([v6, late])]);
      const records = [
        ...(four.status === 'fulfilled' ? four.value.map((each) => ({ ...each, family: 4 })) : []),
        ...(six.status === 'fulfilled' ? six.value.map((each) => ({ ...each, family: 6 })) : []),
      ];
      if (records.length === 0) return this.failed(name, four.status === 'rejected' ? four.reason : undefined);
      const addresses = records.map(({ address, family }) => ({ address, family }));
      const ttlMs = Math.min(MAX_TTL_MS, ...records.map(({ ttl }) => ttl * 1000));
      if (ttlMs > 0) this.known.set(name, addresses, { ttl: ttlMs });
      return addresses;
    } finally {
      clearTimeout(deadline);
      resolver.cancel();
    }
  }

  private failed(name: string, cause: unknown): NameError {
    const { code } = (cause ?? {}) as { code?: string };
    const isUnknown = code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME';
    const error = new NameError(name, isUnknown ? 'ENOTFOUND' : 'EAI_AGAIN', cause);
    this.known.set(name, error, { ttl: FAILURE_TTL_MS });
    return error;
  }

  private async hostsFile(): Promise<Map<string, LookupAddress[]>> {
    if (this.hosts === undefined || this.hosts.until < performance.now()) {
      const text = await readFile(HOSTS_FILE, 'utf8').catch(() => '');
      this.hosts = { until: performance.now() + HOSTS_TTL_MS, names: readHosts(text) };
    }
    return this.hosts.names;
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
