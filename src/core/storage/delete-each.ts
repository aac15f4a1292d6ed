/** File systems and servers delete several files at a time faster than one after the other. */
const CONCURRENCY = 8;

/** Why files could not be deleted, by their names. */
export type DeleteFailures = ReadonlyMap<string, Error>;

/** Deletes each file by a call of its own. One that fails does not keep the others. */
export async function deleteEach(
  names: readonly string[],
  deleteOne: (name: string) => Promise<unknown>,
): Promise<DeleteFailures> {
  const failures = new Map<string, Error>();
  await eachOf(names, (name) => deleteOne(name).catch((error: Error) => failures.set(name, error)));
  return failures;
}

/** Does the work for each, several at a time. */
export async function eachOf(names: readonly string[], work: (name: string) => Promise<unknown>): Promise<void> {
  const left = names.values();
  const worker = async () => {
    for (const name of left) await work(name);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}
