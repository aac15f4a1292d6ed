import { Inject, Injectable, Logger } from '@nestjs/common';
import { endingKeys } from '../../auth/api-key.repository.js';
import { haulerNames } from '../../auth/haulers.repository.js';
import {
  type Attention,
  type AttentionKind,
  type CheckedKind,
  MAX_ATTENTION,
} from '../../contracts/admin/attention.dto.js';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { OWN_ATTENTION_KINDS, type OwnAttention } from '../../contracts/partner/own-attention.dto.js';
import { Database } from '../../database/database.js';
import { listedHaulers, withoutLimit } from '../../database/hauler-limit.js';
import { AppError, withTimeout } from '../../errors/app-error.js';
import { ExchangeLog } from '../../exchanges/exchange-log.service.js';
import { ReadinessService } from '../../health/readiness.service.js';
import { KEEPS_VERSIONS, STORAGE, type Storage, type StorageHealth } from '../../storage/storage.js';
import { consolePage, counted, keyNotice, type Notice, ownItems, ranked, toItem } from './attention.rules.js';

const DAY_MS = 86_400_000;
const STORAGE_TIMEOUT_MS = 5_000;
/** A check that waits for a lock takes no other with it. */
const CHECK_TIMEOUT_MS = 3_000;

/** Looks at everything for a kind, or for several from one reading. */
export interface AttentionCheck {
  readonly kinds: readonly AttentionKind[];
  /** 3 s by default. */
  readonly timeoutMs?: number;
  /** Rejects if the check cannot be made. */
  readonly find: (now: number) => Promise<readonly Notice[]>;
}

/** One look serves all partners for this time: none makes the service look again and again (decision 73). */
const PARTNER_LOOK_MS = 10_000;

const TOO_LONG = 'The check took too long: it waits for something that is locked or slow.';

interface Looked {
  readonly all: readonly Notice[];
  readonly checked: CheckedKind[];
}

/** The reason why a check cannot be made, as a sentence for an admin. */
export class CannotCheckError extends Error {}

/** What needs attention, over everything. The platform side adds its checks. */
@Injectable()
export class AttentionService {
  private readonly logger = new Logger('Attention');
  private readonly checks: AttentionCheck[];
  private running: Promise<Looked> | undefined;
  private forPartners: { readonly at: number; readonly looked: Promise<Looked> } | undefined;
  /** A check that takes longer than its time is not started again before it has ended. */
  private readonly pending = new Map<AttentionCheck, Promise<readonly Notice[]>>();

  constructor(
    private readonly database: Database,
    private readonly readiness: ReadinessService,
    private readonly log: ExchangeLog,
    @Inject(STORAGE) private readonly storage: Storage,
  ) {
    this.checks = [
      { kinds: ['database-trouble'], find: (now) => this.databaseTrouble(now) },
      {
        kinds: ['storage-trouble', 'kept-versions'],
        timeoutMs: STORAGE_TIMEOUT_MS + CHECK_TIMEOUT_MS,
        find: (now) => this.storageTrouble(now),
      },
      {
        kinds: ['expiring-keys'],
        find: async (now) => (await endingKeys(database)).map((key) => keyNotice(key, now)),
      },
      {
        kinds: ['lost-exchanges'],
        find: (now) => Promise.resolve(this.lostExchanges(now)),
      },
    ];
  }

  add(checks: readonly AttentionCheck[]): void {
    this.checks.push(...checks);
  }

  /** Callers at the same time share one look. A caller that is limited to haulers sees what concerns these. */
  async look(): Promise<Attention> {
    const own = listedHaulers();
    const { all, checked } = await this.shared();
    const notices = own === undefined ? all : all.filter(({ haulerId }) => own.includes(haulerId ?? ''));
    const listed = notices.slice(0, MAX_ATTENTION);
    const ids = listed.flatMap(({ haulerId }) => haulerId ?? []);
    const names = ids.length === 0 ? new Map<string, string>() : await haulerNames(this.database, ids);
    return {
      data: listed.map((notice) => toItem(notice, names)),
      total: notices.length,
      checked,
    };
  }

