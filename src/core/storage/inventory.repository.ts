import type { Sql } from '../database/sql.js';
import type { KnownRoots } from './file-storage.js';
import { randomUUID } from 'node:crypto';
import { inBackground } from '../errors/background.js';
import { storageName } from './storage-names.js';
import type { Published } from './draft.js';

/** Records roots in the database, for all instances. */
export function knownRoots(database: Sql): KnownRoots {
  return {
    async has(root) {
      return (await database.query('SELECT 1 FROM storage_roots WHERE root = $1', [root])).length > 0;
    },
    async add(root) {
      await database.query('INSERT INTO storage_roots (root) VALUES ($1) ON CONFLICT DO NOTHING', [root]);
    },
  };
}

const RENEWAL_MS = 30_000;

/** An announcement that was not renewed for this long is of a process that has ended. */
const IS_LIVE = "renewed_at >= now() - interval '15 minutes'";

/** The files that processes of all instances are storing, and whose rows they write later. */
interface AnnouncedFiles {
  has(name: string): boolean;
}

/**
 * Does work that stores the file of this name and then writes its row. Until the end a repair of the storage, of whichever
 * instance, does not take the file for one without a row. Without a name: any file, as while clips are prepared. The announcements
 * of ended processes are removed with the next one.
 */
export async function whileAnnounced<T>(database: Sql, name: string | undefined, work: () => Promise<T>): Promise<T> {
  const id = randomUUID();
  await database.query(`DELETE FROM storing_files WHERE NOT ${IS_LIVE}`, []);
  await database.query('INSERT INTO storing_files (id, name) VALUES ($1, $2)', [id, name ?? null]);
  const renew = () => database.query('UPDATE storing_files SET renewed_at = now() WHERE id = $1', [id]);
  // A renewal that fails is followed by the next one.
  const timer = setInterval(() => inBackground(renew().catch(() => undefined)), RENEWAL_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    // It ends by itself where the database is away.
    await database.query('DELETE FROM storing_files WHERE id = $1', [id]).catch(() => undefined);
  }
}

/** Read it before the rows: what is not announced by then has its row. */
export async function announcedFiles(database: Sql): Promise<AnnouncedFiles> {
  const rows = await database.query<{ name: string | null }>(`SELECT name FROM storing_files WHERE ${IS_LIVE}`, []);
  const names = new Set(rows.map(({ name }) => name));
  return { has: (name) => names.has(null) || names.has(name) };
}

/** A file that a row refers to. */
export interface InventoryFile extends Published {
  readonly id: string;
  /** In the storage. */
  readonly name: string;
}

/** The files that the rows of one table name. `storage check` compares them with the storage. */
export interface Inventory {
  /** The storage's folder that belongs to this table alone. */
  readonly folder: string;
  readonly table: string;
  /** The next rows that have a file, by id. */
  after(id: string | undefined, limit: number): Promise<readonly InventoryFile[]>;
  /** Those of the ids whose row has a file. */
  existing(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Those whose row has a file, or waits for one that is being stored. */
  expected(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

interface InventoryTable {
  readonly table: string;
  readonly folder: string;
  /** Selects the rows that have a file. */
  readonly where: string;
  /** Selects the rows that wait for their file too. */
  readonly expectedWhere?: string;
}

interface Row {
  readonly id: string;
  readonly size: string;
  readonly sha256: string;
}

/**
 * The inventory of a table with the columns `id uuid`, `size_bytes` and `sha256`. Names and SQL are constants of the code.
 */
export function inventoryOf(runner: Sql, { table, folder, where, expectedWhere = where }: InventoryTable): Inventory {
  const idsOf = async (ids: readonly string[], condition: string) => {
    const sql = `SELECT id FROM ${table} WHERE id = ANY ($1::uuid[]) AND ${condition}`;
    return new Set((await runner.query<Pick<Row, 'id'>>(sql, [ids])).map(({ id }) => id));
  };
  return {
    folder,
    table,
    async after(id, limit) {
      const rows = await runner.query<Row>(
        `SELECT id, size_bytes AS size, sha256 FROM ${table}
         WHERE ($1::uuid IS NULL OR id > $1) AND ${where} ORDER BY id LIMIT $2`,
        [id ?? null, limit],
      );
      return rows.map(({ size, ...row }) => ({ ...row, name: storageName(folder, row.id), size: Number(size) }));
    },
    existing: (ids) => idsOf(ids, where),
    expected: (ids) => idsOf(ids, expectedWhere),
  };
}
