import { afterEach, expect, test } from '@jest/globals';
import { type INestApplicationContext, Injectable, Logger, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { Interval, ScheduleModule } from '@nestjs/schedule';
import { Database } from '../../../src/database/database.js';
import { inBackground } from '../../../src/errors/background.js';
import { createLogger, NestLogger } from '../../../src/observability/logger.js';
import { testEnv } from '../../support/env.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';

let failure: () => Promise<unknown>;

@Injectable()
class Work {
  @Interval('work', 20)
  run(): Promise<unknown> {
    return failure();
  }
}

@Module({ imports: [ScheduleModule.forRoot()], providers: [Work] })
class WorkModule {}

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly context?: string;
  readonly outage?: string;
}

let app: INestApplicationContext | undefined;
afterEach(async () => {
  await app?.close();
  Logger.overrideLogger(false);
});

/** The first line of each kind of work that fails. */
async function linesOf(fail: () => Promise<unknown>): Promise<(Line | undefined)[]> {
  const lines: Line[] = [];
  const output = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
  const logger = new NestLogger(createLogger(testEnv({ DATABASE_URL: 'postgres://none', LOG_LEVEL: 'info' }), output));
  failure = fail;
  app = await NestFactory.createApplicationContext(WorkModule, { logger });
  inBackground(fail());
  return eventually(() => {
    const found = ['Scheduler', 'Background'].map((name) => lines.find(({ context }) => context === name));
    expect(found).not.toContain(undefined);
    return found;
  });
}

test('work that meets an unavailable database is a warning with the cause', async () => {
  const url = `postgres://user@127.0.0.1:${await freePort()}/none`;
  const database = new Database(testEnv({ DATABASE_URL: url }));
  const lines = await linesOf(() => database.hot.use((session) => session.query('SELECT 1', [])));
  await database.onApplicationShutdown();
  for (const line of lines) expect(line).toMatchObject({ level: 40, outage: 'unreachable' });
  expect(lines[0]?.msg).toMatch(/cannot reach its database/);
});

test('any other failure of such work is an error', async () => {
  const lines = await linesOf(() => Promise.reject(new Error('a mistake')));
  for (const line of lines) expect(line?.level).toBe(50);
});
