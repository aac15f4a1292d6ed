import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { isWellFormedKey } from '../../src/auth/api-key.js';
import { openKey } from '../../src/partner-client/connection-keys.service.js';
import { onServer, TEST_ADMIN_TOKEN, TEST_SECRETS_KEY, TEST_SERVER_VARIABLE, type TestServer } from './test-run.js';
import { takeWritten } from './written-text.js';

/** `global-teardown.mjs` fails the run if it exists. */
const FINDINGS_FILE = 'secrets-found.txt';

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
const MAX_ROWS = 20_000;
const MAX_FINDINGS = 20;
/** Shorter keys of connections are words of the tests. */
const MIN_PARTNER_KEY = 12;

/** A key of ours, plain and in hex, and the signature of a link of ours. */
const PATTERNS = ['hb_([0-9a-z]{1,12}_)?[0-9A-Za-z]{49}', '68625f([3-7][0-9a-f]){49}', 'signature=[0-9A-Za-z_-]{43}'];

/** All tables of a database, and all that its services wrote, are searched for every secret of the run. */
export async function findSecrets(databaseUrl: string): Promise<string[]> {
  const texts = takeWritten(databaseUrl);
  return onServer(databaseUrl, async (client) => {
    // A test may have left a lock, or a table of a million rows.
    await client.query(`SET lock_timeout = '2s'; SET statement_timeout = '20s'`);
    const pattern = [...PATTERNS, ...(await knownSecrets(client, databaseUrl)).flatMap(formsOf)].join('|');
    const found = await inTables(client, pattern);
    for (const { place, text } of texts) {
      const matches = [...text().matchAll(new RegExp(pattern, 'g'))].map(([match]) => match).filter(isSecret);
      found.push(...matches.map((match) => `${match.slice(0, 24)}… in ${place}`));
    }
    return [...new Set(found)].slice(0, MAX_FINDINGS);
  });
}

/** Fails the run where a secret is found: an error in a hook alone is not always seen. */
export async function reportSecrets(databaseUrl: string): Promise<void> {
  // A test may have closed its database, or left a lock or a table that is too large. A spec proves that the search works.
  const found = await findSecrets(databaseUrl).catch(() => []);
  if (found.length === 0) return;
  // Jest's global and not its module, which a script of a test cannot import.
  const { expect } = globalThis as { expect?: { getState(): { testPath?: string } } };
  const report = `${expect?.getState().testPath ?? 'a script of a test'}: ${found.join(', ')}`;
  const { folder } = JSON.parse(process.env[TEST_SERVER_VARIABLE] ?? '{}') as TestServer;
  appendFileSync(join(folder, FINDINGS_FILE), `${report}\n`);
  throw new Error(`secrets in clear: ${report}`);
}

async function inTables(client: pg.Client, pattern: string): Promise<string[]> {
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
       AND pg_relation_size(c.oid) > 0`,
  );
  if (tables.length === 0) return [];
  const searches = tables.map(({ name }) => {
    // A partition has the columns of its table.
    const exempt = EXEMPT[name.replace(/_(\d{6}|rest)$/, '')];
    const text = exempt === undefined ? 't::text' : `(to_jsonb(t) - '{${exempt.join(',')}}'::text[])::text`;
    const sample = `SELECT ${text} AS row FROM "${name}" AS t LIMIT ${MAX_ROWS}`;
    return `(SELECT '${name}' AS name, substring(row from $1) AS found FROM (${sample}) s WHERE row ~ $1 LIMIT 2)`;
  });
  const { rows } = await client.query<{ name: string; found: string }>(searches.join(' UNION ALL '), [
    `(${pattern.replaceAll('(', '(?:')})`,
  ]);
  return rows
    .filter(({ found }) => isSecret(found))
    .map(({ name, found }) => `${found.slice(0, 24)}… in table ${name}`);
}

/** Encrypted text in base64url has the form of a key once in 20,000 times; the checksum of a key separates them. */
function isSecret(found: string): boolean {
  if (found.startsWith('hb_')) return isWellFormedKey(found);
  return !found.startsWith('68625f') || isWellFormedKey(Buffer.from(found, 'hex').toString());
}

/** The admin token, `SECRETS_KEY`, the password of the database, and the keys of the connections. */
async function knownSecrets(client: pg.Client, databaseUrl: string): Promise<string[]> {
  const { rows: found } = await client.query(`SELECT to_regclass('public.connections') AS name`);
  const { rows } =
    (found as { name: string | null }[])[0]?.name == null
      ? { rows: [] }
      : await client.query<{ id: string; sealed: string }>(
          `SELECT id, unnest(ARRAY[sealed_key, sealed_next_key]) AS sealed FROM connections`,
        );
  const keys = rows.flatMap(({ id, sealed }) => {
    try {
      return openKey(Buffer.from(TEST_SECRETS_KEY, 'hex'), id, sealed);
    } catch {
      // Sealed with another key, damaged by a test, or none.
      return [];
    }
  });
  const partnerKeys = keys.filter((key) => key.length >= MIN_PARTNER_KEY && !key.startsWith('hb_'));
  return [TEST_ADMIN_TOKEN, TEST_SECRETS_KEY, new URL(databaseUrl).password, ...new Set(partnerKeys)];
}

const formsOf = (secret: string): string[] =>
  [secret, Buffer.from(secret).toString('base64').replace(/=+$/, '')].map((form) =>
    form.replace(/[^0-9A-Za-z]/g, (character) => `\\${character}`),
  );
