import { Counter, Gauge, type Registry } from 'prom-client';

/** `no-key`: of calls without a valid key, beyond their budgets (decision 58). */
const LOSS_REASONS = ['queue-full', 'database-unavailable', 'not-writable', 'day-limit', 'no-key'] as const;
export type LossReason = (typeof LOSS_REASONS)[number];

/** Exchanges of callers with a key that were not stored, by this instance. */
export interface Losses {
  readonly count: number;
  readonly reasons: readonly LossReason[];
  readonly since: Date;
  readonly lastAt: Date;
}

interface Sources {
  readonly storedToday: () => number;
  readonly waiting: () => number;
}

/** The metrics of the exchange log. Each exchange is counted once, as written or lost, or waits. */
export class ExchangeMetrics {
  private readonly written: Counter;
  private readonly lost: Counter<'reason'>;
  private readonly bodies: Counter;
  losses: Losses | undefined;

  constructor(registry: Registry, maxBytesPerDay: number, { storedToday, waiting }: Sources) {
    const registers = [registry];
    this.written = new Counter({ name: 'exchanges_written_total', help: 'HTTP exchanges that were stored', registers });
    this.lost = new Counter({
      name: 'exchanges_lost_total',
      help: `HTTP exchanges that were not stored, by reason: ${LOSS_REASONS.join(', ')}`,
      labelNames: ['reason'],
      registers,
    });
    for (const reason of LOSS_REASONS) this.lost.inc({ reason }, 0);
    this.bodies = new Counter({
      name: 'exchanges_without_bodies_total',
      help: 'HTTP exchanges that were stored without their bodies, because most of EXCHANGE_MAX_BYTES_PER_DAY was used',
      registers,
    });
    gauge('exchanges_waiting', 'HTTP exchanges that wait to be stored', waiting);
    gauge(
      'exchanges_bytes_today',
      'Size in the database of the HTTP exchanges of today (UTC), with their indexes',
      storedToday,
    );
    gauge('exchanges_bytes_per_day_limit', 'EXCHANGE_MAX_BYTES_PER_DAY', () => maxBytesPerDay);

    function gauge(name: string, help: string, read: () => number): void {
      const one: Gauge = new Gauge({ name, help, registers, collect: () => one.set(read()) });
    }
  }

  store(count: number): void {
    this.written.inc(count);
  }

  lose(reason: LossReason, count: number): void {
    this.lost.inc({ reason }, count);
    if (count === 0 || reason === 'no-key') return;
    const lastAt = new Date();
    const { count: before = 0, reasons = [], since = lastAt } = this.losses ?? {};
    this.losses = { count: before + count, reasons: [...new Set([...reasons, reason])], since, lastAt };
  }

  dropBodies(): void {
    this.bodies.inc();
  }
}
