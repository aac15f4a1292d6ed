import { MIGRATION_LOCK } from '../database/migrate.js';
import type { Sql } from '../database/sql.js';
import type { Sequence, TableShape } from './archive-format.js';
import { quoted } from './snapshot.repository.js';

const SCHEMA = `(SELECT oid FROM pg_namespace WHERE nspname = current_schema())`;

/** Until the end of the transaction, a service that starts on this database waits with its migrations. */
export async function lockMigrations(database: Sql): Promise<void> {
  await database.query(`SELECT pg_advisory_xact_lock(${MIGRATION_LOCK})`, []);
}

/** Some tables, views and sequences of a database that are not its own, by name; empty for an empty database. */
export async function relationsIn(database: Sql): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT CASE WHEN n.nspname = current_schema() THEN '' ELSE n.nspname || '.' END || c.relname AS name
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
        AND NOT EXISTS (SELECT FROM pg_depend x WHERE x.objid = c.oid AND x.deptype = 'e')
      ORDER BY c.relkind <> 'r', name LIMIT 3`,
    [],
  );
  return rows.map(({ name }) => name);
}

export interface ForeignKey {
  readonly table: string;
  readonly name: string;
  readonly definition: string;
}

/**
 * Removes the foreign keys of the schema and returns them, so that tables can be filled in any order. The owner of the tables may do
 * this, while only a superuser may switch the checks off.
 */
export async function dropForeignKeys(database: Sql): Promise<ForeignKey[]> {
  const keys = await database.query<ForeignKey>(
    `SELECT t.relname AS table, k.conname AS name, pg_get_constraintdef(k.oid) AS definition
       FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid
      WHERE k.contype = 'f' AND k.conparentid = 0 AND t.relnamespace = ${SCHEMA}
      ORDER BY t.relname, k.conname`,
    [],
  );
  for (const { table, name } of keys)
    await database.query(`ALTER TABLE ${quoted(table)} DROP CONSTRAINT ${quoted(name)}`, []);
  return keys;
}

/** Checks all rows. */
export async function addForeignKey(database: Sql, { table, name, definition }: ForeignKey): Promise<void> {
  await database.query(`ALTER TABLE ${quoted(table)} ADD CONSTRAINT ${quoted(name)} ${definition}`, []);
}

export interface SecondaryIndex {
  readonly name: string;
  readonly definition: string;
}

/** Removes the indexes that are no constraints, and returns them: filling a table and then sorting is faster than sorting each row in. */
export async function dropIndexes(database: Sql): Promise<SecondaryIndex[]> {
  const indexes = await database.query<SecondaryIndex>(
    `SELECT c.relname AS name, pg_get_indexdef(x.indexrelid) AS definition
       FROM pg_index x JOIN pg_class c ON c.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
      WHERE c.relnamespace = ${SCHEMA} AND t.relkind = 'r' AND NOT c.relispartition AND t.relname <> 'migrations'
        AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.indexrelid)
      ORDER BY c.relname`,
    [],
  );
  if (indexes.length > 0) await database.query(`DROP INDEX ${indexes.map(({ name }) => quoted(name)).join(', ')}`, []);
  return indexes;
}

export async function createIndex(database: Sql, { definition }: SecondaryIndex): Promise<void> {
  await database.query(definition, []);
}

/** The tables whose own triggers fire for each copied row. */
export async function tablesWithTriggers(database: Sql): Promise<string[]> {
  const rows = await database.query<{ name: string }>(
    `SELECT DISTINCT t.relname AS name FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid
      WHERE t.relnamespace = ${SCHEMA} AND NOT g.tgisinternal AND g.tgparentid = 0`,
    [],
  );
  return rows.map(({ name }) => name);
}

export async function switchTriggers(database: Sql, table: string, state: 'ENABLE' | 'DISABLE'): Promise<void> {
  await database.query(`ALTER TABLE ${quoted(table)} ${state} TRIGGER USER`, []);
}

/** Migrations may have written rows. */
export async function emptyTables(database: Sql, tables: readonly TableShape[]): Promise<void> {
  await database.query(`TRUNCATE ${tables.map(({ name }) => quoted(name)).join(', ')}`, []);
}

export async function createPartition(
  database: Sql,
  parent: string,
  { name, bound }: TableShape['partitions'][number],
): Promise<void> {
  await database.query(`CREATE TABLE ${quoted(name)} PARTITION OF ${quoted(parent)} ${bound}`, []);
}

export async function setSequence(database: Sql, { name, lastValue }: Sequence): Promise<void> {
  await database.query('SELECT setval($1::regclass, $2::bigint)', [quoted(name), lastValue]);
}

export async function analyze(database: Sql, tables: readonly TableShape[]): Promise<void> {
  await database.query(`ANALYZE ${tables.map(({ name }) => quoted(name)).join(', ')}`, []);
}

/** A schema that the rest of the transaction works in. */
export async function enterSchema(database: Sql, name: string): Promise<void> {
  await database.query(`CREATE SCHEMA ${quoted(name)}`, []);
  await database.query(`SET LOCAL search_path = ${quoted(name)}`, []);
}
