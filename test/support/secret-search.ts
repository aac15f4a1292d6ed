import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { isWellFormedKey } from '../../src/core/observability/key-form.js';
import { openKey } from '../../src/partner-client/connection-keys.service.js';
import { onServer, TEST_ADMIN_TOKEN, TEST_SECRETS_KEY, TEST_SERVER_VARIABLE, type TestServer } from './test-run.js';
import { takeWritten } from './written-text.js';

/** `global-teardown.mjs` prints it. */
const UNSEARCHED_FILE = 'not-searched-for-secrets.txt';

/** Columns that contain what a caller sent or what a download needs. The admin API masks keys of ours in them. */
const EXEMPT: Readonly<Record<string, readonly string[]>> = {
  // The raw push (decision 23), and what the ticket shows of it.
  ticket_revisions: ['body'],
  tickets: ['materials', 'custom_fields'],
  // A name is the caller's data, and the answer to its POST repeats it.
  accounts: ['account_name', 'search_text'],
  idempotency_keys: ['body'],
  // Links of partners, which expire after hours.
  recordings: ['link'],
};

/** Of each table. */
const MAX_ROWS = 40_000;
/** No row is smaller. */
const MIN_ROW_BYTES = 24;
const MAX_FINDINGS = 20;
/** Shorter keys of connections are words of the tests. */
const MIN_PARTNER_KEY = 12;

/** A key of ours, plain and in hex, and the signature of a link of ours. */
const PATTERNS = ['hb_([0-9a-z]{1,12}_)?[0-9A-Za-z]{49}', '68625f([3-7][0-9a-f]){49}', 'signature=[0-9A-Za-z_-]{43}'];

export interface SecretSearch {
  readonly found: readonly string[];
  /** What could not be searched, or not as a whole, with the reason. */
  readonly unsearched: readonly string[];
}

/** A test may have left a lock, a table of a million rows, or a database that takes no connection. Any other error fails. */
const UNSEARCHABLE: Readonly<Record<string, string>> = {
  '55P03': 'it is locked',
  '57014': 'it takes longer than 20 s',
  '55000': 'the database takes no connections',
  '3D000': 'the database is gone',
  '53300': 'there are too many connections',
  ECONNREFUSED: 'the server has ended',
};

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = UNSEARCHABLE[code];
  if (reason === undefined) throw error;
  return reason;
}

/** All tables of a database, and all that its services wrote, are searched for every secret of the run. */
export async function searchSecrets(databaseUrl: string): Promise<SecretSearch> {
  const texts = takeWritten(databaseUrl);
  const unsearched: string[] = [];
  const found: string[] = [];
  let secrets = ownSecrets(databaseUrl);
  try {
    await onServer(databaseUrl, async (client) => {
      await client.query(`SET lock_timeout = '10s'; SET statement_timeout = '20s'`);
      secrets = [...secrets, ...(await partnerSecrets(client))];
      found.push(...(await inTables(client, patternOf(secrets), unsearched)));
    });
  } catch (error) {
    unsearched.push(`the database: ${reasonOf(error)}`);
  }
  for (const { place, text } of texts) {
    const matches = [...text().matchAll(new RegExp(patternOf(secrets), 'g'))].map(([match]) => match).filter(isSecret);
    found.push(...matches.map((match) => `${match.slice(0, 24)}… in ${place}`));
  }
  return { found: [...new Set(found)].slice(0, MAX_FINDINGS), unsearched };
}

const patternOf = (secrets: readonly string[]): string => [...PATTERNS, ...secrets.flatMap(formsOf)].join('|');

/** `environment.mjs` fails the test file whose services wrote a secret: an error in a hook alone is not always seen. */
const FOUND = Symbol.for('haulbridge.secrets');
const foundByFile = ((globalThis as { [FOUND]?: string[] })[FOUND] ??= []);

/** Fails where a secret is found, or where something was not searched: a nightly test may leave such, which the run reports. */
export async function reportSecrets(databaseUrl: string): Promise<void> {
  const { found, unsearched } = await searchSecrets(databaseUrl);
  // Jest's global and not its module, which a script of a test cannot import.
  const { expect } = globalThis as { expect?: { getState(): { testPath?: string } } };
  const file = expect?.getState().testPath ?? 'a script of a test';
  const { folder } = JSON.parse(process.env[TEST_SERVER_VARIABLE] ?? '{}') as TestServer;
  const isNightly = file.includes('/test/nightly/');
  if (isNightly && unsearched.length > 0)
    appendFileSync(join(folder, UNSEARCHED_FILE), `${file}: ${unsearched.join(', ')}\n`);
  const faults = [...found, ...(isNightly ? [] : unsearched.map((each) => `not searched: ${each}`))];
  if (faults.length === 0) return;
  foundByFile.push(...faults);
  throw new Error(`secrets in clear: ${faults.join(', ')}`);
}

