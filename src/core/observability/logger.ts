import { setTimeout as delay } from 'node:timers/promises';
import { type Level, type Logger, pino } from 'pino';
import type { LoggerService } from '@nestjs/common';
import type { Env } from '../config/env.js';
import { secretTexts } from '../config/secret-texts.js';
import { DATABASE_OUTAGES, outageOf } from '../database/reason.js';
import { protectSecrets } from './known-secrets.js';
import { redactText } from './redaction.js';

/** Lines beyond this are dropped: standard output is not being read. */
const MAX_PENDING_BYTES = 8 * 1024 * 1024;

/** Many lines cost one system call. */
const CHUNK_BYTES = 4_096;
const FLUSH_MS = 1_000;

const DRAIN_TIMEOUT_MS = 500;

interface LogOutput {
  write(line: string): void;
  /** Writes all pending lines. Ends after 500 ms, also if standard output is not read. */
  drain(): Promise<void>;
}

let shared: LogOutput | undefined;

/** The standard output of this process. While it is not read, memory is bounded: lines are dropped, counted and reported. */
export function standardOutput(): LogOutput {
  shared ??= openOutput();
  return shared;
}

function openOutput(): LogOutput {
  const stream = pino.destination({
    // With `process.stdout` Node makes a pipe non-blocking: a reader that stops then blocks neither a thread nor the exit.
    dest: process.stdout.fd,
    sync: false,
    minLength: CHUNK_BYTES,
    maxLength: MAX_PENDING_BYTES,
    periodicFlush: FLUSH_MS,
  });
  reportDrops(stream);
  // A full disk: the lines stay pending.
  stream.on('error', () => undefined);
  // Else pino would write until somebody reads, or until a full disk has space. Drain it before.
  process.prependOnceListener('exit', () => stream.destroy());
  return {
    write: (line) => void stream.write(line),
    drain: () => Promise.race([new Promise<void>((resolve) => stream.flush(() => resolve())), delay(DRAIN_TIMEOUT_MS)]),
  };
}

/** Logs how many lines were lost when standard output is read again. */
function reportDrops(stream: ReturnType<typeof pino.destination>): void {
  let dropped = 0;
  stream.on('drop', () => (dropped += 1));
  stream.on('drain', () => {
    if (dropped === 0) return;
    const msg = 'standard output was not read: lines lost';
    const line = { level: 40, time: new Date().toISOString(), dropped, msg };
    dropped = 0;
    stream.write(`${JSON.stringify(line)}\n`);
  });
}

/** Structured logs on standard output or another output, without secrets. */
export function createLogger(env: Env, output?: Pick<LogOutput, 'write'>): Logger {
  protectSecrets(secretTexts(env));
  if (env.LOG_LEVEL === 'silent') return pino({ enabled: false });
  const hooks = { streamWrite: (line: string) => escapeControls(redactText(line)) };
  return pino({ level: env.LOG_LEVEL, base: null, timestamp: isoTime, hooks }, output ?? standardOutput());
}

let lastTime = 0;
let lastTimeText = '';

/** Like pino's own function, but formats each millisecond once. */
function isoTime(): string {
  const now = Date.now();
  if (now !== lastTime) {
    lastTime = now;
    lastTimeText = `,"time":"${new Date(now).toISOString()}"`;
  }
  return lastTimeText;
}

/** Control characters and line separators that JSON allows in text, but that terminals and log viewers interpret. */
const CONTROLS = /[\u007f-\u009f\u2028\u2029]/g;

/** A line may contain text of a caller or partner. */
function escapeControls(line: string): string {
  return line.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Logs the text of a failed statement but not its parameters: they may be keys, signed links or customers' data. */
const serializers = {
  err: (error: unknown) => {
    if (!(error instanceof Error)) return String(error);
    const { type, message, stack, code, query } = pino.stdSerializers.err(error);
    // The place in the code is no news about a full or absent database.
    const place = outageOf(error) === undefined ? { stack } : {};
    return { type, message, ...place, code: code as unknown, query: query as unknown };
  },
};

/** Loggers of Nest itself. They report each module and route at boot. */
const FRAMEWORK_CONTEXTS: ReadonlySet<string | undefined> = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

/** Of work that nobody awaits, and that runs again: there an unavailable database is no error of this service. */
const WORK_CONTEXTS: ReadonlySet<string | undefined> = new Set(['Scheduler', 'Background']);

/** Nest's logger over pino. Nest calls `error(message, stack?, context?)` and `log(message, ...rest, context?)`. */
export class NestLogger implements LoggerService {
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger.child({}, { serializers });
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write(FRAMEWORK_CONTEXTS.has(contextOf(rest)) ? 'debug' : 'info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    const context = contextOf(rest);
    const outage = WORK_CONTEXTS.has(context) ? outageOf(errorIn(message)) : undefined;
    if (outage === undefined) this.write('error', message, rest);
    else this.logger.warn({ context, outage }, `work in the background did not run: ${DATABASE_OUTAGES[outage]}`);
  }

  warn(message: unknown, ...rest: unknown[]): void {
    this.write('warn', message, rest);
  }

  debug(message: unknown, ...rest: unknown[]): void {
    this.write('debug', message, rest);
  }

  verbose(message: unknown, ...rest: unknown[]): void {
    this.write('trace', message, rest);
  }

  fatal(message: unknown, ...rest: unknown[]): void {
    this.write('fatal', message, rest);
  }

  /** An object contains the fields of the line, and the text after it is the message. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    const context = contextOf(rest);
    const between = rest.slice(0, context === undefined ? rest.length : -1).filter((item) => item !== undefined);
    const text = between.map(String);
    if (message instanceof Error) this.logger[level]({ context, err: message }, message.message);
    else if (typeof message === 'object' && message !== null) {
      this.logger[level]({ context, ...message }, text.join(' '));
    } else this.logger[level]({ context, ...(text.length > 0 ? { stack: text.join('\n') } : {}) }, String(message));
  }
}

function contextOf(rest: readonly unknown[]): string | undefined {
  const last = rest.at(-1);
  return typeof last === 'string' ? last : undefined;
}

const errorIn = (message: unknown): unknown =>
  typeof message === 'object' && message !== null && 'err' in message ? message.err : message;
