import { AbstractLogger } from 'typeorm';

/** TypeORM logs nothing: its errors are thrown, and the code that handles an error logs it. */
export class SilentLogger extends AbstractLogger {
  protected writeLog(): void {}
}
