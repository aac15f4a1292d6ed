import { closeSync, openSync, readFileSync } from 'node:fs';
import { isJsonObject } from '../contracts/common/json.js';
import { type Report, RULE_ID } from './report/report.js';
import { parseArgs } from 'node:util';
import { ANSWER_TIMEOUT_MS } from '../contracts/common/answer-limits.js';
import { parseInstant } from '../contracts/common/instant.js';
import { readSecret, SecretInputError } from '../core/text/secret-input.js';
import { isUuid, withoutFinalSlashes } from '../contracts/common/text.js';
import { CLIENT_ROLES, REMOVED_ROLES, ROLE_NAMES } from './roles.js';
import type { Fixtures } from './rule.js';

/** The files that a command line names. */

/** A wrong call. The message is shown to the user. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A value of the user for a message. */
const quoted = (value: string): string => JSON.stringify(value.slice(0, 100));

/** Checked before the run, because the report is written after it. */
function checkWritable(file: string): void {
  try {
    closeSync(openSync(file, 'a'));
  } catch (error) {
    throw new UsageError(`--out ${file} cannot be written: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`);
  }
}

const FIXTURE_FIELDS = ['haulerId', 'customerId', 'truckId', 'cameraId', 'from', 'to', 'siteId', 'materialId'];

function readFixtureFile(file: string): Record<string, string> {
  const content = readJson(file, '--fixtures');
  if (!isJsonObject(content)) throw new UsageError(`--fixtures ${file} must be a JSON object`);
  for (const [name, value] of Object.entries(content)) {
    if (!FIXTURE_FIELDS.includes(name))
      throw new UsageError(
        `--fixtures ${file}: unknown name ${quoted(name)}; the names are ${FIXTURE_FIELDS.join(', ')}`,
      );
    if (typeof value !== 'string') throw new UsageError(`--fixtures ${file}: ${name} must be text`);
  }
  return content as Record<string, string>;
}

function readText(file: string, option: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(
      `${option} ${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`,
    );
  }
}

function readJson(file: string, option: string): unknown {
  const content = readText(file, option);
  try {
    return JSON.parse(content) as unknown;
  } catch {
    throw new UsageError(`${option} ${file} is not JSON`);
  }
}

function readReport(file: string, option: string): Report {
  const report = readJson(file, option);
  if (!isReport(report)) throw new UsageError(`${option} ${file} is not a JSON report of this kit`);
  return report;
}

const isReport = (value: unknown): value is Report =>
  isJsonObject(value) &&
  Array.isArray(value['rules']) &&
  value['rules'].every(
    (rule) => isJsonObject(rule) && typeof rule['id'] === 'string' && typeof rule['outcome'] === 'string',
  );

