import type { MigratedDatabase } from './migrated-database.js';

/** Texts by the path of their file, from the root of the repository. */
export type Files = Readonly<Record<string, string>>;

/** Makes files from the code. Throws where the code has something that the generator does not know. */
export type Generator = (database: MigratedDatabase) => Files | Promise<Files>;
