import type { Sql } from '../database/sql.js';
import type { KnownRoots } from './storage-root.js';

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
