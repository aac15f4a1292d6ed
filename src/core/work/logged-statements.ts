import type { Logger } from '@nestjs/common';
import { outageOf, reasonOf } from '../database/reason.js';
import { isDatabaseUnavailable } from '../database/postgres-errors.js';

/** Runs statements that must not end a loop. A failure is logged once until the statement succeeds again. */
export class LoggedStatements {
  private readonly failing = new Set<string>();

  constructor(private readonly logger: Logger) {}

  /** `what` follows "cannot" in the log. Returns undefined after a failure. */
  async attempt<T>(what: string, statement: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await statement();
      if (this.failing.delete(what)) this.logger.log(`can ${what} again`);
      return result;
    } catch (error) {
      if (!this.failing.has(what)) {
        if (isDatabaseUnavailable(error))
          this.logger.warn({ outage: outageOf(error) }, `cannot ${what}: ${reasonOf(error)}`);
        else this.logger.error({ err: error }, `cannot ${what}`);
      }
      this.failing.add(what);
      return undefined;
    }
  }
}
