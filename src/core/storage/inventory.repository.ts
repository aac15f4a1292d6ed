import type { Sql } from '../database/sql.js';
import { storageName } from './storage-names.js';
import type { Published } from './draft.js';

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
