import type { Sql } from '../../core/database/sql.js';
import type { ErasureTarget } from './erasures.repository.js';
import { isOfRange, isOfTruck } from './named-footage.rules.js';

interface FindingPart {
  readonly digest: string;
  readonly raw: string;
}

/** The kept parts of the lists of a partner: at most 10,000. */
function findParts(
  database: Sql,
  { hauler_id, connection_id }: Pick<ErasureTarget, 'hauler_id' | 'connection_id'>,
): Promise<FindingPart[]> {
  return database.query<FindingPart>(
    'SELECT digest, raw FROM vision_findings WHERE hauler_id = $1 AND connection_id = $2 AND raw IS NOT NULL',
    [hauler_id, connection_id],
  );
}

/** The digests of findings whose kept part is of the truck and the range of the erasure, of whichever camera. */
export async function namingFindings(database: Sql, target: ErasureTarget): Promise<string[]> {
  const { truck_id: truckId, from, to } = target;
  if (truckId === null || from === null || to === null) return [];
  const parts = await findParts(database, target);
  return parts.filter(({ raw }) => isOfTruck(raw, truckId) && isOfRange(raw, { from, to })).map(({ digest }) => digest);
}

/** The finding stays, with its place and reason. */
export async function redactFindings(
  database: Sql,
  { hauler_id, connection_id }: Pick<ErasureTarget, 'hauler_id' | 'connection_id'>,
  digests: readonly string[],
): Promise<number> {
  return database.change(
    `UPDATE vision_findings SET raw = '[erased]'
     WHERE hauler_id = $1 AND connection_id = $2 AND digest = ANY ($3::text[]) AND raw IS DISTINCT FROM '[erased]'`,
    [hauler_id, connection_id, digests],
  );
}
