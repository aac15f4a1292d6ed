import type { DataSourceOptions } from 'typeorm';
import type { Database } from './database.js';
import { driverOver } from './typeorm-driver.js';

/** A class with the decorators of TypeORM. */
export type Entity = new () => object;

/** Migrations are applied by `migrate.ts` alone, the schema is never derived from entities. */
export const createDataSourceOptions = (
  { general }: Pick<Database, 'general'>,
  entities: readonly Entity[],
): DataSourceOptions => ({
  type: 'postgres',
  driver: driverOver((text, values) => general.run(text, values)),
  entities: [...entities],
  synchronize: false,
  migrationsRun: false,
  installExtensions: false,
  logging: false,
});
