import { Logger } from '@nestjs/common';

const logger = new Logger('Background');

/** Lets work continue whose result nobody awaits. A failure is logged: without a handler it would end the process. */
export function inBackground(work: Promise<unknown>): void {
  work.catch((err: unknown) => logger.error({ err }, 'work in the background failed'));
}
