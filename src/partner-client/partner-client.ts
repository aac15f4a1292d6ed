import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ResolvedEnv } from '../core/config/env.js';
import type { ApiContract, ApiRoute } from '../contracts/common/api-contract.js';
import type { InterfaceName } from '../contracts/common/interfaces.values.js';
import { scenarioNamed } from '../contracts/sandbox/scenarios.js';
import { withoutFinalSlashes } from '../contracts/common/text.js';
import { uuidv7 } from '../core/database/uuid.js';
import { SCENARIO_HEADER } from '../core/http/call.js';
import { Metrics } from '../core/observability/metrics.js';
import { OUTBOUND_POLICY, type OutboundPolicy, urlFault } from '../core/outbound/address-guard.js';
import { type Backoff, TargetBackoff } from '../core/outbound/backoff.js';
import { OutboundSwitch } from '../core/outbound/outbound-switch.js';
import { traceHeaders } from '../core/outbound/trace-context.js';
import { ConnectionKeys, type KeySlot } from './connection-keys.service.js';
import type { PartnerConnection } from './connections.repository.js';
import { type ExchangeLimits, type PartnerRequest, type PartnerResponse, PartnerTransport } from './http-exchange.js';
import { KeyScrubber, PartnerAnswer } from './partner-answer.js';
import { nextAttemptMs, PartnerFailure, SENTENCES, statusFailure } from './partner-failure.js';

/** Injection token of `PartnerSettings`. */
export const PARTNER_SETTINGS = Symbol('PARTNER_SETTINGS');

export interface PartnerSettings extends ExchangeLimits {
  /** Between the attempts of one call. */
  readonly retries: Backoff;
  /** Failures in a row after which a connection is not called for a while. */
  readonly pauseAfter: number;
  /** The lengths of these pauses; those of `TargetBackoff` by default. */
  readonly pauses?: Backoff | undefined;
  /** Whether a failure that names a scenario of the sandbox was made by it. */
  readonly hasSandbox: boolean;
}

export function partnerSettings(
  env: Pick<ResolvedEnv, 'PARTNER_ANSWER_TIMEOUT' | 'PARTNER_BODY_LIMIT' | 'SANDBOX'>,
): PartnerSettings {
  return {
    answerMs: env.PARTNER_ANSWER_TIMEOUT,
    maxBytes: env.PARTNER_BODY_LIMIT,
    retries: { firstMs: 500, factor: 2, maxMs: 60_000, jitter: 0.5 },
    pauseAfter: 6,
    hasSandbox: env.SANDBOX,
  };
}

/** One call of a partner's API. */
export interface PartnerCall {
  readonly api: ApiContract;
  readonly route: ApiRoute;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** The same for each attempt of one request, so that a partner who knows the header does not take it twice. */
  readonly idempotencyKey?: string;
  /** The expected statuses, 200 by default and never 401. Every other status is a `PartnerFailure`. */
  readonly accept?: readonly number[];
  /** One attempt of a GET. Other methods always have one attempt. */
  readonly once?: boolean;
  /** Calls the partner during a pause, for an admin who waits for the result. */
  readonly duringPause?: boolean;
  /** Ends the call and the delays between its attempts; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** What the answers to one call have shown. */
interface Answers {
  /** The scenario of the sandbox that acted on the last one. */
  scenario: string | undefined;
}

/** Work that has begun before the calls were switched off asks again after this time. */
const SWITCHED_OFF_MS = 60_000;

/** The body of an error response is not read beyond this size. */
const MAX_ERROR_BYTES = 65_536;

/** Calls partners' APIs with the keys that they issued to us. */
@Injectable()
export class PartnerClient {
  private readonly logger = new Logger('PartnerClient');
  private readonly backoff: TargetBackoff;

  constructor(
    private readonly transport: PartnerTransport,
    private readonly keys: ConnectionKeys,
    @Inject(PARTNER_SETTINGS) private readonly settings: PartnerSettings,
    @Inject(OUTBOUND_POLICY) private readonly policy: OutboundPolicy,
    private readonly metrics: Metrics,
    @Inject(OutboundSwitch) private readonly outbound: Pick<OutboundSwitch, 'isOn' | 'reason'>,
  ) {
    this.backoff = new TargetBackoff(settings.pauseAfter, settings.pauses);
  }

  /**
   * Passes the answer to `use` while its body is arriving. Every expected failure is a `PartnerFailure`. After a connection that
   * breaks meanwhile `use` is called again for the next attempt.
   */
  async stream<T>(
    connection: PartnerConnection,
    call: PartnerCall,
    use: (answer: PartnerAnswer) => Promise<T>,
  ): Promise<T> {
    const count = (outcome: string) => this.metrics.partnerCalls.inc({ interface: call.api.name, outcome });
    const answers: Answers = { scenario: undefined };
    try {
      const result = await this.guarded(connection, call, use, answers);
      count('ok');
      return result;
    } catch (error) {
      if (!(error instanceof PartnerFailure)) throw error;
      count(answers.scenario === undefined ? error.kind : 'sandbox');
      throw answers.scenario === undefined ? error : error.madeBy(answers.scenario);
    }
  }

