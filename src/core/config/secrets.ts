import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env, ResolvedEnv } from './env.js';
import { StartupError } from './startup-error.js';

interface Secrets {
  readonly adminToken: string;
  /** 32 bytes in hex. */
  readonly secretsKey: string;
}

/**
 * The secrets of an embedded database: generated once, stored in `DATA_DIR/secrets.json` (mode 0600). A secret in the
 * environment overrides the stored one, which is not changed.
 */
export function resolveSecrets(env: Env): Pick<ResolvedEnv, 'ADMIN_TOKEN' | 'SECRETS_KEY'> {
  if (env.ADMIN_TOKEN !== undefined && env.SECRETS_KEY !== undefined) {
    return { ADMIN_TOKEN: env.ADMIN_TOKEN, SECRETS_KEY: env.SECRETS_KEY };
  }
  const file = join(env.DATA_DIR, 'secrets.json');
  const kept = readSecrets(file) ?? writeSecrets(file);
  return {
    ADMIN_TOKEN: env.ADMIN_TOKEN ?? kept.adminToken,
    SECRETS_KEY: env.SECRETS_KEY ?? Buffer.from(kept.secretsKey, 'hex'),
  };
}

function readSecrets(file: string): Secrets | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StartupError(`${file} cannot be read by this user: ${(error as Error).message}.`, { cause: error });
  }
  const secrets = parseSecrets(text);
  // With a new key the partner keys that the old one sealed would be lost.
  if (secrets === undefined) {
    throw new StartupError(`${file} is damaged: restore it, or set ADMIN_TOKEN and SECRETS_KEY.`);
  }
  chmodSync(file, 0o600);
  return secrets;
}

function parseSecrets(text: string): Secrets | undefined {
  try {
    const { adminToken, secretsKey } = JSON.parse(text) as Partial<Secrets>;
    if (typeof adminToken !== 'string' || adminToken.length < 16) return undefined;
    if (typeof secretsKey !== 'string' || !/^[0-9a-f]{64}$/.test(secretsKey)) return undefined;
    return { adminToken, secretsKey };
  } catch {
    return undefined;
  }
}

/** Writes a draft and renames it, so that the file is always complete and was never readable by other users. */
function writeSecrets(file: string): Secrets {
  const secrets = { adminToken: randomBytes(24).toString('base64url'), secretsKey: randomBytes(32).toString('hex') };
  const draft = `${file}.${process.pid}`;
  const handle = openSync(draft, 'w', 0o600);
  try {
    writeFileSync(handle, `${JSON.stringify(secrets, undefined, 2)}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(draft, file);
  return secrets;
}
