/**
 * What every session relies on, whatever the defaults of the server, the database and the role are (decision 61). Some
 * change results (`DateStyle`, `array_nulls`, `search_path`), the others change plans and times.
 */
const SETTINGS: Readonly<Record<string, string>> = {
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  search_path: 'public',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  bytea_output: 'hex',
  extra_float_digits: '1',
  transform_null_equals: 'off',
  row_security: 'on',
  lock_timeout: '0',
  // A commit that no longer waits for its standby is a warning.
  client_min_messages: 'warning',
  // Unused connections are closed by the pool.
  idle_session_timeout: '0',
  // A compilation takes longer than most of our statements, and a disabled plan node alone starts one.
  jit: 'off',
};

/** A transaction sets its isolation level when it begins, so this is for sessions only. */
const SESSION_SETTINGS: Readonly<Record<string, string>> = {
  ...SETTINGS,
  default_transaction_isolation: 'read committed',
  default_transaction_deferrable: 'off',
};

/** A parameter of our own, by which a connection finds out whether it got the settings. */
const MARK = 'haulbridge.session';

/** Settings that a pool needs besides those of every session. */
export type Settings = Readonly<Record<string, string>>;

/**
 * The startup parameter `options`: a connection has these settings before its first statement, and keeps them after
 * `RESET ALL` and `DISCARD ALL`. `own` are the options in DATABASE_URL, which win.
 */
export function startupOptions(pool: Settings, own = ''): string {
  const options = Object.entries({ ...SESSION_SETTINGS, ...pool, [MARK]: 'on' });
  const text = options.map(([name, value]) => `-c ${name}=${value.replace(/[\\ ]/g, '\\$&')}`).join(' ');
  return `${text} ${own}`.trimEnd();
}

/** `BEGIN`, with settings for this transaction alone. One string, so that it costs one round trip. */
export const beginSql = (settings: Settings = {}): string =>
  ['BEGIN', ...Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = '${value}'`)].join('; ');

/** `BEGIN` for a connection that keeps no settings, because a pooler gives each transaction another session. */
export const beginWithoutSessionSql = (pool: Settings, settings: Settings = {}): string =>
  beginSql({ ...SETTINGS, ...pool, ...settings }).replace('BEGIN', 'BEGIN ISOLATION LEVEL READ COMMITTED');

/**
 * Asks a new connection whether it keeps its session and whether its server takes writes. It also ends a limit of transactions,
 * which PostgreSQL knows since version 17, and older ones refuse as a startup option.
 */
export const INSPECT_SQL = `SELECT coalesce(current_setting('${MARK}', true), '') = 'on' AS "keepsSettings",
  CASE WHEN current_setting('transaction_timeout', true) <> '0' AND current_setting('${MARK}', true) = 'on'
    THEN set_config('transaction_timeout', '0', false) END,
  pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS "isReadOnly"`;

/** DATABASE_URL without its `options`, which pg would prefer to ours, and these options. */
export function withoutOptions(databaseUrl: string): { readonly url: string; readonly options: string | undefined } {
  if (!URL.canParse(databaseUrl)) return { url: databaseUrl, options: undefined };
  const url = new URL(databaseUrl);
  const options = url.searchParams.get('options');
  if (options === null) return { url: databaseUrl, options: undefined };
  url.searchParams.delete('options');
  return { url: url.href, options };
}
