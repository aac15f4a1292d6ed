import { endingKeys } from '../../auth/api-key.repository.js';
import type { AttentionKind } from '../../contracts/admin/attention.routes.js';
import type { Database } from '../../core/database/database.js';
import { partitionsAhead } from '../../core/database/partitions.repository.js';
import { PARTITIONED } from '../../core/database/partitions.rules.js';
import { AppError, withTimeout } from '../../core/errors/app-error.js';
import type { ExchangeLog } from '../../exchanges/exchange-log.service.js';
import type { ReadinessService } from '../health/readiness.service.js';
import type { Storage, StorageHealth } from '../../core/storage/storage.js';
import type { WorkService } from '../../core/work/work.service.js';
import { keyNotice, type Notice } from './attention.rules.js';
import {
  clockNotices,
  databaseNotice,
  lateNotices,
  lostExchangesNotice,
  partitionNotice,
  replicationNotices,
  slotNotice,
  storageNotices,
} from './footage-attention.rules.js';
import { databaseClock, standbys, synchronousNames, unreadSlots } from './replication.repository.js';

const DAY_MS = 86_400_000;
const STORAGE_TIMEOUT_MS = 5_000;
/** A check that waits for a lock takes no other with it. */
export const CHECK_TIMEOUT_MS = 3_000;

/** Looks at everything for a kind, or for several from one reading. */
export interface Check {
  readonly kinds: readonly AttentionKind[];
  /** `CHECK_TIMEOUT_MS` by default. */
  readonly timeoutMs?: number;
  /** Rejects if the check cannot be made. */
  readonly find: (now: number) => Promise<readonly Notice[]>;
}

/** A setting of the service or of its database hides what the check looks at. The message is a sentence for an admin. */
export class HiddenBySettingError extends Error {}

export interface CommonSources {
  readonly database: Database;
  readonly readiness: ReadinessService;
  readonly log: ExchangeLog;
  readonly storage: Storage;
  readonly work: WorkService;
}

/** The checks that both sides make. */
export const commonChecks = ({ database, readiness, log, storage, work }: CommonSources): readonly Check[] => [
  { kinds: ['database-trouble'], find: (now) => databaseTrouble(readiness, now) },
  { kinds: ['replication'], find: (now) => replication(database, now) },
  { kinds: ['clock'], find: () => clock(database) },
  { kinds: ['missing-partitions'], find: (now) => missingPartitions(database, now) },
  {
    kinds: ['storage-trouble', 'kept-versions'],
    timeoutMs: STORAGE_TIMEOUT_MS + CHECK_TIMEOUT_MS,
    find: async (now) => storageNotices(await healthOf(storage), now),
  },
  {
    kinds: ['late-work'],
    find: async (now) => [...(await work.oldestDue())].flatMap(([kind, age]) => lateNotices(kind, age, now)),
  },
  { kinds: ['expiring-keys'], find: async (now) => (await endingKeys(database)).map((key) => keyNotice(key, now)) },
  { kinds: ['lost-exchanges'], find: (now) => Promise.resolve(lostExchanges(log, now)) },
];

async function databaseTrouble(readiness: ReadinessService, now: number): Promise<Notice[]> {
  try {
    await readiness.assertReady();
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [databaseNotice(error.message, now)];
  }
}

async function replication(database: Database, now: number): Promise<Notice[]> {
  const [found, slots, synchronous] = await Promise.all([
    standbys(database),
    unreadSlots(database),
    synchronousNames(database),
  ]);
  if (found.some(({ state }) => state === null)) {
    throw new HiddenBySettingError(
      'PostgreSQL hides the state of the standbys: GRANT pg_monitor TO the role of DATABASE_URL.',
    );
  }
  return [...replicationNotices(found, synchronous, now), ...slots.map((slot) => slotNotice(slot, now))];
}

async function clock(database: Database): Promise<Notice[]> {
  const before = Date.now();
  const time = await databaseClock(database);
  return clockNotices(before, time, Date.now());
}

async function missingPartitions(database: Database, now: number): Promise<Notice[]> {
  const tables = Object.values(PARTITIONED);
  const ahead = await Promise.all(tables.map((table) => partitionsAhead(database, table, now)));
  return tables.filter((_, i) => ahead[i] === 0).map((table) => partitionNotice(table, now));
}

const healthOf = (storage: Storage): Promise<StorageHealth> =>
  withTimeout(storage.check(), STORAGE_TIMEOUT_MS, 'The storage does not answer').catch((error: unknown) => {
    if (!(error instanceof AppError)) throw error;
    return { writable: false, reason: `${error.message}.` };
  });

function lostExchanges(log: ExchangeLog, now: number): Notice[] {
  if (!log.isOn) throw new HiddenBySettingError('The exchange log is off (EXCHANGE_LOG).');
  const { losses } = log;
  return losses === undefined || now - losses.lastAt.getTime() > DAY_MS ? [] : [lostExchangesNotice(losses)];
}
