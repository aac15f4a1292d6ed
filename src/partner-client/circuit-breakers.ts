import { Logger } from '@nestjs/common';
import { CircuitState, circuitBreaker, type CircuitBreakerPolicy, ConsecutiveBreaker, handleWhen } from 'cockatiel';
import { LRUCache } from 'lru-cache';
import type { PartnerConnection } from './connections.repository.js';
import { PartnerFailure, SENTENCES } from './partner-failure.js';

export interface BreakerSettings {
  readonly retryBaseMs: number;
  readonly breakAfter: number;
  readonly breakMs: number;
}

interface Breaker {
  readonly policy: CircuitBreakerPolicy;
  /** When the next call may try the partner; meaningless while the circuit is closed. */
  openUntil: number;
  /** Whether this outage was logged. */
  isLogged: boolean;
}

/** One circuit breaker for each connection. After `breakMs` a single call tries the partner. */
export class CircuitBreakers {
  private readonly logger = new Logger('PartnerClient');
  private readonly breakers = new LRUCache<string, Breaker>({ max: 10_000 });

  constructor(private readonly settings: BreakerSettings) {}

  /** Runs one attempt of a call, or throws `PartnerFailure` of kind `circuitOpen`. */
  async run<T>(connection: PartnerConnection, host: string, attempt: () => Promise<T>): Promise<T> {
    const breaker = this.breakerOf(connection);
    const { state } = breaker.policy;
    const isOpen = state === CircuitState.Open && Date.now() < breaker.openUntil;
    // cockatiel lets the other calls wait for the one that tries the partner; refusing them frees their workers.
    if (isOpen || state === CircuitState.HalfOpen) {
      const until = new Date(isOpen ? breaker.openUntil : Date.now() + this.settings.retryBaseMs);
      throw new PartnerFailure('circuitOpen', SENTENCES.circuitOpen(host, until), { retryAt: until });
    }
    return breaker.policy.execute(attempt);
  }

  /** A connection with another address has a new breaker. */
  private breakerOf({ id, baseUrl }: PartnerConnection): Breaker {
    const name = `${id} ${baseUrl}`;
    const existing = this.breakers.get(name);
    if (existing !== undefined) return existing;
    const policy = circuitBreaker(
      handleWhen((error) => error instanceof PartnerFailure && error.trips),
      { halfOpenAfter: this.settings.breakMs, breaker: new ConsecutiveBreaker(this.settings.breakAfter) },
    );
    const breaker: Breaker = { policy, openUntil: 0, isLogged: false };
    policy.onBreak((reason) => {
      // Logged once for each outage: callers that are refused because of it do not log again.
      if (!breaker.isLogged && 'error' in reason && reason.error instanceof PartnerFailure) {
        this.logger.warn(`${id} failed ${this.settings.breakAfter} times in a row: ${reason.error.message}`);
      }
      breaker.isLogged = true;
      breaker.openUntil = Date.now() + this.settings.breakMs;
    });
    policy.onReset(() => (breaker.isLogged = false));
    this.breakers.set(name, breaker);
    return breaker;
  }
}
