import { type Agent, type AgentOptions, type ClientRequest, Agent as HttpAgent } from 'node:http';
import { MAX_HEAD_BYTES } from '../../contracts/common/answer-limits.js';
import { LRUCache } from 'lru-cache';
import type { LookupAddress } from 'node:dns';
import { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { allowedAddresses, type OutboundPolicy } from './address-guard.js';
import { NameError } from './name-resolver.js';

/** What Node.js hands over to an agent; it is not part of its types. */
interface RequestQueue {
  addRequest(request: ClientRequest & { maxHeaderSize?: number | undefined }, ...rest: unknown[]): void;
}

/**
 * The agent, whose requests read heads of up to `MAX_HEAD_BYTES`. Node.js has the limit as an option of a single request, which
 * the clients of S3 and axios do not pass on, or as a flag of the process, which would also widen what our own server reads.
 */
export function readLargeHeads<A extends Agent>(agent: A): A {
  const queue = agent as A & RequestQueue;
  const add = queue.addRequest.bind(agent);
  queue.addRequest = (request, ...rest) => {
    request.maxHeaderSize = MAX_HEAD_BYTES;
    add(request, ...rest);
  };
  return agent;
}

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

const DEFAULT_CONNECT_MS = 5_000;

/**
 * Agents for all calls to partners and for their files. They check the addresses after every name resolution, limit the
 * time to connect, and read large heads. They ignore proxy variables of the environment, because a proxy would resolve the name itself. Use
 * them with `http.request` and `https.request`, or with axios and `proxy: false, maxRedirects: 0`.
 */
export function guardedAgents(
  policy: OutboundPolicy,
  options: AgentOptions = {},
): { httpAgent: HttpAgent; httpsAgent: HttpsAgent } {
  const { connectMs = DEFAULT_CONNECT_MS } = policy;
  const guarded = {
    ...options,
    lookup: lookupBy((host) => allowedAddresses(host, policy)),
    autoSelectFamily: true,
    // By default Node.js drops a slow handshake over IPv4 after 0.5 s, for an IPv6 address that may lead nowhere.
    autoSelectFamilyAttemptTimeout: Math.ceil((connectMs * 2) / 3),
  };
  return {
    httpAgent: limitConnecting(readLargeHeads(new HttpAgent(guarded)), 'connect', connectMs),
    httpsAgent: limitConnecting(readLargeHeads(new HttpsAgent(guarded)), 'secureConnect', connectMs),
  };
}

/** The option `lookup` of a socket, which answers as `dns.lookup` does. */
const lookupBy =
  (resolve: (host: string) => Promise<readonly LookupAddress[]>): LookupFunction =>
  (hostname, options, callback) => {
    const family = options.family === 'IPv4' ? 4 : options.family === 'IPv6' ? 6 : (options.family ?? 0);
    resolve(hostname).then(
      (all) => {
        const addresses = all.filter((each) => family === 0 || each.family === family);
        const [first] = addresses;
        if (first === undefined) callback(new NameError(hostname), '', 0);
        else if (options.all === true) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      (error: NodeJS.ErrnoException) => callback(error, '', 0),
    );
  };

class ConnectTimeoutError extends Error {
  readonly code = 'ETIMEDOUT';
  constructor() {
    super('the connection was not established in time');
    this.name = 'ConnectTimeoutError';
  }
}

/** Node's socket timeout counts only silence, and neither Node nor axios limits connecting. */
function limitConnecting<A extends HttpAgent>(agent: A, connectedEvent: string, connectMs: number): A {
  const create = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const socket = create(options, callback) as Socket | null | undefined;
    if (socket) {
      const timer = setTimeout(() => socket.destroy(new ConnectTimeoutError()), connectMs);
      const stop = () => clearTimeout(timer);
      socket.once(connectedEvent, stop).once('close', stop);
    }
    return socket;
  };
  return agent;
}
