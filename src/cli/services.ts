import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { destination, pino } from 'pino';
import { DataSource } from 'typeorm';
import { readEnv } from '../config/env.js';
import { migrate, pendingMigrations } from '../database/migrate.js';
import { embeddedNotice, isNewDatabase, settleEnv } from '../database/settle-env.js';
import { CliModule } from './cli.module.js';
import { CommandFailed } from './command-failed.js';

/** The service's own providers, by their classes: `services.get(HaulersService)`. */
export type Services = Pick<INestApplicationContext, 'get'>;

/**
 * Gives `work` the service's providers on the service's database, with the same configuration, and closes them after
 * it. Beside a running service with an embedded database, that one is used; where a new one is made, it is told.
 */
export async function withServices<T>(
  work: (services: Services) => Promise<T>,
  tell: (text: string) => void,
): Promise<T> {
  const declared = readEnv();
  // Standard output belongs to the answer.
  const logger = pino({ level: 'warn' }, destination({ fd: 2, sync: true }));
  // Whoever meant another database would take the emptiness of this one for its answer.
  if (isNewDatabase(declared)) tell(`a new database is made: this command ${embeddedNotice(declared)}\n`);
  const { env, stop } = await settleEnv(declared, logger, { join: true });
  try {
    // A database of one's own is brought up to date as at any start; one that others use is not, by the way.
    if (env.EMBEDDED) await migrate(env.DATABASE_URL);
    const context = await NestFactory.createApplicationContext(CliModule.of(env), {
      abortOnError: false,
      logger: false,
    });
    try {
      await assertMigrated(context.get(DataSource));
      return await work(context);
    } finally {
      await context.close();
    }
  } finally {
    await stop();
  }
}

async function assertMigrated(dataSource: DataSource): Promise<void> {
  const pending = await pendingMigrations(dataSource);
  if (pending.length > 0) {
    throw new CommandFailed('the database lacks migrations of this version: apply them with npm run migrate');
  }
}
