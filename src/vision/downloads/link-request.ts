import { isUtf8 } from 'node:buffer';
import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isArrayBuffer } from 'node:util/types';
import { uuidv7 } from '../../core/database/uuid.js';
import { type OutboundPolicy, urlFault } from '../../core/outbound/address-guard.js';
import { guardedAgents, isLenientHost, isParseError } from '../../core/outbound/guarded-agents.js';
import { networkFailure } from '../../core/outbound/network-errors.js';
import { failureName, NO_OUTBOUND_LOG, type OpenCall, type OutboundLog } from '../../core/outbound/outbound-log.js';
import { connectionError, DownloadError, statusError } from './download-error.js';
import type { TransferLimits } from './transfer-watch.js';

export interface LinkResponse {
  /** The host that sent the response, for messages. */
  readonly host: string;
  readonly response: IncomingMessage;
  /** Call it with the size of each chunk that was read, for the exchange log. */
  readonly counted: (bytes: number) => void;
}

interface LinkRequest {
  readonly url: string;
  /** To resume: the offset and the validator of the file. */
  readonly range?: { readonly from: number; readonly validator: string } | undefined;
  readonly signal: AbortSignal;
}

export interface DownloadLimits extends TransferLimits {
  /** Bytes of one file. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
}

type Headers = Readonly<Record<string, string>>;

export type OpenLink = (request: LinkRequest, limits: DownloadLimits) => Promise<LinkResponse>;

const REDIRECTS = new Set([301, 302, 303, 307, 308]);

/**
 * Opens links and follows redirects. Every address is checked by decision 50, as text and after name resolution. It uses
 * `node:http`, because `fetch` has no hook to check a resolved address. A connection serves one file, so that surplus
 * bytes of a host cannot become the head of the next response.
 */
export function linkOpener(policy: OutboundPolicy, log: OutboundLog = NO_OUTBOUND_LOG): OpenLink {
  const { httpAgent, httpsAgent } = guardedAgents(policy, { keepAlive: false });
  return async (link, limits) => {
    const headers = headersOf(link);
    const begin = (url: string) =>
      log.begin({ interface: 'vision', route: 'download', method: 'GET', url, headers, isFile: true });
    let url = checkedUrl(link.url, policy, begin);
    for (let hops = 0; hops <= limits.maxRedirects; hops += 1) {
      const agent = url.protocol === 'https:' ? httpsAgent : httpAgent;
      const answer = await send(url, { agent, headers, signal: link.signal }, limits, begin(url.href));
      const target = redirectTarget(answer.response, url);
      if (target === undefined) return answer;
      answer.response.destroy();
      url = checkedUrl(target, policy, begin);
    }
    throw new DownloadError('bad-answer', `${url.hostname} needs more than ${limits.maxRedirects} redirects.`);
  };
}

function checkedUrl(url: string, policy: OutboundPolicy, begin: (url: string) => OpenCall): URL {
  const fault = urlFault(url, policy);
  if (fault !== undefined) {
    begin(url).ended('address-refused');
    throw new DownloadError('address-refused', `The link cannot be used: ${fault}`);
  }
  return new URL(url);
}

/** Sends one request; resolves with the head of the response. */
function send(
  url: URL,
  options: { readonly agent: Agent; readonly headers: Headers; readonly signal: AbortSignal },
  limits: DownloadLimits,
  call: OpenCall,
): Promise<LinkResponse> {
  const host = url.hostname;
  const start = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    let response: IncomingMessage | undefined;
    const insecureHTTPParser = isLenientHost(host);
    const request = start(url, { ...options, insecureHTTPParser });
    const expire = () =>
      request.destroy(new DownloadError('retryable', `${host} did not answer in time.`, { isUnreached: true }));
    let timer: NodeJS.Timeout | undefined;
    request.once('socket', (socket) => {
      // A listener after that of the HTTP parser, which copies the body.
      socket.on('data', freeMemory);
      socket.once(url.protocol === 'https:' ? 'secureConnect' : 'connect', () => {
        // A connection may still be established after its request was aborted.
        if (!request.destroyed) timer = setTimeout(expire, limits.firstByteMs);
      });
    });
    // Listens during the whole body: bytes after its announced end are an error of the request, not of the response.
    request.on('error', (error) => {
      // A host may reset the connection once it has sent the whole file.
      if (response?.complete && !isParseError(error)) return;
      const failure = response?.complete
        ? new DownloadError('wrong-length', `${host} sent more bytes than it had announced.`, { cause: error })
        : connectionError(host, error, response !== undefined);
      call.ended(options.signal.aborted ? 'cancelled' : failureOf(error, host));
      reject(failure);
      response?.destroy(failure);
    });
    request.once('response', (received) => {
      clearTimeout(timer);
      response = received;
      call.responded(received.statusCode ?? 0, received.headers);
      received.once('close', () => call.ended(received.complete ? undefined : 'cut-off'));
      // Before the response has a reader, a broken connection must not end the process.
      received.on('error', () => undefined);
      resolve({ host, response: received, counted: (bytes) => call.counted(bytes) });
    });
    // Without this listener an unrequested upgrade would end the request with neither a response nor an error.
    request.once('upgrade', ({ statusCode = 101 }, socket) => {
      socket.destroy();
      reject(statusError(host, statusCode, undefined, new Date()));
    });
    request.once('close', () => {
      clearTimeout(timer);
      // Only matters if nothing else settled the promise.
      reject(new DownloadError('retryable', `${host} broke the connection.`));
      if (response === undefined) call.ended('broken');
    });
    request.end();
  });
}

/**
 * Frees the memory of bytes that were received and are no longer needed. V8 would otherwise collect its whole heap after
 * every 50 MB, which took half of the processor time of a download.
 */
export function freeMemory(bytes: Buffer): void {
  const { buffer } = bytes;
  // Not a part of a larger buffer, and not freed already.
  if (isArrayBuffer(buffer) && bytes.length > 0 && bytes.length === buffer.byteLength) buffer.transfer(0);
}

/** A `DownloadError` is the end of a timer. */
const failureOf = (error: Error, host: string): string =>
  error instanceof DownloadError ? 'timed-out' : failureName(networkFailure(error, host, false).kind);

/** Only these headers are sent, so that no API key reaches the host of a link (decision 47). */
const headersOf = ({ range }: LinkRequest): Headers => ({
  accept: '*/*',
  // A compressed body could not be resumed.
  'accept-encoding': 'identity',
  'user-agent': 'haulbridge',
  'X-Request-Id': uuidv7(),
  ...(range === undefined ? {} : { range: `bytes=${range.from}-`, 'if-range': range.validator }),
});

function redirectTarget(response: IncomingMessage, base: URL): string | undefined {
  const header = response.headers.location;
  if (!REDIRECTS.has(response.statusCode ?? 0) || header === undefined) return undefined;
  // Node.js reads headers as Latin-1, and hosts send addresses as UTF-8 (decision 64).
  const bytes = Buffer.from(header, 'latin1');
  const location = isUtf8(bytes) ? bytes.toString('utf8') : header;
  return URL.canParse(location, base.href) ? new URL(location, base.href).href : location;
}
