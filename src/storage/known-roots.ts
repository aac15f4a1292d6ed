import type { Querying } from '../database/querying.js';

/** Which storages of files have had some: who starts while a mount is missing could not know it otherwise. */
export interface KnownRoots {
  has(root: string): Promise<boolean>;
  add(root: string): Promise<void>;
}

/** In the database, where every instance finds them. */
export function knownRoots(runner: Querying): KnownRoots {
  return {
    async has(root) {
      return (await runner.query<unknown[]>('SELECT 1 FROM storage_roots WHERE root = $1', [root])).length > 0;
    },
    async add(root) {
      await runner.query('INSERT INTO storage_roots (root) VALUES ($1) ON CONFLICT DO NOTHING', [root]);
    },
  };
}
