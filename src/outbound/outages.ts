import { LRUCache } from 'lru-cache';

export interface OutageRule {
  /** Failures in a row after which the target is not called for a while. */
  readonly failures: number;
  /** The first pause; each further failure doubles it, up to `maxPauseMs`. */
  readonly pauseMs: number;
  readonly maxPauseMs: number;
  /** When callers may ask again while another one tries the target. */
  readonly trialMs: number;
}

interface Target {
  failures: number;
  pausedUntil: number;
  isTried: boolean;
}

/**
 * Delays calls to targets (connections, file hosts) that failed several times in a row. After each pause a single call
 * tries the target. Any answer ends the outage, because it proves that the target can be reached.
 */
export class Outages {
  private readonly targets = new LRUCache<string, Target>({ max: 10_000 });

  constructor(private readonly rule: OutageRule) {}

  /** When to ask again; undefined if the target may be called now. The caller then reports the result of its call. */
  refusedUntil(name: string, now = Date.now()): Date | undefined {
    const target = this.targets.get(name);
    if (target === undefined || target.failures < this.rule.failures) return undefined;
    if (now < target.pausedUntil) return new Date(target.pausedUntil);
    if (target.isTried) return new Date(now + this.rule.trialMs);
    target.isTried = true;
    return undefined;
  }

  answered(name: string): void {
    this.targets.delete(name);
  }

  /** Returns whether an outage begins with this failure. */
  failed(name: string, now = Date.now()): boolean {
    const { failures: limit, pauseMs, maxPauseMs } = this.rule;
    const failures = (this.targets.get(name)?.failures ?? 0) + 1;
    const pause = Math.min(pauseMs * 2 ** Math.min(Math.max(failures - limit, 0), 30), maxPauseMs);
    this.targets.set(name, { failures, pausedUntil: now + pause, isTried: false });
    return failures === limit;
  }

  /** The call ended without a result, for example because the service stops. */
  undecided(name: string): void {
    const target = this.targets.get(name);
    if (target !== undefined) target.isTried = false;
  }
}
