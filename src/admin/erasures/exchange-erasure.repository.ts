import { type Sql } from '../../core/database/sql.js';

const body = (name: string): string =>
  `${name}_body = CASE WHEN ${name}_body IS NOT NULL THEN '[erased]' END, ${name}_sha256 = NULL,
   ${name}_form = CASE WHEN ${name}_body IS NOT NULL THEN 2 ELSE ${name}_form END`;

/** Bodies, their digests and the given references. Headers have no data of customers; those of a file name it. */
const REDACTED = `${body('request')}, ${body('response')}, ignored_fields = NULL,
  refs = ARRAY(SELECT ref FROM unnest(refs) AS ref WHERE ref <> ALL ($2::text[]))`;

/** Redacts the exchanges of a hauler with one of these references, in place. Returns how many. */
export async function redactByReference(
  database: Sql,
  haulerId: string,
  references: readonly string[],
): Promise<number> {
  return database.change(
    `UPDATE exchanges SET ${REDACTED},
       path = CASE WHEN refs && ARRAY(SELECT ref FROM unnest($2::text[]) AS ref WHERE ref LIKE 'recordingId:%')
         THEN '/[erased]' ELSE path END
     WHERE hauler_id = $1 AND refs && $2::text[]`,
    [haulerId, references],
  );
}

/** How many `redactByReference` would redact. */
export async function countByReference(
  database: Sql,
  haulerId: string,
  references: readonly string[],
): Promise<number> {
  const row = await database.only<{ count: number }>(
    'SELECT count(*)::float8 AS count FROM exchanges WHERE hauler_id = $1 AND refs && $2::text[]',
    [haulerId, references],
  );
  return row.count;
}
