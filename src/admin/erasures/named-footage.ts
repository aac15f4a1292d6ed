import type { Querying } from '../../database/sql.js';
import type { ErasureTarget } from './erasures.repository.js';
import { isOfRange, truckTexts } from './named-footage.rules.js';
import { findFindings } from './trace-erasure.repository.js';

/** The digests of findings whose kept part names the truck and the range of the erasure, of whichever camera. */
export async function namingFindings(database: Querying, target: ErasureTarget): Promise<string[]> {
  const { truck_id: truckId, from, to } = target;
  if (truckId === null || from === null || to === null) return [];
  const parts = await findFindings(database, target, truckTexts(truckId));
  return parts.filter(({ raw }) => isOfRange(raw, { from, to })).map(({ digest }) => digest);
}
