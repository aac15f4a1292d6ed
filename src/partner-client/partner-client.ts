import { setTimeout as delay } from 'node:timers/promises';
import { HttpService } from '@nestjs/axios';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { ApiContract, ApiRoute } from '../contracts/common/api-contract.js';
import { withoutFinalSlashes } from '../contracts/common/text.js';
import { Metrics } from '../observability/metrics.js';
import { type OutboundPolicy, urlFault } from '../outbound/address-guard.js';
import { Breakers } from './breakers.js';
import { ConnectionKeys, type KeySlot } from './connection-keys.service.js';
import { exchange, type RawAnswer } from './exchange.js';
import { SENTENCES } from './failure-sentences.js';
import { KeyScrubber } from './key-scrubber.js';
import { OUTBOUND_POLICY } from './outbound-policy.js';
import { PartnerAnswer } from './partner-answer.js';
import type { PartnerConnection } from './partner-connection.js';
import { PartnerFailure } from './partner-failure.js';
import { PARTNER_SETTINGS, type PartnerSettings } from './partner-settings.js';
import type { Place } from './places.js';
import { nextTryMs } from './retry-policy.js';
import { statusFailure } from './status-failure.js';

/** One call of a partner's API: where it goes is the contract's business, what counts as an answer the caller's. */
export interface PartnerCall {
  readonly api: ApiContract;
  readonly route: ApiRoute;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Asks for the body only if it is another one; then 304 must be among `accept`. */
  readonly ifNoneMatch?: string;
  /** The statuses that are answers, never 401; every other one is a `PartnerFailure`. Default: 200. */
  readonly accept?: readonly number[];
  /** One try, also of a GET; nothing else is ever sent twice. */
  readonly once?: boolean;
  /** `false`: called though the partner was down a moment ago, because somebody wants to know. */
  readonly breaker?: boolean;
  /**
   * Taken when an answer turns out to be large, and not while one is waited for; left before another try. The caller leaves
   * it when the answer is done with.
   */
  readonly place?: Place;
  /** Ends the call, its waits between tries included; its reason is thrown. */
  readonly signal?: AbortSignal;
}

/** Calls partners' APIs with the keys they issued to us. */
@Injectable()
export class PartnerClient {
  private readonly logger = new Logger('PartnerClient');
  private readonly breakers: Breakers;

  constructor(
    private readonly http: HttpService,
    private readonly keys: ConnectionKeys,
    @Inject(PARTNER_SETTINGS) private readonly settings: PartnerSettings,
    @Inject(OUTBOUND_POLICY) private readonly policy: OutboundPolicy,
    private readonly metrics: Metrics,
  ) {
    this.breakers = new Breakers(settings);
  }

  /** The answer, or a `PartnerFailure` that says which of the expected failures it was. */
  async call(connection: PartnerConnection, call: PartnerCall): Promise<PartnerAnswer> {
    const count = (outcome: string) => this.metrics.partnerCalls.inc({ interface: call.api.name, outcome });
    try {
      const answer = await this.answer(connection, call);
      count('ok');
      return answer;
    } catch (error) {
      if (error instanceof PartnerFailure) count(error.kind);
      throw error;
    }
  }

  private async answer(connection: PartnerConnection, call: PartnerCall): Promise<PartnerAnswer> {
    const url = urlOf(connection, call);
    const { host } = new URL(url);
    const fault = urlFault(url, this.policy);
    if (fault !== undefined) throw new PartnerFailure('addressRefused', fault);
    const attempt = async () => this.tryKeys(connection, await this.keys.slots(connection), call, url);
    return this.retrying(connection, call, () =>
      call.breaker === false ? attempt() : this.breakers.run(connection, host, attempt),
    );
  }

  private async retrying<T>(connection: PartnerConnection, call: PartnerCall, run: () => Promise<T>): Promise<T> {
    const once = call.once === true || call.route.method !== 'GET';
    let last: PartnerFailure | undefined;
    for (let attempt = 1; ; attempt++) {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof PartnerFailure)) throw error;
        // The circuit may have opened between two tries: what opened it says more.
        if (error.kind === 'circuitOpen') throw last ?? error;
        this.logger.debug(`${connection.id} ${call.route.path}, try ${attempt}: ${error.message}`);
        last = error;
      }
      const timing = { baseMs: this.settings.retryBaseMs, now: new Date(), random: Math.random() };
      const wait = once ? undefined : nextTryMs(last, attempt, timing);
      if (wait === undefined) throw last;
      call.place?.leave();
      await delay(wait, undefined, call.signal === undefined ? {} : { signal: call.signal }).catch(() => {
        throw call.signal?.reason;
      });
    }
  }

  /** On 401 the other slot is tried; where the next key works, it becomes the current one (decision 18). */
  private async tryKeys(
    connection: PartnerConnection,
    slots: readonly KeySlot[],
    call: PartnerCall,
    url: string,
  ): Promise<PartnerAnswer> {
    const { host } = new URL(url);
    const scrubber = new KeyScrubber(slots.map(({ key }) => key));
    const accept = call.accept ?? [200];
    let refused: KeySlot | undefined;
    for (const slot of slots) {
      const raw = await this.send(slot, call, url, accept);
      if (raw.status === 401) {
        refused = slot;
        continue;
      }
      if (!accept.includes(raw.status)) throw statusFailure(raw, host, scrubber, new Date());
      if (refused !== undefined) await this.keys.promote(connection, slot, refused);
      const etag = raw.header('etag');
      const safe = etag !== undefined && scrubber.sentence(etag) === etag ? etag : undefined;
      return new PartnerAnswer(raw.status, safe, raw.bytes, host, scrubber);
    }
    throw new PartnerFailure('unauthorized', SENTENCES.unauthorized(host, slots.length), { status: 401 });
  }

  private send(slot: KeySlot, call: PartnerCall, url: string, accept: readonly number[]): Promise<RawAnswer> {
    const headers = {
      Accept: 'application/json',
      'Accept-Encoding': 'gzip',
      'User-Agent': 'haulbridge',
      [call.api.keyHeader]: slot.key,
      ...(call.body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(call.ifNoneMatch === undefined ? {} : { 'If-None-Match': call.ifNoneMatch }),
    };
    const body = call.body === undefined ? undefined : JSON.stringify(call.body);
    const request = { url, method: call.route.method, headers, body, accept, signal: call.signal, place: call.place };
    return exchange(this.http, request, this.settings);
  }
}

function urlOf({ baseUrl }: PartnerConnection, { api, route, query }: PartnerCall): string {
  const url = new URL(withoutFinalSlashes(baseUrl) + api.prefix + route.path);
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) url.searchParams.append(name, String(value));
  }
  // A blank: `+` is one in forms only, and not to a partner who decodes by RFC 3986. A plus is `%2B` here.
  url.search = url.search.replaceAll('+', '%20');
  return url.href;
}
