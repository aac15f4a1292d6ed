import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { FORMATS, type Format, type Options, readOptions, USAGE, UsageError } from './command-line.js';
import { httpTransport, MAX_ANSWER_BYTES } from './http-transport.js';
import { htmlReport } from './report/html.js';
import { junitReport } from './report/junit.js';
import { exitCodeOf, type Report, reportOf, withOperation } from './report/report.js';
import { textReport } from './report/text.js';
import { checkCalls } from './client/client-rule.js';
import { recordCalls } from './client/listener.js';
import { CLIENT_ROLES, ROLE_NAMES, ROLES, SERVER_ROLES } from './roles.js';
import { DEFAULT_WAIT_MS, runServerRole } from './run.js';

export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Ends the run of a client role. */
  readonly stop?: AbortSignal;
}

const WRONG_CALL = 2;

const RENDERERS: Readonly<Record<Format, (report: Report) => string>> = {
  text: textReport,
  json: (report) => `${JSON.stringify(report, undefined, 2)}\n`,
  junit: junitReport,
  html: htmlReport,
};

/** Runs the conformance kit and returns its exit code. */
export async function runKit(words: readonly string[], streams: Streams): Promise<number> {
  const { out, err } = streams;
  try {
    const options = readOptions(words);
    if (options.help) out(USAGE);
    else if (options.list) out(listRules(options));
    else
      return await (Object.hasOwn(CLIENT_ROLES, options.role ?? '')
        ? runClient(options, streams)
        : runServer(options, out));
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    err(`error: ${error.message}\n(--help shows the usage)\n`);
    return WRONG_CALL;
  }
}

/** `kit-` and a part that differs from run to run; all that a run writes is named after it. */
const newRunId = (now: Date): string =>
  `kit-${now.toISOString().slice(0, 19).replace(/\D/g, '')}-${randomBytes(3).toString('hex')}`;

async function runServer(options: Options, out: (text: string) => void): Promise<number> {
  const role = SERVER_ROLES[options.role ?? ''];
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLE_NAMES.join(', ')}`);
  const startedAt = new Date();
  const runId = newRunId(startedAt);
  const transport = httpTransport({ timeoutMs: options.timeoutMs, maxBytes: MAX_ANSWER_BYTES });
  try {
    const results = await runServerRole(role, {
      baseUrl: options.url,
      apiKey: options.apiKey,
      fixtures: options.fixtures,
      send: transport.send,
      runId,
      waitMs: DEFAULT_WAIT_MS,
      refuse: ({ writes }) =>
        writes === true && !options.write ? 'pass --write: a server may store this request' : undefined,
    });
    return print(
      reportOf({ role: role.name, url: options.url, runId, startedAt, results, ...givenOf(options) }),
      options,
      out,
    );
  } finally {
    transport.close();
  }
}

const givenOf = ({ apiKey, baseline, compare }: Options) => ({
  apiKey,
  ...(baseline === undefined ? {} : { baseline }),
  ...(compare === undefined ? {} : { compare }),
});

async function runClient(options: Options, { out, err, stop }: Streams): Promise<number> {
  const role = CLIENT_ROLES[options.role ?? ''];
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLE_NAMES.join(', ')}`);
  const { apiKey, listen, timeoutMs, fixtures } = options;
  const startedAt = new Date();
  let url = '';
  const calls = await recordCalls((address) => role.peer({ url: (url = address), apiKey }), {
    ...listen,
    idleMs: timeoutMs,
    ...(stop === undefined ? {} : { stop }),
    onListening: (address) =>
      err(`listening at ${address}; the run ends ${timeoutMs / 1_000} s after the last call, or with Ctrl-C\n`),
  }).catch((error: unknown) => {
    throw new UsageError(`--listen ${listen.host}:${listen.port}: ${(error as Error).message}`);
  });
  const { haulerId } = fixtures;
  const results = checkCalls(role, { calls, apiKey, ...(haulerId === undefined ? {} : { haulerId }) }, url);
  const runId = newRunId(startedAt);
  return print(reportOf({ role: role.name, url, runId, startedAt, results, ...givenOf(options) }), options, out);
}

function print(report: Report, { format, out: file }: Options, out: (text: string) => void): number {
  const text = RENDERERS[format](report);
  if (file === undefined) out(text);
  else {
    try {
      writeFileSync(file, text);
    } catch (error) {
      throw new UsageError(`--out ${file} cannot be written: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`);
    }
    const { passed, failed, warning, notProven } = report.summary;
    out(
      `${report.role}: ${passed} passed, ${failed} failed, ${warning} warnings, ${notProven} not proven; the report is ${file}\n`,
    );
  }
  return exitCodeOf(report);
}

function listRules({ role, format }: Options): string {
  const rules = ROLES.filter(({ name }) => role === undefined || name === role).flatMap(({ name, rules: each }) =>
    each.map(({ id, section, severity, operation, title, remedy }) => ({
      id,
      role: name,
      section,
      severity,
      operation,
      title,
      remedy,
    })),
  );
  if (format === 'json') return `${JSON.stringify(rules, undefined, 2)}\n`;
  if (format !== 'text') throw new UsageError(`--list has the formats ${FORMATS.slice(0, 2).join(' and ')}`);
  return rules
    .map(
      ({ id, section, severity, operation, title, remedy }) =>
        `${id}  ${severity.padEnd(6)}  section ${section}  ${withOperation(operation, title)}\n    ${remedy}\n`,
    )
    .join('');
}
