import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { HttpService } from '@nestjs/axios';
import { Inject, Injectable, Optional } from '@nestjs/common';
import { AxiosError, type AxiosRequestConfig, type RawAxiosResponseHeaders } from 'axios';
import type { ResolvedEnv } from '../config/env.js';
import { AddressRefusedError, guardedAgents, outboundPolicy } from '../outbound/address-guard.js';
import {
  NO_OUTBOUND_LOG,
  type OpenCall,
  OUTBOUND_LOG,
  type OutboundCall,
  type OutboundLog,
} from '../outbound/outbound-log.js';
import { type FailureKind, PartnerFailure, SENTENCES } from './partner-failure.js';

/** The limits of one exchange. */
export interface ExchangeLimits {
  /** For the whole response, however slowly it arrives; the time that we take to process it does not count. */
  readonly answerMs: number;
  /** Size of a response after decompression. */
  readonly maxBytes: number;
}

export interface PartnerRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal | undefined;
  /** Facts for the log of exchanges. */
  readonly origin: Pick<OutboundCall, 'interface' | 'route' | 'haulerId' | 'connectionId' | 'secrets'>;
}

export interface PartnerResponse {
  readonly status: number;
  /** By lower-case name; the first one if the header is repeated. */
  readonly header: (name: string) => string | undefined;
  /** The decompressed body. Throws `PartnerFailure`. */
  readonly body: AsyncIterable<Buffer>;
}

type ExchangeEnv = Pick<ResolvedEnv, 'OUTBOUND_ALLOW_PRIVATE' | 'PARTNER_CONNECT_TIMEOUT'> &
  Partial<Pick<ResolvedEnv, 'OUTBOUND_NAME_SERVERS'>>;

/** Calls of one host under way. Further ones wait for a connection, and the time counts as the call's. */
const MAX_SOCKETS_PER_HOST = 32;

/** axios sends the request and returns the body as it arrives; limits and decompression are applied below. */
export function httpDefaults(env: ExchangeEnv): AxiosRequestConfig {
  return {
    ...guardedAgents(
      outboundPolicy(env),
      { keepAlive: true, maxSockets: MAX_SOCKETS_PER_HOST, maxFreeSockets: 8 },
      env.PARTNER_CONNECT_TIMEOUT,
    ),
    adapter: 'http',
    proxy: false,
    maxRedirects: 0,
    responseType: 'stream',
    decompress: false,
    timeout: 0,
    maxContentLength: -1,
    maxBodyLength: -1,
    validateStatus: () => true,
    // The body is JSON already.
    transformRequest: [(data: unknown) => data],
  };
}

/** Sends requests to partners and records them. */
@Injectable()
export class PartnerTransport {
  constructor(
    private readonly http: HttpService,
    @Optional() @Inject(OUTBOUND_LOG) private readonly log: OutboundLog = NO_OUTBOUND_LOG,
  ) {}

  /** See `exchange`. */
  async send<T>(
    request: PartnerRequest,
    limits: ExchangeLimits,
    use: (response: PartnerResponse) => Promise<T>,
  ): Promise<T> {
    const call = this.begin(request);
    try {
      const result = await exchange(this.http, request, limits, use, call);
      call.ended();
      return result;
    } catch (error) {
      call.ended(failureName(error, request.signal));
      throw error;
    }
  }

  /** Records a request that was not sent. */
  refused(request: PartnerRequest, kind: FailureKind): void {
    this.begin(request).ended(kebabCase(kind));
  }

  private begin({ method, url, headers, body, origin }: PartnerRequest): OpenCall {
    return this.log.begin({ method, url, headers, body, ...origin });
  }
}

const kebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Undefined if the status says why. */
function failureName(error: unknown, signal: AbortSignal | undefined): string | undefined {
  if (signal?.aborted === true) return 'cancelled';
  if (!(error instanceof PartnerFailure)) return undefined;
  return error.status === undefined || error.status < 300 ? kebabCase(error.kind) : undefined;
}

/**
 * Sends one request and passes the response to `use`. A transport failure is thrown as a `PartnerFailure`; an abort by
 * the caller is thrown as its reason.
 */