  /** Of one connection, for its partner. */
  async ofConnection({ id, interface: name }: Pick<Connection, 'id' | 'interface'>): Promise<OwnAttention> {
    const now = Date.now();
    if (this.forPartners === undefined || now - this.forPartners.at >= PARTNER_LOOK_MS) {
      this.forPartners = { at: now, looked: this.shared() };
    }
    const { all, checked } = await this.forPartners.looked;
    const kinds = OWN_ATTENTION_KINDS[name];
    const items = ownItems(all, id, kinds);
    return {
      data: items.slice(0, MAX_ATTENTION),
      total: items.length,
      checked: checked.flatMap((each) => {
        const kind = kinds.find((own) => own === each.kind);
        return kind === undefined ? [] : { ...each, kind };
      }),
    };
  }

  private shared(): Promise<Looked> {
    this.running ??= withoutLimit(() => this.lookAtAll()).finally(() => (this.running = undefined));
    return this.running;
  }

  private async lookAtAll(): Promise<Looked> {
    const looked = await Promise.all(this.checks.map((check) => this.lookAt(check)));
    return {
      all: ranked(looked.flatMap((each) => each.notices)),
      checked: looked.flatMap(({ checked }) => checked),
    };
  }

  private async lookAt(check: AttentionCheck): Promise<{
    notices: readonly Notice[];
    checked: CheckedKind[];
  }> {
    const { kinds } = check;
    const now = Date.now();
    const at = formatInstant(new Date(now));
    try {
      const found = this.pending.get(check) ?? check.find(now).finally(() => this.pending.delete(check));
      this.pending.set(check, found);
      const notices = await withTimeout(found, check.timeoutMs ?? CHECK_TIMEOUT_MS, TOO_LONG);
      return {
        notices,
        checked: kinds.map((kind) => ({ kind, at, ok: true })),
      };
    } catch (error) {
      const isExplained = error instanceof CannotCheckError || error instanceof AppError;
      if (!isExplained) this.logger.warn(`could not check ${kinds.join(', ')}`, error);
      const reason = isExplained ? error.message : 'The check failed. The log of the service has the reason.';
      return {
        notices: [],
        checked: kinds.map((kind) => ({ kind, at, ok: false, reason })),
      };
    }
  }

  private async databaseTrouble(now: number): Promise<Notice[]> {
    try {
      await this.readiness.assertReady();
      return [];
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return [trouble('database-trouble', 'database', now, `This instance cannot serve requests: ${error.message}.`)];
    }
  }

  private async storageTrouble(now: number): Promise<Notice[]> {
    const health: StorageHealth = await withTimeout(
      this.storage.check(),
      STORAGE_TIMEOUT_MS,
      'the storage does not answer',
    ).catch((error: unknown) => ({
      writable: false,
      ...(error instanceof Error ? { reason: `${error.message}.` } : {}),
    }));
    if (health.keepsVersions === true) return [keptVersions(now)];
    if (health.writable) return [];
    const reason = health.reason ?? 'It does not say why.';
    return [trouble('storage-trouble', 'video storage', now, `The video storage takes no files. ${reason}`)];
  }

  /** Of this instance: what is lost is in no table. */
  private lostExchanges(now: number): Notice[] {
    if (!this.log.isOn) throw new CannotCheckError('The exchange log is off (EXCHANGE_LOG).');
    const { losses } = this.log;
    if (losses === undefined || now - losses.lastAt.getTime() > DAY_MS) return [];
    const { count, reasons, since } = losses;
    const sentence = `${counted(count, 'exchange')} could not be stored by this instance: ${reasons.join(', ')}.`;
    const common = {
      kind: 'lost-exchanges',
      severity: 'watch',
      subject: 'exchange log',
    } as const;
    return [{ ...common, count, since, sentence, page: consolePage('exchanges', {}) }];
  }
}

/** What retention and erasures have deleted is still in the bucket. */
const keptVersions = (now: number): Notice => ({
  ...trouble('kept-versions', 'video storage', now, KEEPS_VERSIONS),
  severity: 'watch',
  page: consolePage('retention', {}),
});

function trouble(kind: AttentionKind, subject: string, now: number, sentence: string): Notice {
  return {
    kind,
    severity: 'now',
    count: 1,
    subject,
    since: new Date(now),
    sentence,
    page: consolePage('', {}),
  };
}