/** The failed rules of a report, or the ids of a text with one id a line; `#` begins a comment. */
function readBaseline(file: string): readonly string[] {
  const content = readText(file, '--baseline');
  if (content.trimStart().startsWith('{')) {
    return readReport(file, '--baseline').rules.flatMap(({ id, outcome }) => (outcome === 'failed' ? [id] : []));
  }
  const ids = content.split('\n').map((line) => line.replace(/#.*/, '').trim());
  const wrong = ids.find((id) => id !== '' && !RULE_ID.test(id));
  if (wrong !== undefined) throw new UsageError(`--baseline ${file}: ${quoted(wrong)} is not the id of a rule`);
  return ids.filter((id) => id !== '');
}

export const FORMATS = ['text', 'json', 'junit', 'html'] as const;
export type Format = (typeof FORMATS)[number];

/** The values of a call. Only a run needs `role`, `apiKey` and, of a server role, `url`. */
export interface Options {
  readonly list: boolean;
  readonly help: boolean;
  readonly role: string;
  readonly url: string;
  readonly apiKey: string;
  readonly fixtures: Fixtures;
  readonly write: boolean;
  readonly format: Format;
  readonly out: string | undefined;
  /** Ids of rules that are known to fail. */
  readonly baseline: readonly string[] | undefined;
  readonly compare: Report | undefined;
  readonly timeoutMs: number;
  /** Where the kit of a client role listens. */
  readonly listen: { readonly host: string; readonly port: number };
}

const TEXT = { type: 'string' } as const;
const FLAG = { type: 'boolean', default: false } as const;
const FIXTURE_OPTIONS = {
  'hauler-id': TEXT,
  'customer-id': TEXT,
  'truck-id': TEXT,
  'camera-id': TEXT,
  from: TEXT,
  to: TEXT,
} as const;
const OPTIONS = {
  ...FIXTURE_OPTIONS,
  role: TEXT,
  url: TEXT,
  'api-key': TEXT,
  fixtures: TEXT,
  format: { type: 'string', default: 'text' },
  out: TEXT,
  baseline: TEXT,
  compare: TEXT,
  timeout: TEXT,
  listen: TEXT,
  write: FLAG,
  list: FLAG,
  help: FLAG,
} as const;
const MAX_TIMEOUT_MS = 600_000;
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, '': 1_000 };

export const USAGE = `Usage: haulbridge-conformance --role ROLE --url URL --api-key KEY [options]

Checks a server, or a client, against the specification of the four interfaces. The role is that of your side: for a client
role the kit listens, acts as the other side, injects faults, and checks the calls of your client.

  --role ROLE          ${ROLE_NAMES.join(', ')}
  --listen [HOST:]PORT for a client role: where the kit listens; default host: 127.0.0.1
  --url URL            for a server role: base address of the server; a path in it precedes the path of the interface
  --api-key KEY        the key that the server accepts, or that the client must send; - reads it from standard input,
                       @FILE from a file
  --hauler-id UUID     the hauler whose data the kit requests (site-server)
  --customer-id TEXT   the customer (vision-server), which the key must open: a key of haulbridge opens this one, or was
                       issued with allCustomers; default: the hauler
  --truck-id TEXT      a truck with recordings; default: the truck of the first clip
  --camera-id TEXT     a camera of that truck; default: the camera of the first recording
  --from, --to TIME    a range with recordings; default: the last 30 days
  --fixtures FILE      JSON with these names in camel case
  --write              also send requests that a server may store; what is stored is named after the run
  --format FORMAT      ${FORMATS.join(', ')}; default: text
  --out FILE           write the report to a file
  --baseline FILE      rules that are known to fail: an earlier JSON report, or one rule id a line
  --compare FILE       an earlier JSON report: show what has changed
  --timeout TIME       for one answer, such as 500ms, 10s, 1m; default: 60s, as the platform. For a client role: the run ends
                       when no call arrived for this time
  --list               print the rules and exit
  --help               print this text

Exit code: 0 nothing failed that the baseline does not name, 1 a rule failed, 2 wrong call.
`;

/** Reads the command line. Throws `UsageError`. */
export function readOptions(words: readonly string[]): Options {
  const values = parse(words);
  const { list, help, role, format, out, write } = values;
  if (role !== undefined && Object.hasOwn(REMOVED_ROLES, role))
    throw new UsageError(`--role ${role} is removed: ${REMOVED_ROLES[role]}`);
  if (role !== undefined && !ROLE_NAMES.includes(role))
    throw new UsageError(`--role must be one of ${ROLE_NAMES.join(', ')}, not ${quoted(role)}`);
  const isRun = !list && !help;
  const isClient = role !== undefined && Object.hasOwn(CLIENT_ROLES, role);
  if (isRun && role === undefined) throw new UsageError(`--role is required: ${ROLE_NAMES.join(', ')}`);
  if (!isFormat(format)) throw new UsageError(`--format must be one of ${FORMATS.join(', ')}, not ${quoted(format)}`);
  const fixtures = readFixtures(values);
  if (isRun && !isClient) requireFixtures(role, fixtures);
  const options = {
    list,
    help,
    role: role ?? '',
    format,
    fixtures,
    write,
    out,
    baseline: values.baseline === undefined ? undefined : readBaseline(values.baseline),
    compare: values.compare === undefined ? undefined : readReport(values.compare, '--compare'),
    url: isRun && !isClient ? readUrl(values.url) : '',
    apiKey: isRun ? readKey(values['api-key']) : '',
    listen: isRun && isClient ? readListen(values.listen) : { host: '', port: 0 },
    timeoutMs: readTimeout(values.timeout),
  };
  if (isRun && out !== undefined) checkWritable(out);
  return options;
}

type Values = ReturnType<typeof parse>;

function parse(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], strict: true, allowPositionals: false, options: OPTIONS }).values;
  } catch (error) {
    // The first sentence of the first line; the others are advice for positional arguments.
    throw new UsageError(((error as Error).message.split('. ')[0] ?? '').replace(/\n[^]*$/, ''));
  }
}

