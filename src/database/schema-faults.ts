import { EXPECTED_COLUMNS } from './expected-columns.js';
import { MIGRATIONS } from './migrations.js';
import { compareVersions, type Release, thisRelease } from './release.js';
import { appliedMigrations, findColumns, recordedRelease, type SchemaColumn } from './schema.repository.js';
import type { Querying } from './sql.js';

/** What stands in a sentence of a column fault. */
const SHOWN = 5;

/**
 * Why this version cannot use the database, as a sentence for its operator; undefined if it can. Pending migrations are no
 * fault: they can be applied. No advice ever deletes data.
 */
export async function schemaFault(
  database: Querying,
  migrations = MIGRATIONS,
  release = thisRelease(),
): Promise<string | undefined> {
  const known = migrations.map(({ name }) => name);
  const applied = await appliedMigrations(database);
  const unknown = applied.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    const fault = versionFault(unknown, await recordedRelease(database), release);
    if (fault !== undefined) return fault;
  }
  const isWhole = MIGRATIONS.every(({ name }) => applied.includes(name));
  return isWhole ? columnFault(await findColumns(database), release) : undefined;
}

/** A newer version has migrated the database: may this one run beside it? */
export function versionFault(
  unknown: readonly string[],
  recorded: Release | undefined,
  { version }: Release,
): string | undefined {
  const names = unknown.slice(0, 3).join(', ');
  const what = `DATABASE_URL: the database has migrations that version ${version} does not know (${names})`;
  if (recorded === undefined || compareVersions(version, recorded.version) > 0) {
    return `${what}, of a version that left no record. Start the version that has applied them, or restore a backup that version ${version} can read into an empty database.`;
  }
  const { oldestCompatibleVersion: oldest } = recorded;
  if (compareVersions(version, oldest) >= 0) return undefined;
  return `${what}: version ${recorded.version} has migrated it, and only versions from ${oldest} on can use it. Start version ${recorded.version}, or restore a backup from before the upgrade into an empty database.`;
}

/** Columns that are missing, and columns that this version would not fill. */
export function columnFault(columns: readonly SchemaColumn[], { version }: Release): string | undefined {
  const found = new Set(columns.map(({ table, column }) => `${table}.${column}`));
  const expected = new Set(
    Object.entries(EXPECTED_COLUMNS).flatMap(([table, names]) => names.split(' ').map((name) => `${table}.${name}`)),
  );
  const missing = [...expected].filter((name) => !found.has(name));
  const unfilled = columns
    .filter(({ table, needsValue }) => needsValue && table in EXPECTED_COLUMNS)
    .map(({ table, column }) => `${table}.${column}`)
    .filter((name) => !expected.has(name));
  const faults = [
    ...(missing.length === 0 ? [] : [`lacks ${listed(missing)}`]),
    ...(unfilled.length === 0 ? [] : [`has required columns that it does not know: ${listed(unfilled)}`]),
  ];
  if (faults.length === 0) return undefined;
  return `DATABASE_URL: version ${version} cannot use the tables of the database, which ${faults.join(' and ')}. Undo this change of the tables, or start the version that made it.`;
}

const listed = (names: readonly string[]): string =>
  names.length <= SHOWN ? names.join(', ') : `${names.slice(0, SHOWN).join(', ')} and ${names.length - SHOWN} more`;
