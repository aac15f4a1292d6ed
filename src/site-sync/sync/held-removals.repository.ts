import type { EntityManager } from 'typeorm';
import { affected, type CatalogOwner, DEACTIVATE } from './catalog-sync.repository.js';
import { forEachKind, type Kind, KINDS } from './kinds.js';

/** Whether removals wait for an admin. */
export async function hasHeldRemovals(manager: EntityManager, owner: CatalogOwner): Promise<boolean> {
  const held = await manager.query<unknown[]>(
    'SELECT FROM sync_holds WHERE hauler_id = $1 AND connection_id = $2 AND NOT rejected LIMIT 1',
    [owner.haulerId, owner.connectionId],
  );
  return held.length > 0;
}

/** Applies the removals that were held and returns their number by kind. */
export async function applyHeldRemovals(manager: EntityManager, owner: CatalogOwner): Promise<Record<Kind, number>> {
  const removed = forEachKind(() => 0);
  const parameters = [owner.haulerId, owner.connectionId];
  for (const kind of KINDS) {
    removed[kind] = await affected(
      manager,
      `UPDATE ${kind} stored SET ${DEACTIVATE} FROM sync_holds hold
       WHERE hold.hauler_id = $1 AND hold.connection_id = $2 AND hold.kind = '${kind}'
         AND stored.hauler_id = $1 AND stored.connection_id = $2 AND stored.external_id = hold.external_id
         AND NOT hold.rejected AND stored.active`,
      parameters,
    );
  }
  await manager.query(
    'DELETE FROM sync_holds WHERE hauler_id = $1 AND connection_id = $2 AND NOT rejected',
    parameters,
  );
  return removed;
}

/** Keeps the held records. The next run that would remove them holds them again. */
export async function rejectHeldRemovals(manager: EntityManager, owner: CatalogOwner): Promise<void> {
  await manager.query('UPDATE sync_holds SET rejected = true WHERE hauler_id = $1 AND connection_id = $2', [
    owner.haulerId,
    owner.connectionId,
  ]);
}
