import { hash } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import type { List } from '../../contracts/admin/list.dto.js';
import { VisionFinding, type VisionFindingQuery } from '../../contracts/admin/vision-finding.dto.js';
import { present } from '../../contracts/common/present.js';
import { storableText } from '../../contracts/common/text.js';
import { Database } from '../../core/database/database.js';
import { deleteInSteps, Sweep } from '../../core/database/sweep.js';
import { listPage, type SqlList } from '../../core/database/list-page.js';
import { redacted, redactText } from '../../core/observability/redaction.js';
import { type Finding, MAX_FINDINGS } from './read-list.rules.js';

/** In characters, without secrets and without the queries of links. */
const MAX_RAW_LENGTH = 2_000;

const RETENTION_INTERVAL_MS = 3_600_000;
/** Since a finding was last seen. */
const RETENTION = '90 days';
/** A partner whose every element is malformed adds 1,440 findings a day for one truck and camera. */
const MAX_PER_CONNECTION = 10_000;

interface Connection {
  readonly haulerId: string;
  readonly id: string;
}

/** The oldest finding that is retained. The time is text, because a Date has no microseconds. */
interface OldestRetained {
  readonly seen: string;
  readonly digest: string;
}

/** The most recently first seen findings first. A hauler's are those of its connections: the indexes have no hauler. */
const findingList = ({ haulerId, connectionId, from, to }: VisionFindingQuery): SqlList => ({
  name: 'vision-findings',
  sql: `SELECT hauler_id, hauler_id AS list_hauler, connection_id, digest, path, reason, raw, occurrences AS seen, first_seen_at,
      last_seen_at
    FROM vision_findings
    WHERE ($1::uuid IS NULL OR connection_id = ANY (ARRAY(SELECT id FROM connections WHERE hauler_id = $1)))
      AND ($2::uuid IS NULL OR connection_id = $2)
      AND ($3::timestamptz IS NULL OR first_seen_at >= $3) AND ($4::timestamptz IS NULL OR first_seen_at < $4)`,
  parameters: [haulerId ?? null, connectionId ?? null, from ?? null, to ?? null],
  hasHaulers: true,
  key: ['first_seen_at', 'connection_id', 'digest'],
  order: 'DESC',
});

/** The faults in partners' responses (decision 38): one row for each fault, however often it occurs. */
@Injectable()
export class VisionFindings implements BeforeApplicationShutdown {
  private readonly retention = new Sweep((stopping) => this.deleteAllOld(stopping));

  constructor(private readonly database: Database) {}

  beforeApplicationShutdown(): Promise<void> {
    return this.retention.stop();
  }

  async record({ haulerId, id }: Connection, findings: readonly Finding[]): Promise<void> {
    if (findings.length === 0) return;
    const rows = new Map(findings.slice(0, MAX_FINDINGS).map((finding) => [digestOf(finding), finding]));
    await this.database.query(
      `INSERT INTO vision_findings (hauler_id, connection_id, digest, path, reason, raw, first_seen_at, last_seen_at)
       SELECT $1, $2, digest, path, reason, raw, now(), now()
       FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) AS found (digest, path, reason, raw) ORDER BY digest
       ON CONFLICT (hauler_id, connection_id, digest)
       DO UPDATE SET occurrences = vision_findings.occurrences + 1, last_seen_at = now()`,
      [
        haulerId,
        id,
        [...rows.keys()],
        [...rows.values()].map(({ path }) => storable(redactText(path))),
        [...rows.values()].map(({ reason }) => storable(redactText(reason))),
        [...rows.values()].map(({ raw }) => (raw === undefined ? null : rawText(raw))),
      ],
    );
  }

  /** The most recently first seen findings first. */
  async list(query: VisionFindingQuery): Promise<List<VisionFinding>> {
    const { rows, pagination } = await listPage(this.database, findingList(query), query);
    return { data: rows.map((row) => present(VisionFinding, row)), pagination };
  }

  /** Deletes old findings, also of deleted connections. Several instances may do so at once. */
  @Interval('vision findings', RETENTION_INTERVAL_MS)
  deleteOld(): Promise<void> {
    return this.retention.run();
  }

  /**
   * `SKIP LOCKED` skips rows that another instance deletes or a response updates. The array of digests makes PostgreSQL use
   * the primary key; a join took 2.1 s instead of 20 ms for 13,000 rows without statistics.
   */
  private async deleteAllOld(stopping: AbortSignal): Promise<void> {
    const connections = await this.database.query<Connection>(
      `SELECT hauler_id AS "haulerId", id FROM connections WHERE interface = 'vision'`,
    );
    for (const connection of connections) {
      const { haulerId, id } = connection;
      const { seen, digest } = await this.oldestRetained(connection);
      await deleteInSteps(
        this.database,
        `DELETE FROM vision_findings WHERE hauler_id = $2 AND connection_id = $3 AND digest = ANY (ARRAY(
           SELECT digest FROM vision_findings
           WHERE hauler_id = $2 AND connection_id = $3 AND (last_seen_at, digest) < ($4::timestamptz, $5::text)
           LIMIT $1 FOR UPDATE SKIP LOCKED))`,
        [haulerId, id, seen, digest],
        stopping,
      );
    }
  }

  /** The digest is part of it, because all findings of one response have the same time. */
  private oldestRetained({ haulerId, id }: Connection): Promise<OldestRetained> {
    return this.database.only<OldestRetained>(
      `SELECT last_seen_at::text AS seen, digest FROM (
         (SELECT last_seen_at, digest FROM vision_findings WHERE hauler_id = $1 AND connection_id = $2
          ORDER BY last_seen_at DESC, digest DESC OFFSET ${MAX_PER_CONNECTION - 1} LIMIT 1)
         UNION ALL SELECT now() - interval '${RETENTION}', '') limits
       ORDER BY last_seen_at DESC, digest DESC LIMIT 1`,
      [haulerId, id],
    );
  }
}

/** PostgreSQL text cannot contain U+0000. */
const storable = (text: string): string => storableText(text).slice(0, MAX_RAW_LENGTH);

const rawText = (raw: unknown, without?: ReadonlySet<string>): string =>
  storable(JSON.stringify(redacted(raw), (name, value: unknown) => (without?.has(name) ? undefined : value)) ?? '');

/** Fields of an element that the partner generates for each list. */
const GENERATED_FIELDS: ReadonlySet<string> = new Set(['downloadUrl', 'expiresAt']);

/** The same for the same fault in the next reading: without the position in the list and the generated fields. */
function digestOf({ path, reason, raw }: Finding): string {
  const fault = `${path} ${reason}`.replace(/\[\d+\]/g, '[]');
  return hash('sha256', `${fault} ${raw === undefined ? '' : rawText(raw, GENERATED_FIELDS)}`);
}
