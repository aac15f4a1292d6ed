import type { Sql } from '../database/sql.js';
import type { TableShape } from './archive-format.js';
import { TABLE_FATES } from './hauler-tables.js';
import { copyOutSql, quoted } from './snapshot.repository.js';

export type MoveState = 'locked' | 'moved' | 'imported';

export interface HaulerState {
  readonly id: string;
  readonly name: string;
  readonly state: MoveState | null;
  readonly since: string | null;
  readonly exportedAt: string | null;
  readonly cell: string | null;
}

/** A table of the list, and its rows of one hauler. */
export interface HaulerTable {
  readonly table: string;
  readonly by: string;
  readonly isText?: true;
  readonly sealed?: readonly string[];
}

/** Parents first. */
export const HAULER_TABLES: readonly HaulerTable[] = TABLE_FATES.flatMap((fate) => ('by' in fate ? [fate] : []));

/** What remains after a release, so that a key of the hauler is recognised. */
const TOMBSTONES = new Set(['haulers', 'connections', 'api_keys']);

const utc = (column: string): string => `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

export async function findHaulerState(database: Sql, id: string): Promise<HaulerState | undefined> {
  const [row] = await database.query<HaulerState>(
    `SELECT h.id, h.name, m.state, ${utc('m.since')} AS since, ${utc('m.exported_at')} AS "exportedAt", m.cell
       FROM haulers h LEFT JOIN hauler_moves m ON m.hauler_id = h.id WHERE h.id = $1`,
    [id],
  );
  return row;
}

export async function storeMove(database: Sql, id: string, state: MoveState, cell?: string): Promise<void> {
  await database.query(
    `INSERT INTO hauler_moves (hauler_id, state, cell) VALUES ($1, $2, $3)
     ON CONFLICT (hauler_id) DO UPDATE SET state = excluded.state, since = now(), exported_at = NULL, cell = excluded.cell`,
    [id, state, cell ?? null],
  );
}

export async function storeExported(database: Sql, id: string): Promise<void> {
  await database.query('UPDATE hauler_moves SET exported_at = now() WHERE hauler_id = $1', [id]);
}

export async function deleteMove(database: Sql, id: string): Promise<void> {
  await database.query('DELETE FROM hauler_moves WHERE hauler_id = $1', [id]);
}

/** Until the end of the transaction no other command works on the hauler. Returns false if one does. */
export async function tryLockCommands(database: Sql, id: string): Promise<boolean> {
  const [row] = await database.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_xact_lock(hashtextextended('haulbridge hauler ' || $1::text, 0)) AS locked`,
    [id],
  );
  return row?.locked === true;
}

