import { type Env, readEnv } from './env.js';
import { readSecretFiles, WITHOUT_SECRET_FILES } from './secret-files.js';

/** What a command beside the service needs of its configuration. */
export type CommandEnv = Pick<Env, 'DATA_DIR' | 'DATABASE_URL'>;

/** Valid values for what the service needs and a command does not. */
const UNUSED = { ADMIN_TOKEN: 'not-used-by-commands', SECRETS_KEY: '0'.repeat(64), SIDES: 'platform' };

/** The configuration as the service has it. Throws `StartupError`. */
export function readCommandEnv(source: NodeJS.ProcessEnv = process.env): CommandEnv {
  // With the contents of DATABASE_URL_FILE and others in their variables; `readEnv` reports files that cannot be read.
  const { source: variables, faults } = readSecretFiles(source);
  return readEnv(faults.length > 0 ? source : { ...variables, ...WITHOUT_SECRET_FILES, ...UNUSED });
}

/** `DATABASE_URL` or the content of its file, without what the service makes of it. */
export const givenDatabaseUrl = (source: NodeJS.ProcessEnv = process.env): string | undefined =>
  readSecretFiles(source).source['DATABASE_URL']?.trim() || undefined;