  private async guarded<T>(
    connection: PartnerConnection,
    call: PartnerCall,
    use: (answer: PartnerAnswer) => Promise<T>,
    answers: Answers,
  ): Promise<T> {
    const url = urlOf(connection, call);
    const refused = this.refusal(connection, call, url);
    if (refused !== undefined) {
      this.transport.refused(requestOf(connection, undefined, call, url), refused.kind);
      throw refused;
    }
    const retries = call.once !== true && call.route.method === 'GET';
    for (let attempt = 1; ; attempt++) {
      try {
        answers.scenario = undefined;
        const result = await this.tryKeys(connection, call, url, use, answers);
        this.backoff.answered(targetOf(connection));
        return result;
      } catch (error) {
        if (!(error instanceof PartnerFailure)) throw error;
        this.logger.debug(`${connection.id} ${call.route.path}, attempt ${attempt}: ${error.message}`);
        this.record(connection, call, error);
        const timing = { rule: this.settings.retries, now: new Date(), random: Math.random() };
        const delayMs = retries ? nextAttemptMs(error, attempt, timing) : undefined;
        if (delayMs === undefined) throw error;
        await delay(delayMs, undefined, call.signal === undefined ? {} : { signal: call.signal }).catch(() => {
          throw call.signal?.reason;
        });
      }
    }
  }

  /** Why the partner may not be called now. */
  private refusal(connection: PartnerConnection, call: PartnerCall, url: string): PartnerFailure | undefined {
    if (!this.outbound.isOn) {
      const reason = this.outbound.reason ?? 'the database has not been asked yet';
      return new PartnerFailure('switchedOff', SENTENCES.switchedOff(reason), {
        retryAt: new Date(Date.now() + SWITCHED_OFF_MS),
      });
    }
    const fault = urlFault(url, this.policy);
    if (fault !== undefined) return new PartnerFailure('addressRefused', fault);
    const until =
      call.duringPause === true
        ? undefined
        : (this.backoff.pausedUntil(targetOf(connection)) ?? this.backoff.pausedUntil(routeOf(connection, call)));
    if (until === undefined) return undefined;
    return new PartnerFailure('circuitOpen', SENTENCES.circuitOpen(new URL(url).host, until), { retryAt: until });
  }

  private record(connection: PartnerConnection, call: PartnerCall, failure: PartnerFailure): void {
    const target = targetOf(connection);
    const { asksForPause, provesReachable, retryAt } = failure;
    if (asksForPause && retryAt !== undefined) this.backoff.pause(routeOf(connection, call), retryAt);
    if (provesReachable === true) this.backoff.answered(target);
    if (provesReachable === false && this.backoff.failed(target)) {
      // Logged once for each pause: callers that are refused because of it do not log again.
      this.logger.warn(`${connection.id} failed ${this.settings.pauseAfter} times in a row: ${failure.message}`);
    }
  }

  /** On 401 the next slot is tried; the key that is accepted becomes the current one (decision 18). */
  private async tryKeys<T>(
    connection: PartnerConnection,
    call: PartnerCall,
    url: string,
    use: (answer: PartnerAnswer) => Promise<T>,
    answers: Answers,
  ): Promise<T> {
    const { host } = new URL(url);
    const slots = await this.keys.slots(connection);
    const scrubber = new KeyScrubber(slots.map(({ key }) => key));
    const accept = call.accept ?? [200];
    let refused: KeySlot | undefined;
    for (const slot of slots) {
      const previous = refused;
      const request = requestOf(connection, slot, call, url, slots);
      const result = await this.transport.send(request, this.settings, async (response) => {
        const { status, header, body } = response;
        answers.scenario = this.settings.hasSandbox ? knownScenario(header(SCENARIO_HEADER.toLowerCase())) : undefined;
        if (status === 401) return undefined;
        if (!accept.includes(status)) {
          const context = { host, scrubber, retryAfter: header('retry-after'), now: new Date() };
          throw statusFailure(status, await errorBody(response, call.signal), context);
        }
        const type = header('content-type');
        const cleanType = type === undefined ? undefined : scrubber.sentence(type);
        const answer = new PartnerAnswer(status, host, scrubber, body, this.settings.maxBytes, cleanType);
        // A page of a gateway proves nothing about the key; an empty list of 204 does (decision 38).
        const isAccepted = previous !== undefined && (status === 204 || (await answer.beginsAsObject()));
        if (isAccepted) await this.keys.promote(connection, slot, previous);
        return { value: await use(answer) };
      });
      if (result !== undefined) return result.value;
      refused = slot;
    }
    throw new PartnerFailure('unauthorized', SENTENCES.unauthorized(host, slots.length), { status: 401 });
  }
}

const knownScenario = (name = ''): string | undefined => (scenarioNamed(name) === undefined ? undefined : name);

/** A connection with another address has no failures yet. */
const targetOf = ({ id, baseUrl }: PartnerConnection): string => `${id} ${baseUrl}`;

/** `Retry-After` is an answer to one kind of call. */
const routeOf = (connection: PartnerConnection, { route }: PartnerCall): string =>
  `${targetOf(connection)} ${route.method} ${route.path}`;

/** Without a key for a request that is only recorded. */
function requestOf(
  { id, haulerId }: PartnerConnection,
  slot: KeySlot | undefined,
  call: PartnerCall,
  url: string,
  slots: readonly KeySlot[] = [],
): PartnerRequest {
  return {
    url,
    method: call.route.method,
    headers: {
      Accept: 'application/json',
      'Accept-Encoding': 'gzip',
      'User-Agent': 'haulbridge',
      'X-Request-Id': uuidv7(),
      ...traceHeaders(),
      ...(call.idempotencyKey === undefined ? {} : { 'Idempotency-Key': call.idempotencyKey }),
      ...(slot === undefined ? {} : { [call.api.keyHeader]: slot.key }),
      ...(call.body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    body: call.body === undefined ? undefined : JSON.stringify(call.body),
    signal: call.signal,
    origin: {
      interface: call.api.name as InterfaceName,
      route: call.route.operation,
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
