import type { Querying } from '../database/querying.js';
import { storageName } from './storage-name.js';
import type { Published } from './storage.js';

/** A file that a row tells of. */
export interface KeptFile extends Published {
  readonly id: string;
  /** Of the storage. */
  readonly name: string;
}

/** What one kind of rows says about the storage, for whoever compares the two. */
export interface FileKeeper {
  /** The storage's folder that belongs to these rows alone. */
  readonly folder: string;
  /** The table, for people. */
  readonly table: string;
  /** Rows whose file must be there, by id, each batch beginning after the last id of the one before. */
  after(id: string | undefined, limit: number): Promise<readonly KeptFile[]>;
  /** Which of these ids still have a row whose file must be there. */
  holding(ids: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface KeptIn {
  readonly table: string;
  readonly folder: string;
  /** Which rows have a file, as SQL over the table's columns. */
  readonly where: string;
}

interface Row {
  readonly id: string;
  readonly size: string;
  readonly sha256: string;
}

/** Of a table with the columns `id uuid`, `size_bytes` and `sha256`; names and SQL are constants of the code. */
export function keeperOf(runner: Querying, { table, folder, where }: KeptIn): FileKeeper {
  return {
    folder,
    table,
    async after(id, limit) {
      const rows = await runner.query<Row[]>(
        `SELECT id, size_bytes AS size, sha256 FROM ${table}
         WHERE ($1::uuid IS NULL OR id > $1) AND ${where} ORDER BY id LIMIT $2`,
        [id ?? null, limit],
      );
      return rows.map(({ size, ...row }) => ({ ...row, name: storageName(folder, row.id), size: Number(size) }));
    },
    async holding(ids) {
      const sql = `SELECT id FROM ${table} WHERE id = ANY ($1::uuid[]) AND ${where}`;
      return new Set((await runner.query<Pick<Row, 'id'>[]>(sql, [ids])).map(({ id }) => id));
    },
  };
}
