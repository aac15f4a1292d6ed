import type { IncomingMessage } from 'node:http';
import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../core/config/env.js';
import { storableText } from '../contracts/common/text.js';
import { outboundPolicy, type OutboundPolicy, urlFault } from '../core/outbound/address-guard.js';
import { networkFailure } from '../core/outbound/network-errors.js';
import { retryAfterDate } from '../core/outbound/retry-after.js';
import { redactText } from '../core/observability/redaction.js';
import { singleRequests } from '../partner-client/http-exchange.js';
import type { Attempt } from './delivery.rules.js';

/** For the whole try, from the name resolution to the status of the answer. */
export const ANSWER_MS = 15_000;
/** For the body, of which little is read. */
const BODY_MS = 2_000;
const MAX_READ_BYTES = 8_192;
/** Characters of the body that are kept. */
const MAX_KEPT = 1_000;

/** How `POST`s to webhook endpoints end. */
const FAILURES = { addressRefused: 'address-refused', unreachable: 'unreachable', broken: 'broken' } as const;

/**
 * Sends one `POST`. Each try has a connection of its own, so that the address is resolved and checked again. Redirects are not
 * followed.
 */
@Injectable()
export class HttpSender {
  private readonly policy: OutboundPolicy;
  private readonly http: ReturnType<typeof singleRequests>;

  constructor(@Inject(ENV) env: ResolvedEnv) {
    this.policy = outboundPolicy(env);
    this.http = singleRequests(env, {
      // What curl reads is an answer (decision 64): a delivery that was taken must not be sent again. No other answer follows on it.
      insecureHTTPParser: true,
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'haulbridge-webhooks',
        Accept: '*/*',
        'Accept-Encoding': 'identity',
      },
    });
  }

  /** Never rejects, but for an abort by the caller. */
  async send(
    address: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    options: { readonly signal?: AbortSignal; readonly secrets?: readonly string[] } = {},
  ): Promise<Attempt> {
    if (urlFault(address, this.policy) !== undefined) return { reason: 'address-refused' };
    const url = new URL(address);
    const timeout = AbortSignal.timeout(ANSWER_MS);
    const signal = options.signal === undefined ? timeout : AbortSignal.any([timeout, options.signal]);
    try {
      const { data: response } = await this.http.post<IncomingMessage>(url.href, body, { headers, signal });
      const text = await readStart(response);
      return attemptOf(response, redactText(text, options.secrets).slice(0, MAX_KEPT).toWellFormed());
    } catch (error) {
      if (options.signal?.aborted === true) throw options.signal.reason;
      if (timeout.aborted) return { reason: 'timed-out' };
      const { code } = error as { readonly code?: unknown };
      if (code === 'ETIMEDOUT') return { reason: 'timed-out' };
      const { kind, cause } = networkFailure(error, url.host, false);
      return { reason: cause ?? FAILURES[kind] };
    }
  }
}

/** The beginning of a body. An answer that is long, slow or broken off counts by its status all the same. */
async function readStart(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => response.destroy(), BODY_MS);
  try {
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes >= MAX_READ_BYTES) break;
    }
  } catch {
    // What has come is kept.
  } finally {
    clearTimeout(timer);
    response.destroy();
  }
  return storableText(Buffer.concat(chunks).subarray(0, MAX_READ_BYTES).toString('utf8'));
}

function attemptOf({ statusCode: status = 0, headers }: IncomingMessage, body: string): Attempt {
  const response = { status, body };
  if (status >= 200 && status < 300) return { response };
  const now = new Date();
  const retryAt = retryAfterDate(headers['retry-after'], now);
  return {
    response,
    reason: status === 410 ? 'gone' : status >= 300 && status < 400 ? 'redirected' : 'http-status',
    ...(retryAt === undefined ? {} : { retryAfterMs: retryAt.getTime() - now.getTime() }),
  };
}
