import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { PRIVATE_FILE } from './private-modes.js';
import { readSecretFiles } from './secret-files.js';
import { VARIABLES } from './variables.js';

/** The service that a command calls by default. */
export interface LocalService {
  readonly url: string;
  /** The admin token of the service at `url`. It must not be sent to another address. */
  readonly token: string | undefined;
  /** A token that the user gave without an address: it is for the address that a command names. */
  readonly givenToken?: string | undefined;
}

const ADDRESS_FILE = 'service.json';

/** Stores the address of a service with an embedded database, so that `npm run cli` finds it on any port. */
export function storeServiceAddress(dataDir: string, url: string): void {
  writeFileSync(join(dataDir, ADDRESS_FILE), `${JSON.stringify({ url })}\n`, { mode: PRIVATE_FILE });
}

/**
 * HAULBRIDGE_URL and HAULBRIDGE_TOKEN (or HAULBRIDGE_TOKEN_FILE); else, with an embedded database, the files in DATA_DIR; else ADMIN_TOKEN and the
 * default address with PORT. A token found on this machine does not belong to another address in HAULBRIDGE_URL.
 */
export function findLocalService(environment: NodeJS.ProcessEnv = process.env): LocalService {
  const env = readSecretFiles(environment).source;
  const given = (name: string) => env[name]?.trim() || undefined;
  const dataDir = resolve(given('DATA_DIR') ?? VARIABLES.DATA_DIR.fallback);
  const stored = (file: string, field: string) =>
    given('DATABASE_URL') === undefined ? readField(join(dataDir, file), field) : undefined;
  const localUrl = stored(ADDRESS_FILE, 'url') ?? `http://127.0.0.1:${given('PORT') ?? VARIABLES.PORT.fallback}`;
  const localToken = given('ADMIN_TOKEN') ?? stored('secrets.json', 'adminToken');
  const [url, token] = [given('HAULBRIDGE_URL'), given('HAULBRIDGE_TOKEN')];
  if (url === undefined) return { url: localUrl, token: localToken, givenToken: token };
  return { url, token: token ?? (isSameOrigin(url, localUrl) ? localToken : undefined) };
}

const isSameOrigin = (a: string, b: string): boolean =>
  URL.canParse(a) && URL.canParse(b) && new URL(a).origin === new URL(b).origin;

function readField(file: string, field: string): string | undefined {
  try {
    const value = (JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>)[field];
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}
