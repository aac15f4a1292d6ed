import type { HaulerMove } from '../contracts/admin/hauler.dto.js';
import type { SqlList } from '../database/list-page.js';
import type { Sql } from '../database/sql.js';
import type { HaulerEntity } from './auth.entity.js';

export const HAULERS: SqlList = {
  name: 'haulers',
  sql: 'SELECT id, created_at, id AS list_hauler FROM haulers',
  hasHaulers: true,
  parameters: [],
  key: ['created_at', 'id'],
  order: 'DESC',
};

export async function insertHauler(database: Sql, { id, name, createdAt }: HaulerEntity): Promise<void> {
  await database.change('INSERT INTO haulers (id, name, created_at) VALUES ($1, $2, $3)', [id, name, createdAt]);
}

/** The names of haulers by id. */
export async function haulerNames(database: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ id: string; name: string }>(
    'SELECT id, name FROM haulers WHERE id = ANY ($1::uuid[])',
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}

export interface HaulerMoveRow {
  readonly hauler_id: string;
  readonly state: HaulerMove['state'];
  readonly since: Date;
  readonly exported_at: Date | null;
}

/** The moves of haulers between cells, by hauler. */
export async function haulerMoves(database: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, HaulerMoveRow>> {
  const rows = await database.query<HaulerMoveRow>(
    'SELECT hauler_id, state, since, exported_at FROM hauler_moves WHERE hauler_id = ANY ($1::uuid[])',
    [ids],
  );
  return new Map(rows.map((row) => [row.hauler_id, row]));
}

/** The haulers that are locked. */
export function lockedHaulers(database: Sql): Promise<(HaulerMoveRow & { readonly name: string })[]> {
  return database.query<HaulerMoveRow & { readonly name: string }>(
    `SELECT m.hauler_id, m.state, m.since, m.exported_at, h.name
       FROM hauler_moves AS m JOIN haulers AS h ON h.id = m.hauler_id WHERE m.state = 'locked'`,
    [],
  );
}
