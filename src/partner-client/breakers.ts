import { Logger } from '@nestjs/common';
import { CircuitState, circuitBreaker, type CircuitBreakerPolicy, ConsecutiveBreaker, handleWhen } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import { SENTENCES } from './failure-sentences.js';
import { PartnerFailure } from './partner-failure.js';
import type { PartnerConnection } from './partner-connection.js';
import type { PartnerSettings } from './partner-settings.js';

interface Breaker {
  readonly policy: CircuitBreakerPolicy;
  /** When it may be tried out; of no meaning while it is closed. */
  openUntil: number;
  /** Whether this outage was warned of. */
  isTold: boolean;
}

/** A partner that is down is left alone for a while, each connection for itself; then one call tries it out. */
export class Breakers {
  private readonly logger = new Logger('PartnerClient');
  private readonly breakers = new LRUCache<string, Breaker>({ max: 10_000 });

  constructor(private readonly settings: PartnerSettings) {}

  /** Runs a try of a call. */
  async run<T>(connection: PartnerConnection, host: string, attempt: () => Promise<T>): Promise<T> {
    const breaker = this.of(connection);
    const { state } = breaker.policy;
    const waiting = state === CircuitState.Open && Date.now() < breaker.openUntil;
    // While one call tries it out, the others are refused: they would only wait for its outcome.
    if (waiting || state === CircuitState.HalfOpen) {
      const until = new Date(waiting ? breaker.openUntil : Date.now() + this.settings.retryBaseMs);
      throw new PartnerFailure('circuitOpen', SENTENCES.circuitOpen(host, until), { retryAt: until });
    }
    return breaker.policy.execute(attempt);
  }

  /** A changed address begins anew. */
  private of({ id, baseUrl }: PartnerConnection): Breaker {
    const name = `${id} ${baseUrl}`;
    const known = this.breakers.get(name);
    if (known !== undefined) return known;
    const policy = circuitBreaker(
      handleWhen((error) => error instanceof PartnerFailure && error.trips),
      { halfOpenAfter: this.settings.breakMs, breaker: new ConsecutiveBreaker(this.settings.breakAfter) },
    );
    const breaker: Breaker = { policy, openUntil: 0, isTold: false };
    policy.onBreak((reason) => {
      // Here, once an outage: not all who call tell what failed, and those who wait for its end say nothing of it.
      if (!breaker.isTold && 'error' in reason && reason.error instanceof PartnerFailure)
        this.logger.warn(`${id} fails again and again, and is left alone for a while: ${reason.error.message}`);
      breaker.isTold = true;
      breaker.openUntil = Date.now() + this.settings.breakMs;
    });
    policy.onReset(() => (breaker.isTold = false));
    this.breakers.set(name, breaker);
    return breaker;
  }
}
