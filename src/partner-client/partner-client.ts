import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ResolvedEnv } from '../config/env.js';
import type { ApiContract, ApiRoute, InterfaceName } from '../contracts/common/api-contract.js';
import { withoutFinalSlashes } from '../contracts/common/text.js';
import { Metrics } from '../observability/metrics.js';
import { OUTBOUND_POLICY, type OutboundPolicy, urlFault } from '../outbound/address-guard.js';
import { Outages } from '../outbound/outages.js';
import { ConnectionKeys, type KeySlot } from './connection-keys.service.js';
import type { PartnerConnection } from './connections.repository.js';
import { type ExchangeLimits, type PartnerRequest, type PartnerResponse, PartnerTransport } from './http-exchange.js';
import { KeyScrubber, type PartnerAnswer, StreamedAnswer } from './partner-answer.js';
import { PartnerFailure, retryDelayMs, SENTENCES, statusFailure } from './partner-failure.js';

/** Injection token of `PartnerSettings`. */
export const PARTNER_SETTINGS = Symbol('PARTNER_SETTINGS');

export interface PartnerSettings extends ExchangeLimits {
  /** Delay before the second attempt; it doubles. */
  readonly retryBaseMs: number;
  /** Failures in a row after which the circuit of a connection opens, and for how long. */
  readonly breakAfter: number;
  readonly breakMs: number;
}

export function partnerSettings(
  env: Pick<ResolvedEnv, 'PARTNER_ANSWER_TIMEOUT' | 'PARTNER_BODY_LIMIT'>,
): PartnerSettings {
  return {
    answerMs: env.PARTNER_ANSWER_TIMEOUT,
    maxBytes: env.PARTNER_BODY_LIMIT,
    retryBaseMs: 500,
    breakAfter: 6,
    breakMs: 30_000,
  };
}

/** One call of a partner's API. */
export interface PartnerCall {
  readonly api: ApiContract;
  readonly route: ApiRoute;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The expected statuses, 200 by default and never 401. Every other status is a `PartnerFailure`. */
  readonly accept?: readonly number[];
  /** One attempt of a GET. Other methods always have one attempt. */
  readonly once?: boolean;
  /** `false` calls the partner although its circuit is open, for an admin who waits for the result. */
  readonly breaker?: boolean;
  /** Ends the call and the delays between its attempts; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** The body of an error response is not read beyond this size. */
const MAX_ERROR_BYTES = 65_536;

/** Calls partners' APIs with the keys that they issued to us. */
@Injectable()
export class PartnerClient {
  private readonly logger = new Logger('PartnerClient');
  private readonly outages: Outages;

  constructor(
    private readonly transport: PartnerTransport,
    private readonly keys: ConnectionKeys,
    @Inject(PARTNER_SETTINGS) private readonly settings: PartnerSettings,
    @Inject(OUTBOUND_POLICY) private readonly policy: OutboundPolicy,
    private readonly metrics: Metrics,
  ) {
    const { breakAfter: failures, breakMs: pauseMs, retryBaseMs: trialMs } = settings;
    this.outages = new Outages({ failures, pauseMs, maxPauseMs: pauseMs, trialMs });
  }

  /** The answer with its body of at most 4 MiB. Every expected failure is a `PartnerFailure`. */
  call(connection: PartnerConnection, call: PartnerCall): Promise<PartnerAnswer> {
    return this.stream(connection, call, (answer) => answer.whole());
  }

  /**
   * Passes the answer to `use` while its body is arriving. A connection that breaks meanwhile is a `PartnerFailure`, and
   * `use` is called again for the next attempt.
   */
  async stream<T>(
    connection: PartnerConnection,
    call: PartnerCall,
    use: (answer: StreamedAnswer) => Promise<T>,
  ): Promise<T> {
    const count = (outcome: string) => this.metrics.partnerCalls.inc({ interface: call.api.name, outcome });
    try {
      const result = await this.guarded(connection, call, use);
      count('ok');
      return result;
    } catch (error) {
      if (error instanceof PartnerFailure) count(error.kind);
      throw error;
    }
  }

  private async guarded<T>(
    connection: PartnerConnection,
    call: PartnerCall,
    use: (answer: StreamedAnswer) => Promise<T>,
  ): Promise<T> {
    const url = urlOf(connection, call);
    const fault = urlFault(url, this.policy);
    if (fault !== undefined) {
      this.transport.refused(requestOf(connection, undefined, call, url), 'addressRefused');
      throw new PartnerFailure('addressRefused', fault);
    }
    const attempt = async () => this.tryKeys(connection, await this.keys.slots(connection), call, url, use);
    return this.retrying(connection, call, () =>
      call.breaker === false ? attempt() : this.unlessOut(connection, new URL(url).host, attempt),
    );
  }

