import type pg from 'pg';

/** Values that follow from rows of others. */
const PARENTS: Readonly<Record<string, string>> = {
  hauler_id: '(SELECT id FROM haulers ORDER BY id LIMIT 1)',
  connection_id: '(SELECT id FROM connections ORDER BY id LIMIT 1)',
  run_id: '(SELECT id FROM sync_runs ORDER BY id LIMIT 1)',
  subscription_id: '(SELECT id FROM video_subscriptions ORDER BY id LIMIT 1)',
  endpoint_id: '(SELECT id FROM webhook_endpoints ORDER BY id LIMIT 1)',
  ticket_id: '(SELECT id FROM tickets ORDER BY id LIMIT 1)',
};

/** Where a check allows few texts, in every table or in one. */
const WORDS: Readonly<Record<string, string>> = {
  kind: `'sites'`,
  severity: `'flagged'`,
  result: `'created'`,
  country: `'US'`,
  subject: `'haulers'`,
  state: `'imported'`,
  format: `'standard'`,
  'erasures.status': `'done'`,
};

/** Every kind of value that the text format of COPY escapes. */
const TEXT = `E'tab\\t, line\\n, return\\r, backslash \\\\, \\\\N, quote \\', \\u00e9\\u4e2d\\U0001F69B'`;

const VALUES: Readonly<Record<string, string>> = {
  uuid: 'gen_random_uuid()',
  text: TEXT,
  bytea: `'\\x00ff5c0a'::bytea`,
  jsonb: `jsonb_build_object('text', ${TEXT}, 'number', 1.10)`,
  json: `'{"b":1.0,"a":2}'`,
  boolean: 'true',
  'timestamp with time zone': `'2026-11-01T00:00:00.123456Z'`,
  date: `'2026-11-01'`,
};

interface Column {
  readonly name: string;
  readonly type: string;
}

/** Puts a row into each table that has none. Returns the tables that stay empty, with the reason. */
export async function fillEmptyTables(client: pg.Client): Promise<Record<string, string>> {
  let left: Record<string, string> = {};
  for (let round = 0; round < 3; round++) {
    left = {};
    for (const table of await emptyTables(client)) {
      const columns = await columnsOf(client, table);
      const values = columns.map(({ name, type }) => valueOf(table, name, type));
      const sql = `INSERT INTO ${table} (${columns.map(({ name }) => `"${name}"`).join(', ')}) VALUES (${values.join(', ')})`;
      await client.query(sql).catch((error: Error) => (left[table] = error.message));
    }
  }
  return left;
}

const valueOf = (table: string, name: string, type: string): string =>
  PARENTS[name] ?? WORDS[name] ?? WORDS[`${table}.${name}`] ?? VALUES[type] ?? (type.endsWith('[]') ? `'{}'` : '1');

async function emptyTables(client: pg.Client): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`,
  );
  const empty: string[] = [];
  for (const { name } of tables)
    if ((await client.query(`SELECT FROM ${name} LIMIT 1`)).rowCount === 0) empty.push(name);
  return empty;
}

/** Those that need a value. */
async function columnsOf(client: pg.Client, table: string): Promise<Column[]> {
  const { rows } = await client.query<Column>(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
      WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND (attnotnull OR attname = 'token_mac') AND NOT atthasdef AND attidentity = ''`,
    [table],
  );
  return rows;
}
