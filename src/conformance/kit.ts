import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { visibleOutput, visibleText } from '../core/text/visible-text.js';
import { type Format, FORMATS, type Options, readOptions, USAGE, UsageError } from './command-line.js';
import { httpTransport } from './http-transport.js';
import { htmlReport, junitReport, textReport } from './report/formats.js';
import { exitCodeOf, type Report, reportOf, withOperation } from './report/report.js';
import { checkCalls } from './client/client-rule.js';
import { recordCalls } from './client/listener.js';
import { CLIENT_ROLES, ROLES, SERVER_ROLES } from './roles.js';
import type { ServerRole } from './rule.js';
import { type RuleResult, runServerRole } from './run.js';

export interface Streams {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Ends the run of a client role. */
  readonly stop?: AbortSignal;
}

const WRONG_CALL = 2;

const RENDERERS: Readonly<Record<Format, (report: Report) => string>> = {
  text: textReport,
  json: (report) => visibleOutput(`${JSON.stringify(report, undefined, 2)}\n`),
  junit: junitReport,
  html: htmlReport,
};

/**
 * Runs the conformance kit, by which a partner proves its own side, and returns its exit code. The kit knows the contracts alone: it
 * runs without the service, and the check of a connection runs the same rules.
 */
export async function runKit(words: readonly string[], streams: Streams): Promise<number> {
  const { out, err } = streams;
  try {
    const options = readOptions(words);
    if (options.help) out(USAGE);
    else if (options.list) out(listRules(options));
    else return print(await run(options, streams), options, out);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    err(`error: ${visibleText(error.message)}\n(--help shows the usage)\n`);
    return WRONG_CALL;
  }
}

async function run(options: Options, streams: Streams): Promise<Report> {
  const startedAt = new Date();
  // A run stores data under names that contain this id.
  const runId = `kit-${startedAt.toISOString().slice(0, 19).replace(/\D/g, '')}-${randomBytes(3).toString('hex')}`;
  const server = SERVER_ROLES[options.role];
  const { url, results } = server ? await runServer(server, runId, options) : await runClient(options, streams);
  const { role, apiKey, baseline, compare } = options;
  return reportOf({ role, url, runId, startedAt, results, apiKey, baseline, compare });
}

interface Run {
  readonly url: string;
  readonly results: readonly RuleResult[];
}

async function runServer(role: ServerRole, runId: string, options: Options): Promise<Run> {
  const { url, apiKey, fixtures, timeoutMs, write } = options;
  const transport = httpTransport(timeoutMs);
  try {
    const results = await runServerRole(role, {
      baseUrl: url,
      apiKey,
      fixtures,
      runId,
      send: transport.send,
      refuse: ({ writes }) => (writes === true && !write ? 'pass --write: a server may store this request' : undefined),
    });
    return { url, results };
  } finally {
    transport.close();
  }
}

async function runClient(options: Options, { err, stop }: Streams): Promise<Run> {
  const role = CLIENT_ROLES[options.role];
  if (role === undefined) throw new Error(`unknown role ${options.role}`);
  const { apiKey, listen, timeoutMs } = options;
  let url = '';
  const calls = await recordCalls(role.peer(apiKey), {
    ...listen,
    idleMs: timeoutMs,
    stop,
    onListening: (address) => {
      url = address;
      err(`listening at ${address}; the run ends ${timeoutMs / 1_000} s after the last call, or with Ctrl-C\n`);
    },
  }).catch((error: unknown) => {
    throw new UsageError(`--listen ${listen.host}:${listen.port}: ${(error as Error).message}`);
  });
  return { url, results: checkCalls(role, { calls, apiKey }, url) };
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
  const rules = ROLES.filter(({ name }) => role === '' || name === role).flatMap(({ name, rules: each }) =>
    each.map(({ id, section, severity, operation, title, remedy }) => {
      return { id, role: name, section, severity, operation, title, remedy };
    }),
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
