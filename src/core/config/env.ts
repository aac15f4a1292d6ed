import { join, resolve } from 'node:path';
import { tokenFaults } from './access-rules.js';
import { checksNoCertificate, EnvError, withTls } from './parse.js';
import { oidcFaults, type OidcSettings, oidcSettings } from './oidc-settings.js';
import { readSecretFiles, WITHOUT_SECRET_FILES } from './secret-files.js';
import { StartupError } from './startup-error.js';
import { type Variable, VARIABLES } from './variables.js';
import { type DynamicModule, Module } from '@nestjs/common';

/** The default of SHUTDOWN_DRAIN in production: load balancers need two or three of their health checks. */
const DRAIN_MS = 5_000;

type Declared = typeof VARIABLES;
type Parsed = { [K in keyof Declared]: Declared[K] extends Variable<infer T, infer D> ? T | D : never };
export type Side = 'platform' | 'partner';

/** The configuration. All parts of the service read it instead of the environment. */
export interface Env extends Omit<
  Parsed,
  'STORAGE_URL' | 'DEMO' | 'SANDBOX' | 'OUTBOUND_ALLOW_PRIVATE' | 'SHUTDOWN_DRAIN' | 'LOG_ACCESS'
> {
  readonly STORAGE_URL: string;
  readonly DEMO: boolean;
  readonly SANDBOX: boolean;
  readonly OUTBOUND_ALLOW_PRIVATE: boolean;
  readonly SHUTDOWN_DRAIN: number;
  readonly LOG_ACCESS: 'all' | 'failures';
  /** Undefined without OIDC_ISSUER. */
  readonly OIDC: OidcSettings | undefined;
  /** No DATABASE_URL: this process runs a PostgreSQL of its own under DATA_DIR. */
  readonly EMBEDDED: boolean;
  /** Started by `npm run start:prod` or with NODE_ENV=production. */
  readonly IN_PRODUCTION: boolean;
}

/** The configuration with the address of the database and the secrets (`resolveEnv`). */
export type ResolvedEnv = Env & {
  readonly DATABASE_URL: string;
  readonly ADMIN_TOKEN: string;
  readonly SECRETS_KEY: Buffer;
};

/** Injection token of `ResolvedEnv`. */
export const ENV = Symbol('ENV');

export class InvalidEnvironmentError extends StartupError {
  constructor(readonly faults: readonly string[]) {
    super(
      `The environment has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`,
    );
    this.name = 'InvalidEnvironmentError';
  }
}

/**
 * Reads the configuration, or throws `InvalidEnvironmentError` with all faults. A fault never contains the value, which may be
 * secret. An empty variable counts as absent, because compose files pass unset variables as empty.
 *
 * In production nothing is open by default (decision 53): the embedded database, the demo and private outbound addresses
 * must be switched on by name.
 */
export function readEnv(environment: NodeJS.ProcessEnv = process.env): Env {
  const { source, faults: fileFaults } = readSecretFiles(environment);
  const faults = [...fileFaults];
  const parsed: Record<string, unknown> = {};
  for (const [name, variable] of Object.entries(VARIABLES)) {
    const text = source[name]?.trim();
    parsed[name] = variable.fallback;
    if (text === undefined || text === '') continue;
    try {
      parsed[name] = variable.parse(text);
    } catch (error) {
      if (!(error instanceof EnvError)) throw error;
      faults.push(`${name} ${error.message}`);
    }
  }
  const values = parsed as Parsed;
  const embedded = !source['DATABASE_URL']?.trim();
  if (!embedded) {
    for (const name of ['ADMIN_TOKEN', 'SECRETS_KEY'] as const) {
      if (!source[name]?.trim()) faults.push(`${name} is required with DATABASE_URL`);
    }
  }
  const isNodeProduction = source['NODE_ENV']?.trim() === 'production';
  if (embedded && isNodeProduction && !values.EMBEDDED_DATABASE) {
    faults.push(
      'DATABASE_URL is required with NODE_ENV=production; set EMBEDDED_DATABASE=true to use the embedded database on purpose',
    );
  }
  const inProduction = isNodeProduction || source['npm_lifecycle_event'] === 'start:prod';
  if (inProduction && values.SIDES.has('partner') && !isLoopback(values.HOST) && !source['PUBLIC_URL']?.trim()) {
    faults.push('PUBLIC_URL is required in production with the partner side, unless HOST is a loopback address');
  }
  if (
    values.DATABASE_CA !== undefined &&
    values.DATABASE_URL !== undefined &&
    checksNoCertificate(values.DATABASE_URL)
  ) {
    faults.push('DATABASE_CA is not used with sslmode=disable or no-verify in DATABASE_URL: remove one of the two');
  }
  const dataDir = resolve(values.DATA_DIR);
  const demo = values.DEMO ?? (embedded && !inProduction);
  const allowsPrivate = values.OUTBOUND_ALLOW_PRIVATE ?? (demo && !inProduction);
  faults.push(...tokenFaults(values), ...oidcFaults(values, (name) => !source[name]?.trim(), allowsPrivate));
  if (faults.length > 0) throw new InvalidEnvironmentError(faults);
  return {
    ...values,
    DATA_DIR: dataDir,
    EMBEDDED: embedded,
    IN_PRODUCTION: inProduction,
    DATABASE_URL: values.DATABASE_URL && withTls(values.DATABASE_URL, values.DATABASE_CA),
    STORAGE_URL: values.STORAGE_URL ?? `file:${join(dataDir, 'videos')}`,
    DEMO: demo,
    SANDBOX: values.SANDBOX ?? demo,
    LOG_ACCESS: values.LOG_ACCESS ?? (demo ? 'failures' : 'all'),
    OUTBOUND_ALLOW_PRIVATE: allowsPrivate,
    OIDC: oidcSettings(values),
    SHUTDOWN_DRAIN: values.SHUTDOWN_DRAIN ?? (inProduction ? DRAIN_MS : 0),
  };
}

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);

/** Provides the resolved configuration as `ENV`. */
@Module({})
export class ConfigModule {
  static of(env: ResolvedEnv): DynamicModule {
    return { module: ConfigModule, global: true, providers: [{ provide: ENV, useValue: env }], exports: [ENV] };
  }
}

/** What a command beside the service needs of its configuration. */
type CommandEnv = Pick<Env, 'DATA_DIR' | 'DATABASE_URL'>;

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
