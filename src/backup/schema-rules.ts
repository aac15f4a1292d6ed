import type { ArchivedTable, Manifest, TableShape } from './archive-format.js';
import { BackupError } from './backup-error.js';

/** Throws if the archive has a migration that this build does not have, or if its keys were sealed with another key. */
export function assertRestorable(
  { migrations, serviceVersion, secretsKeyFingerprint }: Manifest,
  known: readonly string[],
  fingerprint: string,
): void {
  const unknown = migrations.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new BackupError(
      `the archive was written by version ${serviceVersion} and has ${count(unknown.length, 'migration')} that this build does not know (${unknown.at(-1)}): restore it with that version or a later one`,
    );
  if (secretsKeyFingerprint !== fingerprint)
    throw new BackupError(
      'the archive belongs to another SECRETS_KEY, without which the keys of partners in it cannot be read: set SECRETS_KEY to that of the service that was backed up (with an embedded database it is in its DATA_DIR/secrets.json)',
    );
}

/** Throws if the tables that the migrations have created are not those of the archive. */
export function assertSameShape(archived: readonly ArchivedTable[], created: readonly TableShape[]): void {
  const shapes = (tables: readonly TableShape[]) =>
    new Map(tables.map(({ name, columns }) => [name, columns.toSorted().join(', ')]));
  const [inArchive, inDatabase] = [shapes(archived), shapes(created)];
  for (const name of new Set([...inArchive.keys(), ...inDatabase.keys()])) {
    if (inArchive.get(name) === inDatabase.get(name)) continue;
    throw new BackupError(
      `the table ${name} of the archive is not the one that its migrations create: the archive has the columns (${inArchive.get(name) ?? 'no such table'}), this build (${inDatabase.get(name) ?? 'no such table'})`,
    );
  }
}

/** As the partitions of this service have; what is in an archive must not become another statement. */
const BOUND = /^(FOR VALUES FROM \('[^'\\]*'\) TO \('[^'\\]*'\)|DEFAULT)$/;

/** The partitions of the archive that the migrations have not created. */
export function missingPartitions(archived: TableShape, created: TableShape | undefined): TableShape['partitions'] {
  const existing = new Set(created?.partitions.map(({ name }) => name));
  const missing = archived.partitions.filter(({ name }) => !existing.has(name));
  const odd = missing.find(({ bound }) => !BOUND.test(bound));
  if (odd !== undefined) throw new BackupError(`the partition ${odd.name} of the archive has an unknown form`);
  return missing;
}

export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
