import { setTimeout as delay } from 'node:timers/promises';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { haulerNames } from '../../auth/haulers.repository.js';
import {
  type Attention,
  type AttentionKind,
  type CheckedKind,
  MAX_ATTENTION,
  SEVERITIES,
  type Severity,
} from '../../contracts/admin/attention.routes.js';
import type { Connection } from '../../contracts/admin/connections.routes.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { OWN_ATTENTION_KINDS, type OwnAttention } from '../../contracts/partner/partner.api.js';
import { Database } from '../../core/database/database.js';
import { isDatabaseUnavailable } from '../../core/database/postgres-errors.js';
import { outageSentence } from '../../core/database/reason.js';
import { listedHaulers, withoutLimit } from '../../core/database/hauler-limit.js';
import { AppError, withTimeout } from '../../core/errors/app-error.js';
import { ExchangeLog } from '../../exchanges/exchange-log.service.js';
import { ReadinessService } from '../health/readiness.service.js';
import { STORAGE, type Storage } from '../../core/storage/storage.js';
import { WorkService } from '../../core/work/work.service.js';
import { type Begins, beginsOf, type Notice, ownItems, ranked, sinceBegin, toItem } from './attention.rules.js';
import { CHECKS, problemOf } from './problems.rules.js';
import { type Check, CHECK_TIMEOUT_MS, commonChecks, HiddenBySettingError } from './checks.js';
import { Gauge } from 'prom-client';
import { Metrics } from '../../core/observability/metrics.js';

/** One look serves all partners, and `/metrics`, for this time: none makes the service look again and again (decision 73). */
const SHARED_MS = 10_000;
/** `/metrics` waits for a look no longer, and shows the one before. */
const COUNT_TIMEOUT_MS = 3_000;
const MAX_COUNTED_AGE_MS = 60_000;

const TOO_LONG = 'The check took too long: it waits for something that is locked or slow.';

/** What was found, and which checks were made. */
interface Looked {
  readonly notices: readonly Notice[];
  readonly checked: readonly CheckedKind[];
}

interface Count {
  readonly kind: AttentionKind;
  readonly severity: Severity;
  readonly items: number;
}

/** What needs attention, over everything: the one list of checks (decision 69). The platform side adds its own. */
@Injectable()
export class AttentionService {
  private readonly logger = new Logger('Attention');
  private readonly checks: Check[];
  private running: Promise<Looked> | undefined;
  private recent: { readonly at: number; readonly looked: Promise<Looked> } | undefined;
  private counted: { readonly at: number; readonly looked: Looked } | undefined;
  private begins: Begins = new Map();
  /** A check that takes longer than its time is not started again before it has ended. */
  private readonly pending = new Map<Check, Promise<readonly Notice[]>>();

  constructor(
    private readonly database: Database,
    readiness: ReadinessService,
    log: ExchangeLog,
    work: WorkService,
    @Inject(STORAGE) storage: Storage,
  ) {
    this.checks = [...commonChecks({ database, readiness, log, work, storage })];
  }

  add(checks: readonly Check[]): void {
    this.checks.push(...checks);
  }

  /** Callers at the same time share one look. A caller that is limited to haulers sees what concerns these. */
  async look(): Promise<Attention> {
    const own = listedHaulers();
    const { notices: all, checked } = await this.shared();
    const notices = own === undefined ? all : all.filter(({ haulerId }) => own.includes(haulerId ?? ''));
    const listed = notices.slice(0, MAX_ATTENTION);
    const ids = listed.flatMap(({ haulerId }) => haulerId ?? []);
    const names = ids.length === 0 ? new Map<string, string>() : await haulerNames(this.database, ids);
    return {
      data: listed.map((notice) => toItem(notice, names)),
      total: notices.length,
      problems: new Set(notices.map(problemOf)).size,
      checked: [...checked],
    };
  }

  /** Of one connection, for its partner. */
  async ofConnection({ id, interface: name }: Pick<Connection, 'id' | 'interface'>): Promise<OwnAttention> {
    const { notices, checked } = await this.lookShared();
    const kinds = OWN_ATTENTION_KINDS[name];
    const items = ownItems(notices, id, kinds);
    return {
      data: items.slice(0, MAX_ATTENTION),
      total: items.length,
      problems: new Set(items.map(({ problem }) => problem)).size,
      checked: checked.flatMap(({ bySetting: _, ...each }) => {
        const kind = kinds.find((own) => own === each.kind);
        return kind === undefined ? [] : { ...each, kind };
      }),
    };
  }

