import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { VARIABLES } from './env.js';

/** The address and admin token of a service, for a command on the same machine. */
export interface LocalService {
  readonly url: string;
  readonly token: string | undefined;
}

const ADDRESS_FILE = 'service.json';

/** Stores the address of a service with an embedded database, so that `npm run cli` finds it on any port. */
export function storeServiceAddress(dataDir: string, url: string): void {
  writeFileSync(join(dataDir, ADDRESS_FILE), `${JSON.stringify({ url })}\n`);
}

/**
 * HAULBRIDGE_URL and HAULBRIDGE_TOKEN; else, with an embedded database, the files in DATA_DIR; else ADMIN_TOKEN and the
 * default address with PORT.
 */
export function findLocalService(env: NodeJS.ProcessEnv = process.env): LocalService {
  const given = (name: string) => env[name]?.trim() || undefined;
  const dataDir = resolve(given('DATA_DIR') ?? VARIABLES.DATA_DIR.fallback);
  const stored = (file: string, field: string) =>
    given('DATABASE_URL') === undefined ? readField(join(dataDir, file), field) : undefined;
  const defaultUrl = `http://127.0.0.1:${given('PORT') ?? VARIABLES.PORT.fallback}`;
  return {
    url: given('HAULBRIDGE_URL') ?? stored(ADDRESS_FILE, 'url') ?? defaultUrl,
    token: given('HAULBRIDGE_TOKEN') ?? given('ADMIN_TOKEN') ?? stored('secrets.json', 'adminToken'),
  };
}

function readField(file: string, field: string): string | undefined {
  try {
    const value = (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>)[field];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
