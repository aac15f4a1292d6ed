import { type Agent, type IncomingMessage, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { OnReadOpts } from 'node:net';
import { guardedAgents, type OutboundPolicy, urlFault } from '../../outbound/address-guard.js';
import { BodyTap } from './body-tap.js';
import { connectionFailure, DownloadFailed, statusFailure } from './download-failure.js';
import type { DownloadLimits } from './limits.js';

export interface LinkAnswer {
  /** Whoever answered in the end; for sentences. */
  readonly host: string;
  readonly response: IncomingMessage;
  readonly tap: BodyTap;
}

interface LinkRequest {
  readonly url: string;
  /** To continue: the offset, and what the file is recognised by. */
  readonly range?: { readonly from: number; readonly validator: string } | undefined;
  readonly signal: AbortSignal;
}

export type OpenLink = (request: LinkRequest, limits: DownloadLimits) => Promise<LinkAnswer>;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/** Nothing but these: no caller's header, so that no key ever travels to a link's host (decision 47). */
const headersOf = ({ range }: LinkRequest): Record<string, string> => ({
  accept: '*/*',
  // Compressed bytes would not be the file's, and could not be continued.
  'accept-encoding': 'identity',
  'user-agent': 'haulbridge',
  ...(range === undefined ? {} : { range: `bytes=${range.from}-`, 'if-range': range.validator }),
});

const tooMany = (host: string, cause: unknown): DownloadFailed =>
  new DownloadFailed('wrong-length', `${host} sent more bytes than it had announced.`, { cause });

/** One request without redirects; resolves with the head of the answer, its body not yet read. */
function ask(url: URL, agent: Agent, link: LinkRequest, limits: DownloadLimits): Promise<LinkAnswer> {
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const tap = new BodyTap((data) => sent.socket?.emit('data', data));
    // The types do not know that options of the connection may stand here too.
    const connection: RequestOptions & { onread: OnReadOpts } = { agent, onread: tap.onread };
    const sent = send(url, { ...connection, headers: headersOf(link), signal: link.signal });
    const late = (message: string) => sent.destroy(new DownloadFailed('retryable', `${url.hostname} ${message}.`));
    let timer = setTimeout(() => late('could not be reached in time'), limits.connectMs);
    sent.once('socket', (socket) => {
      socket.once('close', () => tap.closed());
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        clearTimeout(timer);
        timer = setTimeout(() => late('did not answer in time'), limits.idleMs);
      });
    });
    // Stays for the whole body: bytes behind its announced end are an error of the request, not of the answer.
    sent.on('error', (error) => {
      const failure = answer?.complete ? tooMany(url.hostname, error) : connectionFailure(url.hostname, error);
      reject(failure);
      answer?.destroy(failure);
    });
    sent.once('response', (response) => {
      clearTimeout(timer);
      answer = response;
      // Its reader is told by the stream itself; until there is one, a broken connection must not end the process.
      response.on('error', () => undefined);
      resolve({ host: url.hostname, response, tap });
    });
    // Unasked for; left alone, it would end the request with neither an answer nor an error.
    sent.once('upgrade', ({ statusCode = 101 }, socket) => {
      socket.destroy();
      reject(statusFailure(url.hostname, statusCode, undefined, new Date()));
    });
    sent.once('close', () => {
      clearTimeout(timer);
      // Settled by then, whatever has happened; one that was not would hold its caller for ever.
      reject(new DownloadFailed('retryable', `${url.hostname} broke the connection.`));
    });
    sent.end();
  });
}

function checked(url: string, policy: OutboundPolicy): URL {
  const fault = urlFault(url, policy);
  if (fault !== undefined) throw new DownloadFailed('address-refused', `The link cannot be used: ${fault}`);
  return new URL(url);
}

/** Where a redirect leads; the address is checked by whoever follows it. */
function redirectTarget(response: IncomingMessage, base: URL): string | undefined {
  const { location } = response.headers;
  if (!REDIRECTS.has(response.statusCode ?? 0) || location === undefined) return undefined;
  return URL.canParse(location, base.href) ? new URL(location, base.href).href : location;
}

/**
 * Opens a link, following redirects, each of them checked by the guard of decision 50, by text and after name
 * resolution. `node:http` itself, since `fetch` offers no place to check a resolved address and axios adds only
 * buffering here. A connection serves one file: bytes that a host sends too many never meet the next request, and a
 * handshake is little beside a video.
 */
export function linkOpener(policy: OutboundPolicy): OpenLink {
  const { httpAgent, httpsAgent } = guardedAgents(policy, { keepAlive: false });
  return async (link, limits) => {
    let url = checked(link.url, policy);
    for (let hops = 0; hops <= limits.maxRedirects; hops += 1) {
      const answer = await ask(url, url.protocol === 'https:' ? httpsAgent : httpAgent, link, limits);
      const target = redirectTarget(answer.response, url);
      if (target === undefined) return answer;
      answer.response.destroy();
      url = checked(target, policy);
    }
    throw new DownloadFailed('bad-answer', `${url.hostname} is reached by more than ${limits.maxRedirects} redirects.`);
  };
}