  /** Runs one attempt of a call, or throws `PartnerFailure` of kind `circuitOpen` during an outage of the partner. */
  private async unlessOut<T>({ id, baseUrl }: PartnerConnection, host: string, run: () => Promise<T>): Promise<T> {
    // A connection with another address has no failures yet.
    const name = `${id} ${baseUrl}`;
    const until = this.outages.refusedUntil(name);
    if (until !== undefined) {
      throw new PartnerFailure('circuitOpen', SENTENCES.circuitOpen(host, until), { retryAt: until });
    }
    try {
      const result = await run();
      this.outages.answered(name);
      return result;
    } catch (error) {
      const reachable = error instanceof PartnerFailure ? error.provesReachable : undefined;
      if (reachable === undefined) this.outages.undecided(name);
      else if (reachable) this.outages.answered(name);
      else if (this.outages.failed(name)) {
        // Logged once for each outage: callers that are refused because of it do not log again.
        this.logger.warn(`${id} failed ${this.settings.breakAfter} times in a row: ${(error as Error).message}`);
      }
      throw error;
    }
  }

  private async retrying<T>(connection: PartnerConnection, call: PartnerCall, run: () => Promise<T>): Promise<T> {
    const once = call.once === true || call.route.method !== 'GET';
    let last: PartnerFailure | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof PartnerFailure)) throw error;
        // The circuit may open between two attempts: the failure that opened it is more informative.
        if (error.kind === 'circuitOpen') {
          if (last === undefined)
            this.transport.refused(requestOf(connection, undefined, call, urlOf(connection, call)), error.kind);
          throw last ?? error;
        }
        this.logger.debug(`${connection.id} ${call.route.path}, attempt ${attempt}: ${error.message}`);
        last = error;
      }
      const timing = { baseMs: this.settings.retryBaseMs, now: new Date(), random: Math.random() };
      const delayMs = once ? undefined : retryDelayMs(last, attempt, timing);
      if (delayMs === undefined) throw last;
      await delay(delayMs, undefined, call.signal === undefined ? {} : { signal: call.signal }).catch(() => {
        throw call.signal?.reason;
      });
    }
  }

  /** On 401 the next slot is tried; the key that is accepted becomes the current one (decision 18). */
  private async tryKeys<T>(
    connection: PartnerConnection,
    slots: readonly KeySlot[],
    call: PartnerCall,
    url: string,
    use: (answer: StreamedAnswer) => Promise<T>,
  ): Promise<T> {
    const { host } = new URL(url);
    const scrubber = new KeyScrubber(slots.map(({ key }) => key));
    const accept = call.accept ?? [200];
    let refused: KeySlot | undefined;
    for (const slot of slots) {
      const previous = refused;
      const request = requestOf(connection, slot, call, url, slots);
      const result = await this.transport.send(request, this.settings, async (response) => {
        const { status, header, body } = response;
        if (status === 401) return undefined;
        if (!accept.includes(status)) {
          const context = { host, scrubber, retryAfter: header('retry-after'), now: new Date() };
          throw statusFailure(status, await errorBody(response, call.signal), context);
        }
        if (previous !== undefined) await this.keys.promote(connection, slot, previous);
        const type = header('content-type');
        const cleanType = type === undefined ? undefined : scrubber.sentence(type);
        return {
          value: await use(new StreamedAnswer(status, host, scrubber, body, this.settings.maxBytes, cleanType)),
        };
      });
      if (result !== undefined) return result.value;
      refused = slot;
    }
    throw new PartnerFailure('unauthorized', SENTENCES.unauthorized(host, slots.length), { status: 401 });
  }
}

/** Without a key for a request that is only recorded. */
function requestOf(
  { id, haulerId }: PartnerConnection,
  slot: KeySlot | undefined,
  call: PartnerCall,
  url: string,
  slots: readonly KeySlot[] = [],
): PartnerRequest {
  const route = Object.entries(call.api.routes).find(([, each]) => each.path === call.route.path)?.[0] ?? null;
  return {
    url,
    method: call.route.method,
    headers: {
      Accept: 'application/json',
      'Accept-Encoding': 'gzip',
      'User-Agent': 'haulbridge',
      ...(slot === undefined ? {} : { [call.api.keyHeader]: slot.key }),
      ...(call.body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: call.body === undefined ? undefined : JSON.stringify(call.body),
    signal: call.signal,
    origin: {
      interface: call.api.name as InterfaceName,
      route,
      haulerId,
      connectionId: id,
      secrets: slots.map(({ key }) => key),
    },
  };
}

/** Empty if the body is too large or cannot be read: then the status alone is reported. */
async function errorBody({ body }: PartnerResponse, signal: AbortSignal | undefined): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.length;
      if (size > MAX_ERROR_BYTES) return Buffer.alloc(0);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return Buffer.alloc(0);
  }
}

function urlOf({ baseUrl }: PartnerConnection, { api, route, query }: PartnerCall): string {
  const url = new URL(withoutFinalSlashes(baseUrl) + api.prefix + route.path);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) url.searchParams.append(name, String(value));
  }
  // `+` is a space only in forms, not by RFC 3986; `%20` is a space in both. A plus is `%2B` here.
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}
