/** What services wrote: searched for secrets at the end of their database, and shown where a test fails. */
export interface WrittenText {
  readonly place: string;
  readonly text: () => string;
}

const MAX_CHARACTERS = 4_000_000;

const OBSERVED = Symbol.for('haulbridge.written');

/** The environment of a test file (`environment.mjs`) reads it when a test fails. */
const observed = ((globalThis as { [OBSERVED]?: Map<string, WrittenText[]> })[OBSERVED] ??= new Map<
  string,
  WrittenText[]
>());

const nameIn = (databaseUrl: string): string => new URL(databaseUrl).pathname.slice(1);

/** Remembers a text of a service of this database. */
export function observe(databaseUrl: string, place: string, text: () => string): void {
  // A service with an embedded database has no address, and that database is deleted with its folder.
  if (databaseUrl === '') return;
  const name = nameIn(databaseUrl);
  observed.set(name, [...(observed.get(name) ?? []), { place, text }]);
}

/** The texts of a database, which are forgotten by this. */
export function takeWritten(databaseUrl: string): readonly WrittenText[] {
  const name = nameIn(databaseUrl);
  const texts = observed.get(name) ?? [];
  observed.delete(name);
  return texts;
}

/** Collects lines for `observe`. */
export function textCollector(databaseUrl: string, place: string): (text: string) => void {
  let [texts, size]: [string[], number] = [[], 0];
  observe(databaseUrl, place, () => texts.join('\n'));
  return (text) => {
    size += text.length;
    if (size > MAX_CHARACTERS) [texts, size] = [[], text.length];
    texts.push(text);
  };
}
