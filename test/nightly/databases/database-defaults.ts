import type { TestDatabase } from '../../support/test-database.js';
import { onServer } from '../../support/test-run.js';

export type Defaults = Readonly<Record<string, string>>;

/** Defaults that a database may have. Each of them changes the result of a statement, or its time, where a session keeps it. */
export const UNUSUAL_DEFAULTS: Defaults = {
  DateStyle: 'German',
  IntervalStyle: 'iso_8601',
  TimeZone: 'Asia/Kathmandu',
  default_transaction_isolation: 'serializable',
  default_transaction_deferrable: 'on',
  search_path: 'elsewhere',
  standard_conforming_strings: 'off',
  escape_string_warning: 'off',
  array_nulls: 'off',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  transform_null_equals: 'on',
  client_min_messages: 'debug1',
  client_encoding: 'LATIN1',
  lock_timeout: '1ms',
  statement_timeout: '1s',
  idle_in_transaction_session_timeout: '5ms',
  jit_above_cost: '0',
  jit_inline_above_cost: '0',
  jit_optimize_above_cost: '0',
};

/** Sets defaults of the database, or of a role in all databases, and a schema whose tables must not be found. */
export async function setDefaults(
  { url }: Pick<TestDatabase, 'url'>,
  defaults: Defaults,
  role?: string,
): Promise<void> {
  await onServer(url, async (client) => {
    await client.query('CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.tickets (wrong int)');
    const owner = role === undefined ? `DATABASE ${new URL(url).pathname.slice(1)}` : `ROLE ${role}`;
    for (const [setting, value] of Object.entries(defaults)) {
      await client.query(`ALTER ${owner} SET ${setting} = '${value}'`);
    }
  });
}
