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

/** Beside `AWS_…`: where the AWS SDK finds the credentials of a bucket, and how TLS to it is checked. */
const OF_S3 = [
  'HOME',
  'USERPROFILE',
  'NODE_EXTRA_CA_CERTS',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

/** The environment of a child process, variable by variable: that of the service has its secrets. */
export const childEnv = (source: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  pick(source, (name) => COMMON.includes(name));

/** Of a child that reads the bucket. */
export const childEnvWithS3 = (source: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv =>
  pick(source, (name) => COMMON.includes(name) || OF_S3.includes(name) || name.startsWith('AWS_'));

const pick = (source: NodeJS.ProcessEnv, isNeeded: (name: string) => boolean): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(source).filter(([name]) => isNeeded(name)));