/** Takes the rows away from the instances that work on them: their runs can write nothing more, and end within seconds. */
export async function stopWork(database: Sql, id: string): Promise<void> {
  const tables = await database.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
      WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND (SELECT count(*) FROM pg_attribute a
              WHERE a.attrelid = c.oid AND a.attname IN ('hauler_id', 'started_at', 'due_at') AND NOT a.attisdropped) = 3`,
    [],
  );
  for (const { name } of tables)
    await database.query(
      `UPDATE ${quoted(name)} SET started_at = NULL WHERE hauler_id = $1 AND started_at IS NOT NULL AND due_at IS NOT NULL`,
      [id],
    );
}

/** The number that the next transaction gets. */
export async function nextTransaction(database: Sql): Promise<string> {
  const [row] = await database.query<{ id: string }>('SELECT pg_snapshot_xmax(pg_current_snapshot())::text AS id', []);
  return row?.id ?? '';
}

/** Whether every transaction before that one has ended. */
export async function areEnded(database: Sql, before: string): Promise<boolean> {
  const [row] = await database.query<{ ended: boolean }>(
    'SELECT pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8 AS ended',
    [before],
  );
  return row?.ended === true;
}

/** A condition for the rows of one hauler. COPY takes no parameters; the id is a UUID that was checked. */
export const ofHauler = ({ by }: HaulerTable, id: string): string => `${quoted(by)} = '${id}'`;

export const copyOutOfHauler = (shape: TableShape, table: HaulerTable, id: string): string =>
  copyOutSql(shape, ofHauler(table, id));

export async function countRows(database: Sql, table: HaulerTable, id: string): Promise<number> {
  const [row] = await database.query<{ rows: string }>(
    `SELECT count(*) AS rows FROM ${quoted(table.table)} WHERE ${quoted(table.by)} = $1`,
    [id],
  );
  return Number(row?.rows ?? 0);
}

/** A table that has rows of the hauler. */
export async function tableWithRows(database: Sql, id: string): Promise<string | undefined> {
  for (const { table, by } of HAULER_TABLES) {
    const rows = await database.query(`SELECT FROM ${quoted(table)} WHERE ${quoted(by)} = $1 LIMIT 1`, [id]);
    if (rows.length > 0) return table;
  }
  return undefined;
}

/** Children first. `keeps`: what recognises the keys of the hauler remains. */
export async function deleteRows(database: Sql, id: string, { keeps }: { keeps: boolean }): Promise<void> {
  for (const { table, by } of HAULER_TABLES.toReversed()) {
    if (keeps && TOMBSTONES.has(table)) continue;
    if (table === 'api_keys') await deleteSessions(database, id);
    await database.query(`DELETE FROM ${quoted(table)} WHERE ${quoted(by)} = $1`, [id]);
  }
  if (!keeps) return;
  await deleteSessions(database, id);
  await database.query(
    `UPDATE connections SET deleted_at = coalesce(deleted_at, now()), enabled = false, sealed_key = '', sealed_next_key = NULL,
            due_at = NULL, run_requested_at = NULL WHERE hauler_id = $1`,
    [id],
  );
}

async function deleteSessions(database: Sql, id: string): Promise<void> {
  await database.query('DELETE FROM console_sessions WHERE key_id IN (SELECT id FROM api_keys WHERE hauler_id = $1)', [
    id,
  ]);
}

/** The prefixes of the keys that may be used. */
export async function keyPrefixes(database: Sql, id: string): Promise<string[]> {
  const rows = await database.query<{ prefix: string }>(
    `SELECT prefix FROM api_keys WHERE hauler_id = $1 AND revoked_at IS NULL AND coalesce(expires_at, 'infinity') > now()
      ORDER BY prefix`,
    [id],
  );
  return [...new Set(rows.map(({ prefix }) => prefix))];
}

export interface SealedRow {
  readonly id: string;
  readonly values: readonly (string | null)[];
}

export function sealedRows(database: Sql, table: HaulerTable, id: string): Promise<SealedRow[]> {
  const columns = (table.sealed ?? []).map(quoted).join(', ');
  return database.query<SealedRow>(
    `SELECT id, ARRAY[${columns}] AS values FROM ${quoted(table.table)} WHERE ${quoted(table.by)} = $1`,
    [id],
  );
}

export async function storeSealed(database: Sql, table: HaulerTable, { id, values }: SealedRow): Promise<void> {
  const set = (table.sealed ?? []).map((column, i) => `${quoted(column)} = $${i + 2}`).join(', ');
  await database.query(`UPDATE ${quoted(table.table)} SET ${set} WHERE id = $1`, [id, ...values]);
}

/** What callers of the hauler have stored since a time: an undo would lose it. */
export async function storedSince(database: Sql, id: string, since: string): Promise<number> {
  const [row] = await database.query<{ rows: string }>(
    `SELECT (SELECT count(*) FROM tickets WHERE hauler_id = $1 AND updated_at > $2::timestamptz)
          + (SELECT count(*) FROM accounts WHERE hauler_id = $1 AND created_at > $2::timestamptz) AS rows`,
    [id, since],
  );
  return Number(row?.rows ?? 0);
}
