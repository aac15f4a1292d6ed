import type { Sql } from '../database/sql.js';
import type { Sequence, TableShape } from './archive-format.js';

/** The schema of the tables: `public`, or the one that DATABASE_URL names. */
const SCHEMA = `(SELECT oid FROM pg_namespace WHERE nspname = current_schema())`;

/** Not a part of an extension. */
const isOurs = (object: string): string =>
  `NOT EXISTS (SELECT FROM pg_depend x WHERE x.objid = ${object}.oid AND x.deptype = 'e')`;

export interface DatabaseState {
  readonly version: string;
  /** The time of the transaction. */
  readonly now: string;
}

export async function databaseState(database: Sql): Promise<DatabaseState> {
  const [state] = await database.query<DatabaseState>(
    `SELECT current_setting('server_version') AS version,
            to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now`,
    [],
  );
  return state as DatabaseState;
}

/** Every table with data of ours, but the list of migrations: restoring applies them. */
export function tableShapes(database: Sql): Promise<TableShape[]> {
  return database.query<TableShape>(
    `SELECT c.relname AS name,
            (SELECT coalesce(array_agg(a.attname::text ORDER BY a.attnum), '{}') FROM pg_attribute a
              WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '') AS columns,
            (SELECT coalesce(json_agg(json_build_object('name', p.relname, 'bound', pg_get_expr(p.relpartbound, p.oid))
                               ORDER BY p.relname), '[]')
               FROM pg_inherits i JOIN pg_class p ON p.oid = i.inhrelid
              WHERE i.inhparent = c.oid AND p.relispartition) AS partitions
       FROM pg_class c
      WHERE c.relnamespace = ${SCHEMA} AND c.relkind IN ('r', 'p') AND NOT c.relispartition
        AND c.relname <> 'migrations' AND ${isOurs('c')}
      ORDER BY c.relname COLLATE "C"`,
    [],
  );
}

/** The sequences that have given out a value. */
export function usedSequences(database: Sql): Promise<Sequence[]> {
  return database.query<Sequence>(
    `SELECT c.relname AS name, pg_sequence_last_value(c.oid)::text AS "lastValue"
       FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid
      WHERE c.relnamespace = ${SCHEMA} AND pg_sequence_last_value(s.seqrelid) IS NOT NULL AND ${isOurs('c')}
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.refobjid = 'migrations'::regclass)
      ORDER BY c.relname COLLATE "C"`,
    [],
  );
}

export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

const columnList = ({ columns }: TableShape): string => columns.map(quoted).join(', ');

/** The rows of a table in the text format. A partitioned table cannot be copied out by its name. */
export const copyOutSql = (table: TableShape, where = 'true'): string =>
  `COPY (SELECT ${columnList(table)} FROM ${quoted(table.name)} WHERE ${where}) TO STDOUT`;

export const copyInSql = (table: TableShape): string => `COPY ${quoted(table.name)} (${columnList(table)}) FROM STDIN`;
