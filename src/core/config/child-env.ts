import { STORAGE_VARIABLES } from './secret-texts.js';

/** What a program needs to run as this one does. */
const COMMON = [
  'PATH',
  'TZ',
  'LANG',
  'LC_ALL',
  'LC_CTYPE',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SystemRoot',
  'NODE_COMPILE_CACHE',
];

/** Where the AWS SDK finds the credentials of a bucket, and how TLS to it is checked. */
const OF_S3 = [
  ...STORAGE_VARIABLES,
  ...[
    'AWS_REGION',
    'AWS_DEFAULT_REGION',
    'AWS_PROFILE',
    'AWS_CONFIG_FILE',
    'AWS_SHARED_CREDENTIALS_FILE',
    'HOME',
    'USERPROFILE',
  ],
  ...[
    'AWS_ROLE_ARN',
    'AWS_ROLE_SESSION_NAME',
    'AWS_WEB_IDENTITY_TOKEN_FILE',
    'AWS_CA_BUNDLE',
    'AWS_EC2_METADATA_DISABLED',
  ],
  ...[
    'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
    'AWS_CONTAINER_CREDENTIALS_FULL_URI',
    'AWS_CONTAINER_AUTHORIZATION_TOKEN',
  ],
  ...['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE', 'AWS_EC2_METADATA_SERVICE_ENDPOINT', 'AWS_STS_REGIONAL_ENDPOINTS'],
  ...[
    'AWS_ENDPOINT_URL',
    'AWS_ENDPOINT_URL_S3',
    'NODE_EXTRA_CA_CERTS',
    'NODE_TLS_REJECT_UNAUTHORIZED',
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
  ],
];

/** The environment of a child process, variable by variable: that of the service has its secrets. */
export const childEnv = (source: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv => pick(source, COMMON);

/** Of a child that reads the bucket. */
export const childEnvWithS3 = (source: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  pick(source, [...COMMON, ...OF_S3]);

const pick = (source: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(names.flatMap((name) => (source[name] === undefined ? [] : [[name, source[name]]])));