async function exchange<T>(
  http: HttpService,
  request: PartnerRequest,
  limits: ExchangeLimits,
  use: (response: PartnerResponse) => Promise<T>,
  call: OpenCall,
): Promise<T> {
  const { host } = new URL(request.url);
  const timeout = new PausableTimeout(limits.answerMs);
  const signal = request.signal === undefined ? timeout.signal : AbortSignal.any([timeout.signal, request.signal]);
  const failure = (error: unknown, hasResponse: boolean): unknown => {
    if (request.signal?.aborted === true) return request.signal.reason;
    if (timeout.signal.aborted) return new PartnerFailure('timedOut', SENTENCES.timedOut(host, limits.answerMs));
    return transportFailure(error, host, hasResponse);
  };
  timeout.resume();
  try {
    signal.throwIfAborted();
    const { url, method, headers, body: data } = request;
    const {
      status,
      headers: received,
      data: stream,
    } = await http.axiosRef.request<Readable>({ url, method, headers, data, signal }).catch((error: unknown) => {
      throw failure(error, false);
    });
    timeout.pause();
    const header = headerOf(received);
    call.responded(status, received);
    const coding = header('content-encoding');
    const body = readBody(stream, { coding, signal, timeout, host, limits, failure, call });
    try {
      return await use({ status, header, body });
    } finally {
      stream.destroy();
    }
  } finally {
    timeout.pause();
  }
}

/** Aborts its signal when the time between `resume` and `pause` adds up to the limit. */
class PausableTimeout {
  private readonly controller = new AbortController();
  private startedAt = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(private remainingMs: number) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  resume(): void {
    this.startedAt = performance.now();
    this.timer = setTimeout(() => this.controller.abort(), this.remainingMs);
  }

  pause(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.remainingMs -= performance.now() - this.startedAt;
  }
}

interface BodyOptions {
  readonly coding: string | undefined;
  readonly signal: AbortSignal;
  readonly timeout: PausableTimeout;
  readonly host: string;
  readonly limits: ExchangeLimits;
  readonly failure: (error: unknown, hasResponse: boolean) => unknown;
  readonly call: OpenCall;
}

async function* readBody(stream: Readable, options: BodyOptions): AsyncGenerator<Buffer> {
  const { coding, signal, timeout, host, limits, failure, call } = options;
  const source = decompressed(stream, coding, signal);
  if (source !== stream) stream.on('data', (chunk: Buffer) => call.receivedEncoded(chunk));
  if (source === undefined) throw new PartnerFailure('breach', SENTENCES.unsupportedCoding(host));
  let bytes = 0;
  timeout.resume();
  try {
    for await (const chunk of source) {
      timeout.pause();
      bytes += chunk.length;
      call.received(chunk);
      if (bytes > limits.maxBytes) {
        throw new PartnerFailure('tooLarge', SENTENCES.tooLarge(host, limits.maxBytes));
      }
      yield chunk;
      timeout.resume();
    }
  } catch (error) {
    throw error instanceof PartnerFailure ? error : failure(error, true);
  } finally {
    timeout.pause();
  }
}

/** A Map, because an object would find `constructor` as well. */
const DECODERS: ReadonlyMap<string, () => NodeJS.ReadWriteStream & Readable> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Undefined for a Content-Encoding that is not supported. */
function decompressed(
  stream: Readable,
  coding: string | undefined,
  signal: AbortSignal,
): AsyncIterable<Buffer> | undefined {
  const name = coding?.trim().toLowerCase() ?? '';
  if (name === '' || name === 'identity') return addAbortSignal(signal, stream) as AsyncIterable<Buffer>;
  const decoder = DECODERS.get(name)?.();
  if (decoder === undefined) return undefined;
  addAbortSignal(signal, decoder);
  // An error of either stream is thrown to the reader of the decoder.
  pipeline(stream, decoder, () => undefined);
  return decoder as AsyncIterable<Buffer>;
}

function transportFailure(error: unknown, host: string, hasResponse: boolean): unknown {
  const refused = addressRefusedIn(error);
  if (refused !== undefined) return new PartnerFailure('addressRefused', refused.message);
  if (!hasResponse && !(error instanceof AxiosError)) return error;
  const { code } = error as { code?: unknown };
  if (code === 'Z_DATA_ERROR') return new PartnerFailure('notJson', SENTENCES.notJson(host));
  // A connection that was kept open since an earlier call may break before the first byte of this response.
  if (hasResponse || code === 'ECONNRESET' || code === 'EPIPE') {
    return new PartnerFailure('broken', SENTENCES.broken(host));
  }
  return new PartnerFailure('unreachable', SENTENCES.unreachable(host, typeof code === 'string' ? code : undefined));
}

/** axios and Node wrap the error of the address guard. */
function addressRefusedIn(error: unknown): AddressRefusedError | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    if (cause instanceof AddressRefusedError) return cause;
  }
  return undefined;
}

function headerOf(headers: RawAxiosResponseHeaders): PartnerResponse['header'] {
  return (name) => {
    const value: unknown = headers[name];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === 'string' ? first : undefined;
  };
}
