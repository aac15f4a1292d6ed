import { safeName } from './storage.js';

/** File systems and servers delete several files at a time faster than one after the other. */
const CONCURRENCY = 8;

/** Why files could not be deleted, by their names. */
export type DeleteFailures = ReadonlyMap<string, Error>;

/** Deletes each file by a call of its own. One that fails does not keep the others. */
export async function deleteEach(
  names: readonly string[],
  deleteOne: (name: string) => Promise<void>,
): Promise<DeleteFailures> {
  const failures = new Map<string, Error>();
  const left = names.map(safeName).values();
  const worker = async () => {
    for (const name of left) await deleteOne(name).catch((error: Error) => failures.set(name, error));
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return failures;
}
