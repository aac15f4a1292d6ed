import type { ApiKeyQuery } from '../contracts/admin/access.dto.js';
import type { SqlList } from '../database/list-page.js';

const NEWEST_FIRST = { key: ['created_at', 'id'], order: 'DESC' } as const;

export const HAULERS: SqlList = {
  name: 'haulers',
  sql: 'SELECT id, created_at FROM haulers',
  parameters: [],
  ...NEWEST_FIRST,
};

export const apiKeys = ({ haulerId, connectionId }: ApiKeyQuery): SqlList => ({
  name: 'api-keys',
  sql: `SELECT id, created_at FROM api_keys
    WHERE ($1::uuid IS NULL OR hauler_id = $1) AND ($2::uuid IS NULL OR connection_id = $2)`,
  parameters: [haulerId ?? null, connectionId ?? null],
  ...NEWEST_FIRST,
});
