import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { onServer } from './test-run.js';

/** Fills an empty database with that of a release: `pg_dump --no-owner --no-acl --inserts` of a service with its demo. */
export async function loadRelease(url: string, version: '0.2.0'): Promise<void> {
  const sql = readFileSync(join(import.meta.dirname, `../fixtures/${version}.sql`), 'utf8');
  await onServer(url, (client) => client.query(sql));
}
