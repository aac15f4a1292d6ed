import type { Querying } from '../database/sql.js';
import type { KnownRoots } from './storage-root.js';

/** Records roots in the database, for all instances. */
export function knownRoots(database: Querying): KnownRoots {
  return {
    async has(root) {
      return (await database.query<unknown[]>('SELECT 1 FROM storage_roots WHERE root = $1', [root])).length > 0;
    },
    async add(root) {
      await database.query('INSERT INTO storage_roots (root) VALUES ($1) ON CONFLICT DO NOTHING', [root]);
    },
  };
}
