import { ANSWER_TIMEOUT_MS, MAX_LIST_BYTES } from '../../contracts/common/answer-limits.js';
import {
  baseUrl,
  boolean,
  cellName,
  certificateFile,
  databaseUrl,
  duration,
  integer,
  key256,
  mailAddress,
  nameServers,
  oneOf,
  type Parse,
  rereadings,
  secret,
  setOf,
  size,
  string,
  trustedProxies,
  url,
} from './parse.js';
import { groupRoles, namedTokens } from './access-rules.js';
import { storageUrl } from './storage-url.js';

export interface Variable<T, D> {
  readonly parse: Parse<T>;
  readonly fallback: D;
  readonly meaning: string;
  /** The default in the table of docs/guides/operator.md; a test compares them. */
  readonly shownDefault: string;
}

const declare = <T, D extends T | undefined>(
  parse: Parse<T>,
  fallback: D,
  meaning: string,
  shownDefault = String(fallback),
): Variable<T, D> => ({ parse, fallback, meaning, shownDefault });

/** The only list of variables. `readEnv` computes the defaults that depend on other variables. */
export const VARIABLES = {
  PORT: declare(integer(0, 65_535), 3000, 'port to listen on (0: any free one)'),
  HOST: declare(string, '127.0.0.1', 'address to listen on', '127.0.0.1 (0.0.0.0 in the container image)'),
  SIDES: declare(
    setOf('platform', 'partner'),
    new Set(['platform', 'partner'] as const),
    'which sides this instance serves',
    'platform,partner',
  ),
  CELL: declare(
    cellName,
    undefined,
    'name of this cell: new keys begin with `hb_<cell>_`, by which a proxy finds it',
    'none',
  ),
  DATABASE_URL: declare(databaseUrl, undefined, 'PostgreSQL to use', 'embedded PostgreSQL under DATA_DIR'),
  DATABASE_CA: declare(
    certificateFile,
    undefined,
    'file of certificates (PEM) that sign the one of the database: the connections use TLS',
    'those of the system, where DATABASE_URL has `sslmode`',
  ),
  EMBEDDED_DATABASE: declare(
    boolean,
    false,
    'with NODE_ENV=production: accept the embedded database in place of DATABASE_URL',
  ),
  DATABASE_POOL: declare(
    integer(2, 200),
    10,
    'database connections of one instance; up to twelve more for pushes, synchronisations and the exchange log',
  ),
  DATA_DIR: declare(string, './data', 'embedded database, video files, generated secrets'),
  STORAGE_URL: declare(storageUrl, undefined, 'where videos are stored', 'file:DATA_DIR/videos'),
  ADMIN_TOKEN: declare(
    secret,
    undefined,
    'bearer token of the admin API and /metrics',
    'generated with the embedded database, else required',
  ),
  ADMIN_READ_TOKEN: declare(
    secret,
    undefined,
    'a second bearer token of the admin API and /metrics, which may only read',
    'none',
  ),
  ADMIN_TOKENS: declare(
    namedTokens,
    undefined,
    'tokens with a role: `name:token:role`, separated by commas; `role@<hauler id>+<hauler id>` limits to haulers',
    'none',
  ),
  OIDC_ISSUER: declare(
    baseUrl,
    undefined,
    'issuer of the identity provider: people sign in to the console there',
    'none',
  ),
  OIDC_CLIENT_ID: declare(string, undefined, 'id of this service at the identity provider', 'none'),
  OIDC_CLIENT_SECRET: declare(string, undefined, 'secret of this service at the identity provider', 'none'),
  OIDC_ROLE_CLAIM: declare(
    string,
    'groups',
    'claim with the groups of a person; `realm_access.roles` is one within another',
  ),
  OIDC_ROLES: declare(
    groupRoles,
    undefined,
    'roles of groups: `viewer=group,operator=group,admin=group`; `group@<hauler id>+<hauler id>` limits to haulers',
    'none',
  ),
  SECRETS_KEY: declare(
    key256,
    undefined,
    'encrypts the keys that partners issued to the platform; signs download links',
    'generated with the embedded database, else required',
  ),
  DEMO: declare(
    boolean,
    undefined,
    'demo hauler, keys, partner data and connections',
    'true with the embedded database outside production, else false',
  ),
  OUTBOUND: declare(
    oneOf('on', 'off'),
    'on',
    'off: no partner is called, no file is fetched and no webhook is sent; due work waits, as for a copy of a database',
  ),
  OUTBOUND_ALLOW_PRIVATE: declare(
    boolean,
    undefined,
    'allow http and private addresses in outbound calls (decision 50)',
    'true with DEMO outside production, else false',
  ),
  OUTBOUND_NAME_SERVERS: declare(
    nameServers,
    undefined,
    'name servers that resolve the hosts of outbound calls, separated by commas',
    'those of the system',
  ),
  EXCHANGE_LOG: declare(oneOf('all', 'failures', 'off'), 'all', 'which HTTP exchanges are stored'),
  EXCHANGE_BODY_LIMIT: declare(size('0b', '1mb'), 16_384, 'how much of each body of an exchange is stored', '16kb'),
  EXCHANGE_MAX_BYTES_PER_DAY: declare(
    size('1kb', '1000gb'),
    10 * 1024 ** 3,
    'how much is stored of the exchanges of a day (UTC), by all instances together',
    '10gb',
  ),
  EXCHANGE_RETENTION_DAYS: declare(integer(1, 3650), 14, 'how many days exchanges are stored'),
  SANDBOX: declare(boolean, undefined, 'scenarios and clock of the sandbox; without it their paths are 404', 'as DEMO'),
  PUBLIC_URL: declare(
    baseUrl,
    undefined,
    'the address in download links and errors',
    'the host of the request; required in production with the partner side, unless HOST is a loopback address',
  ),
  TRUST_PROXY: declare(
    trustedProxies,
    undefined,
    'whose `X-Forwarded-*` headers count: a number of proxies, or their addresses and networks, separated by commas',
    'none',
  ),
  HTTP_KEEP_ALIVE: declare(
    duration('1s', '1d'),
    620_000,
    'time that an idle connection stays open: longer than the same time of a load balancer in front',
    '620s',
  ),
  HTTP_BODY_LIMIT: declare(
    size('1b', '2gb'),
    1_048_576,
    'maximum size of a JSON body (site data of the partner side: always 32 MiB)',
    '1mb',
  ),
  RATE_LIMIT_PER_MINUTE: declare(integer(0, 1_000_000), 0, 'requests per API key, minute and instance (0: off)'),
  PARTNER_CONNECT_TIMEOUT: declare(
    duration('1ms', '1d'),
    5_000,
    "timeout for connecting to a partner's API or to the host of a file",
    '5s',
  ),
  PARTNER_ANSWER_TIMEOUT: declare(
    duration('1ms', '1d'),
    ANSWER_TIMEOUT_MS,
    "timeout for the complete answer of a partner's API",
    '60s',
  ),
  PARTNER_BODY_LIMIT: declare(
    size('1b', '2gb'),
    MAX_LIST_BYTES,
    "maximum size of an answer of a partner's API",
    '256mb',
  ),
  VISION_LINK_TTL: declare(
    duration('1ms', '365d'),
    8 * 3_600_000,
    'time until a download link of the partner side expires',
    '8h',
  ),
  VISION_MAX_CLIP_MINUTES: declare(integer(1, 1440), 60, 'maximum length of an on-demand clip'),
  VISION_REQUEST_DEADLINE: declare(
    duration('1ms', '365d'),
    24 * 3_600_000,
    'time after which a video request without a clip expires',
    '24h',
  ),
  VISION_REREAD: declare(
    rereadings,
    rereadings('15m/0 6h/1h 3d/1d 14d/7d'),
    'how far back continuous recordings are listed again / how often (0: at each reading)',
    '15m/0 6h/1h 3d/1d 14d/7d',
  ),
  VIDEO_RETENTION_DAYS: declare(
    integer(0, 36_500),
    0,
    'delete stored video older than this (0: never), of haulers without a retention of their own; a change counts for new haulers alone',
  ),
  VIDEO_ROWS_DAYS: declare(
    integer(0, 36_500),
    400,
    'delete the rows of recordings that began that long ago and which nothing keeps: no file, no hold, no hauler that keeps for ever (0: never)',
  ),
  VISION_DOWNLOAD_DEADLINE: declare(
    duration('1ms', '365d'),
    7 * 24 * 3_600_000,
    'time after which a recording that cannot be fetched is given up; clips end at their own deadline',
    '7d',
  ),
  VISION_FIRST_BYTE_TIMEOUT: declare(
    duration('1ms', '1h'),
    120_000,
    'time that the host of a file has for its answer, and then for the first byte: cameras wake up slowly',
    '120s',
  ),
  DOWNLOAD_CONCURRENCY: declare(integer(1, 256), 16, 'files that this instance receives at once'),
  DOWNLOAD_CONCURRENCY_PER_CONNECTION: declare(integer(1, 64), 4, 'files of one connection that are fetched at once'),
  SMTP_URL: declare(
    url('smtp', 'smtps'),
    undefined,
    'mail server for webhook endpoints of the format `email`, with user and password',
    'none: such endpoints cannot be created',
  ),
  SMTP_FROM: declare(mailAddress, 'haulbridge@localhost', 'sender of these mails'),
  WEBHOOK_RETENTION_DAYS: declare(integer(1, 365), 14, 'how many days ended webhook deliveries are stored'),
  SHUTDOWN_DRAIN: declare(
    duration('0ms', '1d'),
    undefined,
    'time that a stop still serves requests while `/health/ready` is 503',
    '5s in production, else 0',
  ),
  SHUTDOWN_GRACE: declare(
    duration('0ms', '1d'),
    10_000,
    'time that a stop then waits for requests and work in progress',
    '10s',
  ),
  LOG_LEVEL: declare(
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'info',
    'minimum level of the log lines that are written',
  ),
  LOG_ACCESS: declare(
    oneOf('all', 'failures'),
    undefined,
    'which requests have a line in the log: all, or those with a status from 400 on',
    'all; `failures` with DEMO',
  ),
  MIGRATE_ON_START: declare(boolean, true, 'apply pending migrations at the start'),
} as const;