  /** Makes only the checks of these kinds. */
  lookAtKinds(kinds: readonly AttentionKind[]): Promise<Looked> {
    return withoutLimit(() =>
      this.lookAtAll(this.checks.filter((check) => check.kinds.some((kind) => kinds.includes(kind)))),
    );
  }

  /** How many items each check that could be made has found, by severity; undefined if no look ended in the last minute. */
  async count(): Promise<readonly Count[] | undefined> {
    await Promise.race([this.lookShared(), delay(COUNT_TIMEOUT_MS, undefined, { ref: false })]);
    if (this.counted === undefined || Date.now() - this.counted.at > MAX_COUNTED_AGE_MS) return undefined;
    const { notices, checked } = this.counted.looked;
    return checked
      .filter(({ ok }) => ok)
      .flatMap(({ kind }) =>
        SEVERITIES.map((severity) => {
          const items = notices.filter((notice) => notice.kind === kind && notice.severity === severity).length;
          return { kind, severity, items };
        }),
      );
  }

  private lookShared(): Promise<Looked> {
    const now = Date.now();
    if (this.recent === undefined || now - this.recent.at >= SHARED_MS)
      this.recent = { at: now, looked: this.shared() };
    return this.recent.looked;
  }

  private shared(): Promise<Looked> {
    this.running ??= this.lookAndKeep().finally(() => (this.running = undefined));
    return this.running;
  }

  private async lookAndKeep(): Promise<Looked> {
    const looked = await withoutLimit(() => this.lookAtAll(this.checks));
    this.counted = { at: Date.now(), looked };
    return looked;
  }

  private async lookAtAll(checks: readonly Check[]): Promise<Looked> {
    const each = await Promise.all(checks.map((check) => this.lookAt(check)));
    const [notices, checked] = [each.flatMap((one) => one.notices), each.flatMap((one) => one.checked)];
    const known = new Set(checked.filter(({ ok }) => ok).map(({ kind }) => kind));
    this.begins = beginsOf(this.begins, notices, known);
    return { notices: ranked(notices.map((notice) => sinceBegin(this.begins, notice))), checked };
  }

  private async lookAt(check: Check): Promise<Looked> {
    const { kinds } = check;
    const now = Date.now();
    const at = formatInstant(new Date(now));
    try {
      const found = this.pending.get(check) ?? check.find(now).finally(() => this.pending.delete(check));
      this.pending.set(check, found);
      const notices = await withTimeout(found, check.timeoutMs ?? CHECK_TIMEOUT_MS, TOO_LONG);
      return { notices, checked: kinds.map((kind) => ({ kind, title: CHECKS[kind].title, at, ok: true })) };
    } catch (error) {
      const bySetting = error instanceof HiddenBySettingError;
      const isExplained = bySetting || error instanceof AppError;
      const isOutage = isDatabaseUnavailable(error);
      if (!isExplained && !isOutage) this.logger.warn(`could not check ${kinds.join(', ')}`, error);
      const cause = isOutage ? outageSentence(error) : 'the log of the service has the reason';
      const reason = isExplained ? error.message : `The check failed: ${cause}.`;
      const result = { at, ok: false, reason, ...(bySetting ? { bySetting } : {}) };
      return { notices: [], checked: kinds.map((kind) => ({ kind, title: CHECKS[kind].title, ...result })) };
    }
  }
}

/** Counts what needs attention, for one alert over all of it. */
@Injectable()
export class AttentionMetrics {
  constructor(attention: AttentionService, { registry }: Metrics) {
    const gauge = new Gauge({
      name: 'attention_items',
      help: 'What needs attention (GET /admin/v1/attention), by kind and severity; absent for a kind that could not be checked',
      labelNames: ['kind', 'severity'],
      registers: [registry],
      collect: async () => {
        const counts = await attention.count().catch(() => undefined);
        gauge.reset();
        for (const { kind, severity, items } of counts ?? []) gauge.set({ kind, severity }, items);
      },
    });
  }
}
