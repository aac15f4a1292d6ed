import type { LoggerService } from '@nestjs/common';
import { type Level, type Logger, pino } from 'pino';
import type { Env } from '../config/env.js';
import { secretTexts } from '../config/secret-texts.js';
import { DATABASE_OUTAGES, outageOf } from '../database/outage.js';
import { protectSecrets } from './known-secrets.js';
import { type LogOutput, standardOutput } from './log-output.js';
import { redactText } from './redaction.js';

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
    return { type, message, stack, code: code as unknown, query: query as unknown };
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
