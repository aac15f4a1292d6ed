import { MIGRATIONS } from './migrations.js';
import { compareVersions, type Release, thisRelease } from './release.js';
import { appliedMigrations, recordedRelease } from './schema.repository.js';
import type { Sql } from './sql.js';

/**
 * Why this version cannot use the database, as a sentence for its operator; undefined if it can. Pending migrations are no
 * fault: they can be applied. No advice ever deletes data.
 */
export async function schemaFault(
  database: Sql,
  migrations = MIGRATIONS,
  release = thisRelease(),
): Promise<string | undefined> {
  const known = migrations.map(({ name }) => name);
  const applied = await appliedMigrations(database);
  const unknown = applied.filter((name) => !known.includes(name) && !isJoined(name, known, applied));
  return unknown.length === 0 ? undefined : versionFault(unknown, await recordedRelease(database), release);
}

/** A migration that was joined with later ones: the next one that is left does the work of all of them. */
function isJoined(name: string, known: readonly string[], applied: readonly string[]): boolean {
  const next = known.find((each) => timeOf(each) > timeOf(name));
  return next !== undefined && applied.includes(next);
}

/** The class of a migration ends with the time of its file, in milliseconds. */
const timeOf = (name: string): number => Number(name.slice(-13));

/** A newer version has migrated the database: may this one run beside it? */
function versionFault(
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
