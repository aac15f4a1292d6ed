import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import type { Violation } from '../../contracts/common/violation.js';
import { Database } from '../../core/database/database.js';
import type { Sql } from '../../core/database/sql.js';
import { WorkService } from '../../core/work/work.service.js';
import type { ConnectionChange, ConnectionWork } from '../../partner-client/connections.service.js';
import type { PartnerConnection } from '../../partner-client/connections.repository.js';

/** The kinds of work, as logs and metrics name them. */
export const SUBMIT_CLIPS = 'vision submit';
export const POLL_CLIPS = 'vision poll';
export const READ_SUBSCRIPTIONS = 'vision crawl';
export const READ_WINDOWS = 'vision windows';
export const DOWNLOAD = 'vision downloads';

/** A connection to a partner's Vision API. */
export interface VisionConnection extends PartnerConnection {
  readonly customerId: string;
  /** The default interval of its subscriptions. */
  readonly intervalSeconds: number;
  readonly enabled: boolean;
}

/** Finds the connections to partners' Vision APIs, and makes their waiting work due when an admin changes one. */
@Injectable()
export class VisionConnections implements ConnectionWork {
  constructor(
    private readonly database: Database,
    private readonly work: WorkService,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'VISION_FIRST_BYTE_TIMEOUT'>,
  ) {}

  /** Undefined for an unknown or deleted connection, and for one of another interface. */
  async find(id: string): Promise<VisionConnection | undefined> {
    return this.database.first<VisionConnection>(
      `SELECT hauler_id AS "haulerId", id, base_url AS "baseUrl", customer_id AS "customerId",
         interval_seconds AS "intervalSeconds", enabled
       FROM connections WHERE id = $1 AND interface = 'vision' AND deleted_at IS NULL`,
      [id],
    );
  }

  /** Milliseconds that the hosts of its files have for the first byte, also of a deleted connection. */
  async firstByteMs(haulerId: string, id: string): Promise<number> {
    const row = await this.database.first<{ seconds: number | null }>(
      'SELECT first_byte_timeout_seconds AS seconds FROM connections WHERE hauler_id = $1 AND id = $2',
      [haulerId, id],
    );
    return row?.seconds == null ? this.env.VISION_FIRST_BYTE_TIMEOUT : row.seconds * 1_000;
  }

  /** Includes deleted connections, because their recordings stay. */
  async exists(id: string): Promise<boolean> {
    return (await haulerOf(this.database, id)) !== undefined;
  }

  /**
   * Includes windows that were given up, whose `due_at` is null. After a change of credentials, address or customer, a running
   * reading loses its row, because it uses the old ones. A running POST keeps its row, because its response must not be
   * lost. Locks are taken in the order of a poll round: the poll, then parts.
   */
  async makeDue(transaction: Sql, { haulerId, id, credentialsChanged }: ConnectionChange): Promise<void> {
    const key = [haulerId, id] as const;
    const mayStart = credentialsChanged ? 'true' : 'started_at IS NULL';
    await makeDueNow(transaction, 'video_polls', `due_at IS NOT NULL AND ${mayStart}`, key);
    await makeDueNow(transaction, 'video_windows', mayStart, key);
    await makeDueNow(transaction, 'video_subscriptions', `due_at IS NOT NULL AND ${mayStart}`, key);
    const isUnsent = "due_at IS NOT NULL AND status = 'submitting' AND started_at IS NULL";
    await makeDueNow(transaction, 'video_request_parts', isUnsent, key);
  }

  runDue(): void {
    for (const kind of [SUBMIT_CLIPS, POLL_CLIPS, READ_SUBSCRIPTIONS, READ_WINDOWS]) this.work.runDue(kind);
  }
}

/** The hauler of a vision connection, also of a deleted one, because its recordings stay. */
export async function haulerOf(database: Sql, connectionId: string): Promise<string | undefined> {
  const row = await database.first<{ hauler_id: string }>(
    "SELECT hauler_id FROM connections WHERE id = $1 AND interface = 'vision'",
    [connectionId],
  );
  return row?.hauler_id;
}

/** Of one statement: a connection may have more failed lists than a statement can change within its time limit. */
const BATCH_ROWS = 10_000;

/** $1 the hauler, $2 the connection. Rows that are done have the time of the transaction. */
async function makeDueNow(
  transaction: Sql,
  table: string,
  condition: string,
  key: readonly [haulerId: string, connectionId: string],
): Promise<void> {
  let changed = 1;
  while (changed > 0) {
    changed = await transaction.change(
      `UPDATE ${table} SET due_at = now(), attempts = 0, last_error = NULL, started_at = NULL
       WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table}
         WHERE hauler_id = $1 AND connection_id = $2 AND due_at IS DISTINCT FROM now() AND ${condition}
         LIMIT ${BATCH_ROWS} FOR UPDATE))`,
      [...key],
    );
  }
}

export const unknownConnection = (): Violation => ({
  path: 'connectionId',
  rule: 'isKnown',
  message: 'connectionId must be the id of a vision connection',
});
