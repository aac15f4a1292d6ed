import type { EntityManager } from 'typeorm';
import { type Columns, rowArrays, rowsSql } from '../../database/sql.js';
import { type Kind, KINDS, type SubmittedRecord } from './submitted-records.js';

const STAGED = {
  kind: ['integer', ({ kind }) => KINDS.indexOf(kind)],
  position: ['integer', ({ position }) => position],
  id: ['uuid', ({ id }) => id ?? null],
  site_id: ['uuid', ({ siteId }) => siteId ?? null],
  kiosk_id: ['uuid', ({ kioskId }) => kioskId ?? null],
  content: ['text', ({ content }) => content ?? null],
  text: ['json', ({ text }) => text ?? null],
} as const satisfies Columns<SubmittedRecord>;

/** Elements of a response that are read at once. */
const FETCHED_ROWS = 2_000;

/** The client sends the body while the transaction is open. */
const IDLE_TIMEOUT_MS = 60_000;

/**
 * The records of one body, in a temporary table of the transaction. PostgreSQL has no statistics of it: it expects one row,
 * and would loop over all records for each of them.
 */
export class StagedRecords {
  private constructor(private readonly manager: EntityManager) {}

  static async create(manager: EntityManager): Promise<StagedRecords> {
    await manager.query(
      `SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}; SET LOCAL enable_nestloop = off;
       SET LOCAL jit = off; SET LOCAL work_mem = '32MB'`,
    );
    await manager.query(
      `CREATE TEMP TABLE staged_records (kind integer, position integer, id uuid, site_id uuid, kiosk_id uuid,
         content text, text text)
       ON COMMIT DROP`,
    );
    return new StagedRecords(manager);
  }

  async add(records: readonly SubmittedRecord[]): Promise<void> {
    if (records.length === 0) return;
    await this.manager.query(`INSERT INTO staged_records ${rowsSql(STAGED, 1)}`, rowArrays(STAGED, records));
  }

  /**
   * Records with the id of an earlier one, at most `limit`, and the position of the first one. A material may be listed again
   * under another site or kiosk (decision 33).
   */
  async repeated(limit: number): Promise<{ kind: Kind; position: number; first: number }[]> {
    const rows = await this.manager.query<{ kind: number; position: number; first: number }[]>(
      `SELECT kind, position, first FROM (
         SELECT kind, position, first, content IS DISTINCT FROM first_value(content) OVER (PARTITION BY kind, id ORDER BY position)
             OR row_number() OVER (PARTITION BY kind, id, site_id, kiosk_id ORDER BY position) > 1 AS repeats
         FROM staged_records
         JOIN (SELECT kind, id, min(position) AS first FROM staged_records WHERE id IS NOT NULL
               GROUP BY kind, id HAVING count(*) > 1) AS repeated USING (kind, id)) AS listed
       WHERE position > first AND (repeats OR kind <> $2) ORDER BY kind, position LIMIT $1`,
      [limit, KINDS.indexOf('materials')],
    );
    return rows.map((row) => ({ ...row, kind: kindOf(row.kind) }));
  }

  /** Links of records to parents that the body does not have, at most `limit`. */
  async unknownParents(limit: number): Promise<{ kind: Kind; position: number; parent: 'sites' | 'kiosks' }[]> {
    const missing = (parent: 'sites' | 'kiosks', column: string) =>
      `SELECT kind, position, '${parent}' AS parent FROM staged_records AS child
       WHERE ${column} IS NOT NULL AND NOT EXISTS (
         SELECT FROM staged_records AS p WHERE p.kind = ${KINDS.indexOf(parent)} AND p.id = child.${column})`;
    const rows = await this.manager.query<{ kind: number; position: number; parent: 'sites' | 'kiosks' }[]>(
      `${missing('sites', 'site_id')} UNION ALL ${missing('kiosks', 'kiosk_id')}
       ORDER BY kind, position, parent DESC LIMIT $1`,
      [limit],
    );
    return rows.map((row) => ({ ...row, kind: kindOf(row.kind) }));
  }

  /** The elements of the response, by kind and id. */
  async *elements(): AsyncGenerator<{ kind: Kind; text: string }[]> {
    await this.manager.query(
      `DECLARE elements NO SCROLL CURSOR FOR
       SELECT kind, text FROM staged_records WHERE text IS NOT NULL
       ORDER BY kind, id, site_id, kiosk_id`,
    );
    for (;;) {
      const rows = await this.manager.query<{ kind: number; text: string }[]>(`FETCH ${FETCHED_ROWS} FROM elements`);
      if (rows.length === 0) return;
      yield rows.map(({ kind, text }) => ({ kind: kindOf(kind), text }));
    }
  }
}

function kindOf(index: number): Kind {
  const kind = KINDS[index];
  if (kind === undefined) throw new Error(`no kind of records has the number ${index}`);
  return kind;
}
