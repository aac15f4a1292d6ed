import type { LoggerService } from '@nestjs/common';
import { destination, type Level, type Logger, pino } from 'pino';
import type { Env } from '../config/env.js';
import { LineGatherer } from './line-gatherer.js';

/**
 * Bytes handed to standard output at once. Several processes share it: in a pipe only up to 4 KiB are never mixed with
 * what others write.
 */
const PIECES = { ofOne: 65_536, ofSeveral: 4_096 };

/** How long a line waits for others, in milliseconds. */
const GATHER_MS = 1000;

/** Flushed at the end of the process. */
const outputs = new Set<LineGatherer>();

/**
 * Structured logs on standard output. Lines are gathered up to 64 KiB or a second, so that a busy hot path pays for one
 * write in many; what matters most (a fatal line, the end of the process) is flushed at once.
 */
export function createLogger(env: Pick<Env, 'LOG_LEVEL' | 'WEB_CONCURRENCY'>): Logger {
  const piece = env.WEB_CONCURRENCY > 1 ? PIECES.ofSeveral : PIECES.ofOne;
  const out = new LineGatherer(destination({ fd: 1, sync: false, maxWrite: piece }), piece);
  const hooks = { streamWrite: withoutControls };
  const logger = pino({ level: env.LOG_LEVEL, base: null, timestamp: isoTime, hooks }, out);
  setInterval(() => out.handOver(), GATHER_MS).unref();
  if (outputs.size === 0) process.once('exit', () => outputs.forEach(flushSync));
  outputs.add(out);
  return logger;
}

let told = 0;
let tellingIt = '';

/** As pino's own, but made once a millisecond. */
function isoTime(): string {
  const now = Date.now();
  if (now !== told) {
    told = now;
    tellingIt = `,"time":"${new Date(now).toISOString()}"`;
  }
  return tellingIt;
}

/** Control characters and ends of lines that JSON leaves as they are, and terminals and viewers of logs obey. */
const CONTROLS = /[\u007f-\u009f\u2028\u2029]/g;

/** A line whose text, which a caller or a partner may have chosen, is only text. Costs 0.2 µs where there is none. */
function withoutControls(line: string): string {
  return line.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function flushSync(out: LineGatherer): void {
  try {
    out.flushSync();
  } catch {
    // Standard output was closed by its reader: nobody is left to tell.
  }
}

/**
 * What is told of an error: no more of a failed statement than its text, for the values in it may be keys, signed links
 * and customers' data.
 */
const serializers = {
  err: (error: unknown) => {
    if (!(error instanceof Error)) return String(error);
    const { type, message, stack, code, query } = pino.stdSerializers.err(error);
    return { type, message, stack, code: code as unknown, query: query as unknown };
  },
};

/** Nest's logger over pino. Nest calls `error(message, stack?, context?)` and `log(message, ...rest, context?)`. */
export class NestLogger implements LoggerService {
  private readonly logger: Logger;

  constructor(logger: Logger) {
    this.logger = logger.child({}, { serializers });
  }

  log(message: unknown, ...rest: unknown[]): void {
    this.write('info', message, rest);
  }

  error(message: unknown, ...rest: unknown[]): void {
    this.write('error', message, rest);
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

  /** An object as the message is the line's fields, and the text after it the message. */
  private write(level: Level, message: unknown, rest: unknown[]): void {
    const context = typeof rest.at(-1) === 'string' ? (rest.at(-1) as string) : undefined;
    const between = rest.slice(0, context === undefined ? rest.length : -1).filter((item) => item !== undefined);
    if (message instanceof Error) this.logger[level]({ context, err: message }, message.message);
    else if (typeof message === 'object' && message !== null)
      this.logger[level]({ context, ...message }, between.map(String).join(' '));
    else
      this.logger[level](
        { context, ...(between.length > 0 ? { stack: between.map(String).join('\n') } : {}) },
        String(message),
      );
  }
}
