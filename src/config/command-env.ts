import { type Env, readEnv } from './env.js';
import { EnvError, key256 } from './parse.js';
import { readSecretFiles, WITHOUT_SECRET_FILES } from './secret-files.js';
import { storedSecretsKey } from './secrets.js';
import { StartupError } from './startup-error.js';

/** What a command needs of the configuration of the service. */
export interface CommandEnv extends Pick<Env, 'DATA_DIR' | 'STORAGE_URL' | 'DATABASE_URL' | 'EMBEDDED' | 'CELL'> {
  /** Undefined if this machine does not have it. */
  readonly secretsKey: Buffer | undefined;
}

/** Valid values for what the service needs and a command does not. */
const UNUSED = { ADMIN_TOKEN: 'not-used-by-commands', SIDES: 'platform' };

/**
 * The configuration as the service has it. `databaseUrl` is another database than the one of the service: then the key in DATA_DIR
 * counts too, because a wrong one is refused.
 */
export function readCommandEnv(databaseUrl?: string, source: NodeJS.ProcessEnv = process.env): CommandEnv {
  // With the contents of SECRETS_KEY_FILE and others in their variables; `readEnv` reports files that cannot be read.
  const { source: variables, faults } = readSecretFiles(source);
  const given = variables['SECRETS_KEY']?.trim() ?? '';
  const own = {
    ...UNUSED,
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    SECRETS_KEY: given === '' ? '0'.repeat(64) : given,
  };
  const env = readEnv(faults.length > 0 ? source : { ...variables, ...WITHOUT_SECRET_FILES, ...own });
  const isInFolder = given === '' && (env.EMBEDDED || databaseUrl !== undefined);
  return {
    ...env,
    secretsKey: isInFolder ? storedSecretsKey(env.DATA_DIR) : given === '' ? undefined : env.SECRETS_KEY,
  };
}

/** `SOURCE_SECRETS_KEY` or the content of `SOURCE_SECRETS_KEY_FILE`: the key of the cell that a hauler comes from. */
export function sourceSecretsKey(source: NodeJS.ProcessEnv = process.env): Buffer | undefined {
  const text = readSecretFiles(source).source['SOURCE_SECRETS_KEY']?.trim() ?? '';
  try {
    return text === '' ? undefined : key256(text);
  } catch (error) {
    throw error instanceof EnvError ? new StartupError(`SOURCE_SECRETS_KEY ${error.message}`) : error;
  }
}
