import { lookup as dnsLookup, type LookupAddress } from 'node:dns';
import { lookup as resolve } from 'node:dns/promises';
import { Agent as HttpAgent, type AgentOptions } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Decision 50: `allowPrivate` is `OUTBOUND_ALLOW_PRIVATE`. */
export interface OutboundPolicy {
  readonly allowPrivate: boolean;
}

/** Not of the public internet: IANA's special-purpose registries, and two addresses that clouds use for themselves. */
const CLOSED_V4 = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['168.63.129.16', 32], // Azure's host agent: a public number, answered by the machine's own host
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

/** Within 2000::/3, the only global unicast space; everything outside is closed without being named. */
const CLOSED_V6 = [
  ['2001::', 23], // protocol assignments, Teredo among them
  ['2001:db8::', 32],
  ['2002::', 16], // 6to4 wraps any IPv4 address, private ones too
  ['3fff::', 20],
] as const;

const closed = new BlockList();
for (const [net, prefix] of CLOSED_V4) closed.addSubnet(net, prefix, 'ipv4');
for (const [net, prefix] of CLOSED_V6) closed.addSubnet(net, prefix, 'ipv6');
const globalV6 = new BlockList();
globalV6.addSubnet('2000::', 3, 'ipv6');

/** Whether an IP address, written in any form, belongs to the public internet. A text that is no address does not. */
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

/** Why a call was not made, from this guard. `message` is a sentence that names no path and no query. */
export class AddressRefused extends Error {
  readonly code = 'ADDRESS_REFUSED';
  constructor(message: string) {
    super(message);
    this.name = 'AddressRefused';
  }
}

const privateAddress = (host: string): string =>
  `The address of ${host} is not a public one; only public addresses may be called.`;

/**
 * What is wrong with an outbound address by its text alone, as a sentence, or undefined. To be asked before every call
 * and for every redirect: a host that is written as an IP address never reaches the check after name resolution.
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
 * `urlFault`, and the name is resolved too: for saving a connection. A name that cannot be resolved just now is no
 * fault here, since every later call resolves and checks it again.
 */
export async function resolvedUrlFault(text: string, policy: OutboundPolicy): Promise<string | undefined> {
  const fault = urlFault(text, policy);
  if (fault !== undefined || policy.allowPrivate) return fault;
  const host = hostOf(new URL(text));
  const addresses = await resolve(host, { all: true }).catch((): LookupAddress[] => []);
  return addresses.every(({ address }) => isPublicAddress(address)) ? undefined : privateAddress(host);
}

/** One closed address among several refuses the name: else a rebinding server would only need to be asked twice. */
const guardedLookup: LookupFunction = (hostname, options, callback) => {
  dnsLookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '', 0);
    const first = addresses[0];
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address)))
      return callback(new AddressRefused(privateAddress(hostname)), '', 0);
    if (options.all) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
};

/**
 * Agents whose connections are checked after every name resolution. They use no proxy of the environment, since a
 * proxy would resolve the name elsewhere. Give them to `http.request` and `https.request`, or to axios with
 * `proxy: false, maxRedirects: 0`.
 */
export function guardedAgents(
  policy: OutboundPolicy,
  options: AgentOptions = {},
): { httpAgent: HttpAgent; httpsAgent: HttpsAgent } {
  const guarded = policy.allowPrivate ? options : { ...options, lookup: guardedLookup };
  return { httpAgent: new HttpAgent(guarded), httpsAgent: new HttpsAgent(guarded) };
}
