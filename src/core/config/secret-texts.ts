import type { ResolvedEnv } from './env.js';

/** A shorter one, such as the password `postgres` of a developer's database, may be a word of any text. */
const MIN_LENGTH = 12;

/** Credentials of the storage, which the AWS SDK reads by itself. */
const STORAGE_VARIABLES = ['AWS_SECRET_ACCESS_KEY', 'AWS_ACCESS_KEY_ID', 'AWS_SESSION_TOKEN'];

type SecretVariables = Pick<
  ResolvedEnv,
  | 'ADMIN_TOKEN'
  | 'ADMIN_READ_TOKEN'
  | 'ADMIN_TOKENS'
  | 'OIDC_CLIENT_SECRET'
  | 'SECRETS_KEY'
  | 'DATABASE_URL'
  | 'SMTP_URL'
>;

/** The secrets of a configuration, as far as they are known. */
export function secretTexts(env: Partial<SecretVariables>): string[] {
  const {
    ADMIN_TOKEN,
    ADMIN_READ_TOKEN,
    ADMIN_TOKENS = [],
    OIDC_CLIENT_SECRET,
    SECRETS_KEY,
    DATABASE_URL,
    SMTP_URL,
  } = env;
  const secrets = [
    ADMIN_TOKEN,
    ADMIN_READ_TOKEN,
    ...ADMIN_TOKENS.map(({ token }) => token),
    OIDC_CLIENT_SECRET,
    SECRETS_KEY?.toString('hex'),
    SECRETS_KEY?.toString('base64'),
    ...passwordsIn(DATABASE_URL),
    ...passwordsIn(SMTP_URL),
    ...STORAGE_VARIABLES.map((name) => process.env[name]),
  ];
  return secrets.flatMap((secret = '') => (secret.length < MIN_LENGTH ? [] : secret));
}

/** As it stands in the address, and decoded. */
function passwordsIn(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const { password } = new URL(url);
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
