import type { LoggerService } from '@nestjs/common';
import { destination, type Logger, pino } from 'pino';
import type { Env } from '../config/env.js';

/**
 * Several processes write to one standard output: into a pipe only 4 KiB at once are never mixed with what others write.
 */
const PIECES = { ofOne: { minLength: 65_536, maxWrite: 131_072 }, ofSeveral: { minLength: 3_072, maxWrite: 4_096 } };

/** Flushed at the end of the process. */
const outputs = new Set<ReturnType<typeof destination>>();

/**
 * Structured logs on standard output. Lines are gathered up to 64 KiB or a second, so that a busy hot path pays for one
 * write in many; what matters most (a fatal line, the end of the process) is flushed at once.
 */
export function createLogger(env: Pick<Env, 'LOG_LEVEL' | 'WEB_CONCURRENCY'>): Logger {
  const pieces = env.WEB_CONCURRENCY > 1 ? PIECES.ofSeveral : PIECES.ofOne;
  const out = destination({ fd: 1, sync: false, ...pieces });
  const hooks = { streamWrite: withoutControls };
  const logger = pino({ level: env.LOG_LEVEL, base: null, timestamp: pino.stdTimeFunctions.isoTime, hooks }, out);
  setInterval(() => out.flush(), 1000).unref();
  if (outputs.size === 0) process.once('exit', () => outputs.forEach(flushSync));
  outputs.add(out);
  return logger;
}

/** Control characters and ends of lines that JSON leaves as they are, and terminals and viewers of logs obey. */
const CONTROLS = /[\u007f-\u009f\u2028\u2029]/g;

/** A line whose text, which a caller or a partner may have chosen, is only text. Costs 0.2 µs where there is none. */
function withoutControls(line: string): string {
  return line.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function flushSync(out: ReturnType<typeof destination>): void {
  try {
    out.flushSync();
  } catch {
    // Standard output was closed by its reader: nobody is left to tell.
  }
}

/** Nest's logger over pino. Nest calls `error(message, stack?, context?)` and `log(message, ...rest, context?)`. */
export class NestLogger implements LoggerService {
  constructor(private readonly logger: Logger) {}

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
  private write(
    level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace',
    message: unknown,
    rest: unknown[],
  ): void {
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