const isFormat = (value: string): value is Format => (FORMATS as readonly string[]).includes(value);

function readUrl(value: string | undefined): string {
  if (value === undefined) throw new UsageError('--url is required: the base address of the server');
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--url must be an http or https address, not ${quoted(value)}`);
  if (url.username !== '' || url.password !== '')
    throw new UsageError('--url must have no credentials: pass --api-key');
  if (url.search !== '' || url.hash !== '')
    throw new UsageError(`--url must have no query and no fragment: ${quoted(value)}`);
  return withoutFinalSlashes(`${url.origin}${url.pathname}`);
}

function readKey(text: string | undefined): string {
  if (text === undefined)
    throw new UsageError('--api-key is required: the key that the server accepts, or that the client must send');
  const value = readSecretOption(text);
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value))
    throw new UsageError('--api-key must be visible ASCII text');
  return value;
}

function readSecretOption(text: string): string {
  try {
    return readSecret(text);
  } catch (error) {
    throw error instanceof SecretInputError ? new UsageError(`--api-key: ${error.message}`) : error;
  }
}

function readFixtures(values: Values): Fixtures {
  const fixtures: Record<string, string> = values.fixtures === undefined ? {} : readFixtureFile(values.fixtures);
  for (const option of Object.keys(FIXTURE_OPTIONS) as (keyof typeof FIXTURE_OPTIONS)[]) {
    const value = values[option];
    if (value !== undefined) fixtures[option.replace(/-i/, 'I')] = value;
  }
  for (const name of ['haulerId', 'siteId', 'materialId']) {
    const value = fixtures[name];
    if (value !== undefined && !isUuid(value))
      throw new UsageError(`${name === 'haulerId' ? '--hauler-id' : name} must be a UUID, not ${quoted(value)}`);
  }
  for (const name of ['from', 'to']) {
    const value = fixtures[name];
    if (value !== undefined && parseInstant(value) === undefined) {
      throw new UsageError(
        `--${name} must be an RFC 3339 date-time such as 2026-01-31T08:30:00Z, not ${quoted(value)}`,
      );
    }
  }
  const { from, to } = fixtures;
  if (from !== undefined && to !== undefined && Date.parse(from) >= Date.parse(to))
    throw new UsageError(`--from must be before --to: ${quoted(from)} is not before ${quoted(to)}`);
  return fixtures;
}

function requireFixtures(role: string | undefined, { haulerId, customerId }: Fixtures): void {
  if (role === 'site-server' && haulerId === undefined)
    throw new UsageError('--hauler-id is required for the role site-server');
  if (role === 'vision-server' && customerId === undefined && haulerId === undefined) {
    throw new UsageError('--customer-id is required for the role vision-server');
  }
}

function readListen(value: string | undefined): Options['listen'] {
  if (value === undefined)
    throw new UsageError('--listen is required for a client role: the port where the kit listens');
  const [, host = '127.0.0.1', port = ''] = /^(?:([\w.-]+):)?(\d{1,5})$/.exec(value) ?? [];
  if (port === '' || Number(port) > 65_535)
    throw new UsageError(`--listen must be a port such as 8080, or host and port, not ${quoted(value)}`);
  return { host, port: Number(port) };
}

function readTimeout(value: string | undefined): number {
  if (value === undefined) return ANSWER_TIMEOUT_MS;
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|)$/.exec(value) ?? [];
  const timeoutMs = number === '' ? 0 : Number(number) * (UNITS[unit] ?? 0);
  if (!(timeoutMs >= 1 && timeoutMs <= MAX_TIMEOUT_MS))
    throw new UsageError(`--timeout must be a time from 1ms to 10m, such as 500ms or 10s, not ${quoted(value)}`);
  return timeoutMs;
}
