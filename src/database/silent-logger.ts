import { AbstractLogger } from 'typeorm';

/** TypeORM says nothing of its own: what goes wrong rises as an error, and whoever answers it logs it. */
export class SilentLogger extends AbstractLogger {
  protected writeLog(): void {}
}
