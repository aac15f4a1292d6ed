import type { Sql } from '../core/database/sql.js';

export type TonnageGroup = 'site' | 'material' | 'day' | 'customField';

/** Tickets of one statement: it takes a tenth of a second. */
const TICKETS_AT_ONCE = 20_000;

/** Sums of one key, as decimal numbers. A null has no line in that unit; `tons` are all units of weight. */
export interface TonnageSums {
  readonly key: string;
  readonly name: string | null;
  readonly tickets: number;
  readonly tons: string;
  readonly Gallon: string | null;
  readonly 'Cubic Yard': string | null;
  readonly 'Cubic Meter': string | null;
  readonly Item: string | null;
}

interface Range {
  readonly haulerId: string;
  /** The first id, and the one behind the last. */
  readonly first: string;
  readonly end: string;
}

const KEYS: Readonly<Record<TonnageGroup, string>> = {
  site: 't.site_id::text',
  material: 'm.id::text',
  day: "to_char(t.created_at AT TIME ZONE $4::text + $5::int * interval '1 minute', 'YYYY-MM-DD')",
  customField: "coalesce(t.custom_fields::json ->> $4::text, '')",
};

/** Of one ticket, by the unit; and the short tons of all. */
const WEIGHTS = `sum(l.quantity) FILTER (WHERE l."unitOfMeasure" = 'Ton') AS ton,
      sum(l.quantity) FILTER (WHERE l."unitOfMeasure" = 'Pound') AS pound,
      sum(l.quantity) FILTER (WHERE l."unitOfMeasure" = 'Kilogram') AS kilogram`;
const TONS = 'coalesce(sum(m.ton), 0) + coalesce(sum(m.pound), 0) / 2000 + coalesce(sum(m.kilogram), 0) / 907.18474';

/** The sums of one ticket, or of each of its materials. */
const OF_TICKET = 'SELECT NULL::uuid AS id, NULL::text AS name';
const OF_MATERIAL = 'SELECT l.id, max(l.name) AS name';

/**
 * Quantities are added as decimal numbers: two that are near the end of a double have a sum that no double has (decision 25). A short
 * ton has 2,000 pounds of 0.45359237 kg.
 *
 * First the lines of each ticket are added, then the tickets: to count the tickets among the lines would sort all of them, which
 * takes two to three times as long. Stored JSON is text, and its unknown fields may hold numbers that jsonb refuses.
 */
const sumsSql = (group: TonnageGroup): string => `
  SELECT ${KEYS[group]} AS key, max(m.name) AS name, count(*)::int AS tickets,
    ${TONS} AS tons,
    sum(m.gallon) AS "Gallon", sum(m.cubic_yard) AS "Cubic Yard", sum(m.cubic_meter) AS "Cubic Meter", sum(m.item) AS "Item"
  FROM tickets t
  CROSS JOIN LATERAL (
    ${group === 'material' ? OF_MATERIAL : OF_TICKET},
      ${WEIGHTS},
      sum(l.quantity) FILTER (WHERE l."unitOfMeasure" = 'Gallon') AS gallon,
      sum(l.quantity) FILTER (WHERE l."unitOfMeasure" = 'Cubic Yard') AS cubic_yard,
      sum(l.quantity) FILTER (WHERE l."unitOfMeasure" = 'Cubic Meter') AS cubic_meter,
      sum(l.quantity) FILTER (WHERE l."unitOfMeasure" = 'Item') AS item
    FROM json_to_recordset(t.materials::json) AS l (id uuid, name text, quantity numeric, "unitOfMeasure" text)
    ${group === 'material' ? 'GROUP BY l.id' : ''}
  ) AS m
  WHERE t.hauler_id = $1 AND t.id >= $2 AND t.id < $3
  GROUP BY 1`;

/** The sums of a range of tickets, with the zone or the custom field if the group has one, part by part: no statement takes long, and memory follows the keys. */
export async function* tonnageParts(
  database: Sql,
  { haulerId, first, end }: Range,
  group: TonnageGroup,
  parameters: readonly (string | number)[],
): AsyncGenerator<TonnageSums[]> {
  for (let from: string | undefined = first; from !== undefined;) {
    const [next]: readonly { readonly id: string }[] = await database.query(
      `SELECT id FROM tickets WHERE hauler_id = $1 AND id >= $2 AND id < $3 ORDER BY id OFFSET ${TICKETS_AT_ONCE} LIMIT 1`,
      [haulerId, from, end],
    );
    yield await database.query<TonnageSums>(sumsSql(group), [haulerId, from, next?.id ?? end, ...parameters]);
    from = next?.id;
  }
}

/** The tons of the tickets between two ids, of these haulers or of all. */
export async function tonsBetween(
  database: Sql,
  haulers: readonly string[] | undefined,
  [first, end]: readonly [string, string],
): Promise<string> {
  const row = await database.first<{ tons: string }>(
    `SELECT ${TONS} AS tons FROM tickets t CROSS JOIN LATERAL (
       SELECT ${WEIGHTS} FROM json_to_recordset(t.materials::json) AS l (quantity numeric, "unitOfMeasure" text)) AS m
     WHERE t.id >= $1 AND t.id < $2 AND ($3::uuid[] IS NULL OR t.hauler_id = ANY ($3))`,
    [first, end, haulers ?? null],
  );
  return row?.tons ?? '0';
}

/** The names of the sites of a hauler, by the partner's ids. */
export async function siteNames(database: Sql, haulerId: string): Promise<ReadonlyMap<string, string>> {
  const rows = await database.query<{ id: string; name: string }>(
    'SELECT external_id AS id, name FROM sites WHERE hauler_id = $1',
    [haulerId],
  );
  return new Map(rows.map(({ id, name }) => [id, name]));
}