async function inTables(client: pg.Client, pattern: string, unsearched: string[]): Promise<string[]> {
  const tablesOf = async (bytes: string) =>
    (
      await client.query<{ name: string; bytes: string }>(
        `SELECT * FROM (SELECT c.relname AS name, ${bytes} AS bytes FROM pg_class c
           WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r') t WHERE bytes > 0`,
      )
    ).rows;
  // The size of a locked table is locked too.
  const tables = await tablesOf('pg_relation_size(c.oid)').catch((error: unknown) => {
    reasonOf(error);
    return tablesOf(String(Number.MAX_SAFE_INTEGER));
  });
  const search = async (names: readonly string[]) => {
    if (names.length === 0) return [];
    const { rows } = await client.query<{ name: string; found: string }>(names.map(searchOf).join(' UNION ALL '), [
      `(${pattern.replaceAll('(', '(?:')})`,
    ]);
    return rows.filter(({ found }) => isSecret(found));
  };
  const names = tables.map(({ name }) => name);
  const rows = await search(names).catch(async (error: unknown) => {
    // One table after the other, to name those that cannot be searched.
    reasonOf(error);
    const each: { name: string; found: string }[] = [];
    for (const name of names) {
      const found = await search([name]).catch((reason: unknown) => {
        unsearched.push(`table ${name}: ${reasonOf(reason)}`);
        return [];
      });
      each.push(...found);
    }
    return each;
  });
  for (const { name } of tables.filter(({ bytes }) => Number(bytes) > MAX_ROWS * MIN_ROW_BYTES)) {
    if (await isCut(client, name))
      unsearched.push(`table ${name}: more than ${MAX_ROWS} rows, of which any were searched`);
  }
  return rows.map(({ name, found }) => `${found.slice(0, 24)}… in table ${name}`);
}

function searchOf(name: string): string {
  // A partition has the columns of its table.
  const exempt = EXEMPT[name.replace(/_(\d{6}|rest)$/, '')];
  const text = exempt === undefined ? 't::text' : `(to_jsonb(t) - '{${exempt.join(',')}}'::text[])::text`;
  const sample = `SELECT ${text} AS row FROM "${name}" AS t LIMIT ${MAX_ROWS}`;
  return `(SELECT '${name}' AS name, substring(row from $1) AS found FROM (${sample}) s WHERE row ~ $1 LIMIT 2)`;
}

async function isCut(client: pg.Client, name: string): Promise<boolean> {
  const sql = `SELECT FROM (SELECT FROM "${name}" LIMIT ${MAX_ROWS + 1}) s OFFSET ${MAX_ROWS}`;
  return client.query(sql).then(
    ({ rowCount }) => rowCount === 1,
    (error: unknown) => (reasonOf(error), false),
  );
}

/** Encrypted text in base64url has the form of a key once in 20,000 times; the checksum of a key separates them. */
function isSecret(found: string): boolean {
  if (found.startsWith('hb_')) return isWellFormedKey(found);
  return !found.startsWith('68625f') || isWellFormedKey(Buffer.from(found, 'hex').toString());
}

/** The admin token, `SECRETS_KEY`, and the password of the database. */
const ownSecrets = (databaseUrl: string): string[] =>
  [TEST_ADMIN_TOKEN, TEST_SECRETS_KEY, new URL(databaseUrl).password].filter((secret) => secret !== '');

/** The keys of the connections. */
async function partnerSecrets(client: pg.Client): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string | null }>(
    `SELECT to_regclass('public.connections') AS name`,
  );
  if (tables[0]?.name == null) return [];
  const { rows } = await client.query<{ id: string; sealed: string | null }>(
    `SELECT id, unnest(ARRAY[sealed_key, sealed_next_key]) AS sealed FROM public.connections`,
  );
  const keys = rows.flatMap(({ id, sealed }) => {
    if (sealed === null) return [];
    try {
      return openKey(Buffer.from(TEST_SECRETS_KEY, 'hex'), id, sealed);
    } catch {
      // Sealed with another key, or damaged by a test.
      return [];
    }
  });
  return [...new Set(keys.filter((key) => key.length >= MIN_PARTNER_KEY && !key.startsWith('hb_')))];
}

const formsOf = (secret: string): string[] =>
  [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')].map((form) =>
    form.replace(/[^0-9A-Za-z]/g, (character) => `\\${character}`),
  );
