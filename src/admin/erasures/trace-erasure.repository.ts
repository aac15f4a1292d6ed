import type { Querying } from '../../database/sql.js';
import type { ErasureTarget } from './erasures.repository.js';
import { FOOTAGE_OF_ERASURE } from './footage-erasure.repository.js';
import { isOfRange, truckTexts } from './named-footage.rules.js';

interface Key {
  readonly hauler_id: string;
  readonly id: string;
}

const UUID = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';

/** Deliveries of the hauler whose body, or whose receiver's answer, names a recording of the erasure. */
const NAMING_DELIVERIES = `webhook_deliveries AS delivery WHERE delivery.hauler_id = $1 AND EXISTS (
  SELECT FROM regexp_matches(lower(delivery.data || ' ' || coalesce(delivery.response_body, '')), '${UUID}', 'g') AS named (id)
  WHERE named.id[1] IN (SELECT r.id::text FROM ${FOOTAGE_OF_ERASURE}))`;

export async function countDeliveries(database: Querying, { hauler_id, id }: Key): Promise<number> {
  const sql = `SELECT count(*)::float8 AS count FROM ${NAMING_DELIVERIES}`;
  const [row] = await database.query<[{ count: number }]>(sql, [hauler_id, id]);
  return row.count;
}

/** As a whole: what is left of one could be sent again. */
export async function deleteDeliveries(database: Querying, { hauler_id, id }: Key): Promise<number> {
  const [, count] = await database.query<[unknown[], number]>(`DELETE FROM ${NAMING_DELIVERIES}`, [hauler_id, id]);
  return count;
}

interface FindingPart {
  readonly digest: string;
  readonly raw: string;
}

/** The kept parts of a partner's lists that name a truck. A connection has at most 10,000. */
function findFindings(
  database: Querying,
  { hauler_id, connection_id }: { readonly hauler_id: string; readonly connection_id: string | null },
  texts: readonly string[],
): Promise<FindingPart[]> {
  return database.query(
    `SELECT digest, raw FROM vision_findings WHERE hauler_id = $1 AND connection_id = $2
       AND EXISTS (SELECT FROM unnest($3::text[]) AS text WHERE strpos(raw, text) > 0)`,
    [hauler_id, connection_id, texts],
  );
}

/** The digests of findings whose kept part names the truck and the range of the erasure, of whichever camera. */
export async function namingFindings(database: Querying, target: ErasureTarget): Promise<string[]> {
  const { truck_id: truckId, from, to } = target;
  if (truckId === null || from === null || to === null) return [];
  const parts = await findFindings(database, target, truckTexts(truckId));
  return parts.filter(({ raw }) => isOfRange(raw, { from, to })).map(({ digest }) => digest);
}

/** The finding stays, with its place and reason. */
export async function redactFindings(
  database: Querying,
  { hauler_id, connection_id }: { readonly hauler_id: string; readonly connection_id: string | null },
  digests: readonly string[],
): Promise<number> {
  const [, count] = await database.query<[unknown[], number]>(
    `UPDATE vision_findings SET raw = '[erased]'
     WHERE hauler_id = $1 AND connection_id = $2 AND digest = ANY ($3::text[]) AND raw IS DISTINCT FROM '[erased]'`,
    [hauler_id, connection_id, digests],
  );
  return count;
}
