import { addAbortSignal, pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { HttpService } from '@nestjs/axios';
import { Inject, Injectable, Optional } from '@nestjs/common';
import axios, { AxiosError, type AxiosInstance, type AxiosRequestConfig, type RawAxiosResponseHeaders } from 'axios';
import { type OutboundEnv, outboundPolicy } from '../core/outbound/address-guard.js';
import { guardedAgents, isLenientHost } from '../core/outbound/guarded-agents.js';
import { networkFailure } from '../core/outbound/network-errors.js';
import {
  failureName,
  NO_OUTBOUND_LOG,
  type OpenCall,
  OUTBOUND_LOG,
  type OutboundCall,
  type OutboundLog,
} from '../core/outbound/outbound-log.js';
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

/** Calls of one host under way. Further ones wait for a connection, and the time counts as the call's. */
const MAX_SOCKETS_PER_HOST = 32;

/** axios sends the request and returns the body as it arrives; limits and decompression are applied below. */
export function httpDefaults(env: OutboundEnv): AxiosRequestConfig {
  return {
    ...guardedAgents(outboundPolicy(env), { keepAlive: true, maxSockets: MAX_SOCKETS_PER_HOST, maxFreeSockets: 8 }),
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

/** A client whose requests have a connection each, so that the address is resolved and checked for each. */
export const singleRequests = (env: OutboundEnv, defaults: AxiosRequestConfig): AxiosInstance =>
  axios.create({
    ...httpDefaults(env),
    ...guardedAgents(outboundPolicy(env), { keepAlive: false }),
    ...defaults,
  });

/** Sends requests to partners and records them. */
@Injectable()
export class PartnerTransport {
  constructor(
    private readonly http: HttpService,
    @Optional() @Inject(OUTBOUND_LOG) private readonly log: OutboundLog = NO_OUTBOUND_LOG,
  ) {}

  /** Passes the response to `use`. Throws `PartnerFailure`, or the reason of an abort by the caller. */
  async send<T>(
    request: PartnerRequest,
    limits: ExchangeLimits,
    use: (response: PartnerResponse) => Promise<T>,
  ): Promise<T> {
    const call = this.begin(request);
    try {
      const result = await new Exchange(request, limits, call).run(this.http, use);
      call.ended();
      return result;
    } catch (error) {
      call.ended(failureOf(error, request.signal));
      throw error;
    }
  }

  /** Records a request that was not sent. */
  refused(request: PartnerRequest, kind: FailureKind): void {
    this.begin(request).ended(failureName(kind));
  }

  private begin({ method, url, headers, body, origin }: PartnerRequest): OpenCall {
    return this.log.begin({ method, url, headers, body, ...origin });
  }
}

/** Undefined if the status says why. */
function failureOf(error: unknown, signal: AbortSignal | undefined): string | undefined {
  if (signal?.aborted === true) return 'cancelled';
  if (!(error instanceof PartnerFailure)) return undefined;
  return error.status === undefined || error.status < 300 ? failureName(error.kind) : undefined;
}

/** One request and its response. */
class Exchange {
  private readonly host: string;
  private readonly timeout: PausableTimeout;
  private readonly signal: AbortSignal;

  constructor(
    private readonly request: PartnerRequest,
    private readonly limits: ExchangeLimits,
    private readonly call: OpenCall,
  ) {
    this.host = new URL(request.url).host;
    this.timeout = new PausableTimeout(limits.answerMs);
    this.signal =
      request.signal === undefined ? this.timeout.signal : AbortSignal.any([this.timeout.signal, request.signal]);
  }

  /** A transport failure is thrown as a `PartnerFailure`; an abort by the caller is thrown as its reason. */
  async run<T>(http: HttpService, use: (response: PartnerResponse) => Promise<T>): Promise<T> {
    this.timeout.resume();
    try {
      this.signal.throwIfAborted();
      const { url, method, headers, body } = this.request;
      const response = await http.axiosRef
        .request<Readable>({
          url,
          method,
          headers,
          data: body,
          signal: this.signal,
          insecureHTTPParser: isLenientHost(this.host),
        })
        .catch((error: unknown) => {
          throw this.failure(error, false);
        });
      this.timeout.pause();
      const { status, data: stream } = response;
      const header = headerOf(response.headers);
      this.call.responded(status, response.headers);
      try {
        return await use({ status, header, body: this.readBody(stream, header('content-encoding')) });
      } finally {
        stream.destroy();
      }
    } finally {
      this.timeout.pause();
    }
  }

  private async *readBody(stream: Readable, coding: string | undefined): AsyncGenerator<Buffer> {
    const source = decompressed(stream, coding, this.signal);
    if (source !== stream) stream.on('data', (chunk: Buffer) => this.call.receivedEncoded(chunk));
    if (source === undefined) throw new PartnerFailure('breach', SENTENCES.unsupportedCoding(this.host));
    const { maxBytes } = this.limits;
    let bytes = 0;
    this.timeout.resume();
    try {
      for await (const chunk of source) {
        this.timeout.pause();
        bytes += chunk.length;
        this.call.received(chunk);
        if (bytes > maxBytes) throw new PartnerFailure('tooLarge', SENTENCES.tooLarge(this.host, maxBytes));
        yield chunk;
        this.timeout.resume();
      }
    } catch (error) {
      throw error instanceof PartnerFailure ? error : this.failure(error, true);
    } finally {
      this.timeout.pause();
    }
  }

  private failure(error: unknown, hasResponse: boolean): unknown {
    const { signal } = this.request;
    if (signal?.aborted === true) return signal.reason;
    if (!this.timeout.signal.aborted) return transportFailure(error, this.host, hasResponse);
    return new PartnerFailure('timedOut', SENTENCES.timedOut(this.host, this.limits.answerMs));
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
    this.timer = setTimeout(() => this.controller.abort(), Math.max(0, this.remainingMs));
  }

  pause(): void {
    if (this.timer === undefined) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.remainingMs -= performance.now() - this.startedAt;
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
  if (!hasResponse && !(error instanceof AxiosError)) return error;
  if ((error as NodeJS.ErrnoException).code === 'Z_DATA_ERROR')
    return new PartnerFailure('notJson', SENTENCES.notJson(host));
  const { kind, message } = networkFailure(error, host, hasResponse);
  return new PartnerFailure(kind, message);
}

function headerOf(headers: RawAxiosResponseHeaders): PartnerResponse['header'] {
  return (name) => {
    const value: unknown = headers[name];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === 'string' ? first : undefined;
  };
}
