import { CircuitState, circuitBreaker, type CircuitBreakerPolicy, ConsecutiveBreaker, handleWhen } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import { SENTENCES } from './failure-sentences.js';
import { PartnerFailure } from './partner-failure.js';
import type { PartnerSettings } from './partner-settings.js';

interface Breaker {
  readonly policy: CircuitBreakerPolicy;
  openUntil: number;
}

/** A partner that is down is left alone for a while, each connection for itself; then one call tries it out. */
export class Breakers {
  private readonly breakers = new LRUCache<string, Breaker>({ max: 10_000 });

  constructor(private readonly settings: PartnerSettings) {}

  /** Runs a try of a call. `name` is the connection's, with its address: a changed address begins anew. */
  async run<T>(name: string, host: string, attempt: () => Promise<T>): Promise<T> {
    const breaker = this.of(name);
    const { state } = breaker.policy;
    const waiting = state === CircuitState.Open && Date.now() < breaker.openUntil;
    // While one call tries it out, the others are refused: they would only wait for its outcome.
    if (waiting || state === CircuitState.HalfOpen) {
      const until = new Date(waiting ? breaker.openUntil : Date.now() + this.settings.retryBaseMs);
      throw new PartnerFailure('circuitOpen', SENTENCES.circuitOpen(host, until), { retryAt: until });
    }
    return breaker.policy.execute(attempt);
  }

  private of(name: string): Breaker {
    const known = this.breakers.get(name);
    if (known !== undefined) return known;
    const policy = circuitBreaker(
      handleWhen((error) => error instanceof PartnerFailure && error.trips),
      { halfOpenAfter: this.settings.breakMs, breaker: new ConsecutiveBreaker(this.settings.breakAfter) },
    );
    const breaker: Breaker = { policy, openUntil: 0 };
    policy.onBreak(() => (breaker.openUntil = Date.now() + this.settings.breakMs));
    this.breakers.set(name, breaker);
    return breaker;
  }
}
