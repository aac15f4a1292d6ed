import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import { findColumns } from '../../src/database/schema.repository.js';
import type { Generator } from './generator.js';

const FILE = 'src/database/expected-columns.ts';

/** The columns of each table, which a service expects at its start. */
export const schema: Generator = async (database) => {
  const tables = Map.groupBy(await findColumns(await database.connection()), ({ table }) => table);
  const lines = [...tables].map(
    ([table, columns]) => `  ${table}:\n    '${columns.map(({ column }) => column).join(' ')}',`,
  );
  const text = `/**
 * The columns of each table, as the migrations leave them. Made by \`npm run generate -- schema\`: a service refuses a database
 * that lacks one of them.
 */
export const EXPECTED_COLUMNS: Readonly<Record<string, string>> = {
${lines.join('\n')}
};
`;
  const filepath = join(import.meta.dirname, '../..', FILE);
  return { [FILE]: await format(text, { ...(await resolveConfig(filepath)), filepath }) };
};
