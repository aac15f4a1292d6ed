import type { SqlList } from '../core/database/list-page.js';
import type { Sql } from '../core/database/sql.js';
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

export async function haulerNames(database: Sql, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ id: string; name: string }>(
    'SELECT id, name FROM haulers WHERE id = ANY ($1::uuid[])',
    [ids],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
