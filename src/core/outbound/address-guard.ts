import type { LookupAddress } from 'node:dns';
import { BlockList, isIP } from 'node:net';
import type { Env } from '../config/env.js';
import { NameResolver } from './name-resolver.js';

/** Decision 50. */
export interface OutboundPolicy {
  /** `OUTBOUND_ALLOW_PRIVATE` */
  readonly allowPrivate: boolean;
  /** `OUTBOUND_NAME_SERVERS`; those of the system by default. */
  readonly nameServers?: readonly string[] | undefined;
  /** `PARTNER_CONNECT_TIMEOUT`: until a connection can be used, name resolution and TLS included. */
  readonly connectMs?: number | undefined;
}

export type OutboundEnv = Pick<Env, 'OUTBOUND_ALLOW_PRIVATE'> &
  Partial<Pick<Env, 'OUTBOUND_NAME_SERVERS' | 'PARTNER_CONNECT_TIMEOUT'>>;

export const outboundPolicy = (env: OutboundEnv): OutboundPolicy => ({
  allowPrivate: env.OUTBOUND_ALLOW_PRIVATE,
  nameServers: env.OUTBOUND_NAME_SERVERS,
  connectMs: env.PARTNER_CONNECT_TIMEOUT,
});

const resolvers = new Map<string, NameResolver>();

/** One for each list of name servers, so that all callers share its cache. */
function resolverOf({ nameServers = [] }: OutboundPolicy): NameResolver {
  const name = nameServers.join();
  const resolver = resolvers.get(name) ?? new NameResolver(nameServers);
  resolvers.set(name, resolver);
  return resolver;
}

/** Injection token of `OutboundPolicy`. */
export const OUTBOUND_POLICY = Symbol('OUTBOUND_POLICY');

/** IANA's special-purpose registries, and an address that a cloud uses for its hosts. */
const CLOSED_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // Azure's host agent, which is reachable at a public address
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const;

/** Exceptions within 2000::/3, the only global unicast space. */
const CLOSED_V6 = [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4 contains any IPv4 address, private ones included
  ['3fff::', 20],
] as const;

const closed = new BlockList();
for (const [net, prefix] of CLOSED_V4) closed.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of CLOSED_V6) closed.addSubnet(net, prefix, 'ipv6');
const globalV6 = new BlockList();
globalV6.addSubnet('2000::', 3, 'ipv6');

/** Whether the text is an IP address, in any notation, of the public internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !closed.check(address, 'ipv4');
    case 6:
      return globalV6.check(address, 'ipv6') && !closed.check(address, 'ipv6');
    default:
      return false;
  }
}

/** The call was not made, because of its address. `message` is a sentence that contains no path and no query. */
export class AddressRefusedError extends Error {
  readonly code = 'ADDRESS_REFUSED';
  constructor(message: string) {
    super(message);
    this.name = 'AddressRefusedError';
  }
}

const privateAddress = (host: string): string =>
  `The address of ${host} is not a public one; only public addresses may be called.`;

/**
 * Why the address may not be called, as a sentence, or undefined. Call it before every request and for every redirect:
 * a host that is written as an IP address is not resolved, and so is not checked by `guardedAgents`.
 */
export function urlFault(text: string, policy: OutboundPolicy): string | undefined {
  if (!URL.canParse(text)) return 'The address is not a valid URL.';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(policy.allowPrivate && url.protocol === 'http:'))
    return 'The address must begin with https://.';
  if (url.username !== '' || url.password !== '') return 'The address must not contain a user name or password.';
  if (policy.allowPrivate) return undefined;
  const host = hostOf(url);
  if (isIP(host) !== 0) return isPublicAddress(host) ? undefined : privateAddress(host);
  return /(^|\.)localhost\.?$/.test(host) ? privateAddress(host) : undefined;
}

/** Lower case, and an IPv6 address without its brackets. */
const hostOf = (url: URL): string => url.hostname.replace(/[[\]]/g, '');

/**
 * The addresses of a host that may be called. Throws `AddressRefusedError`, or the error of the name resolution. One private
 * address among several refuses the name. Otherwise a rebinding server succeeds at a later query.
 */
export async function allowedAddresses(host: string, policy: OutboundPolicy): Promise<readonly LookupAddress[]> {
  const addresses = await resolverOf(policy).resolve(host);
  if (policy.allowPrivate || addresses.every(({ address }) => isPublicAddress(address))) return addresses;
  throw new AddressRefusedError(privateAddress(host));
}

/**
 * `urlFault` with name resolution, for saving a connection. A name that cannot be resolved at the moment is not refused,
 * because every later call resolves and checks it again.
 */
export async function resolvedUrlFault(text: string, policy: OutboundPolicy): Promise<string | undefined> {
  const fault = urlFault(text, policy);
  if (fault !== undefined || policy.allowPrivate) return fault;
  return allowedAddresses(hostOf(new URL(text)), policy).then(
    () => undefined,
    (error: unknown) => (error instanceof AddressRefusedError ? error.message : undefined),
  );
}
