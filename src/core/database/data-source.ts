import type { QueryResult } from 'pg';
import { type DataSourceOptions, getMetadataArgsStorage } from 'typeorm';
import type { Database } from './database.js';

/** Runs a statement and returns the result of pg. */
type Run = (text: string, values?: unknown[]) => Promise<QueryResult>;

/**
 * What TypeORM needs of pg, whose statements `run` runs, so that they have the same rules as all others. TypeORM's own transactions are
 * not available: use `Database.transaction`.
 */
export function driverOver(run: Run): object {
  const connection = {
    query: async (text: string, values?: unknown[]) => {
      if (text.startsWith('START TRANSACTION')) throw new TypeError('TypeORM begins no transactions here');
      return run(text, values);
    },
    // A lost connection fails the statement that it runs.
    on: () => undefined,
    removeListener: () => undefined,
  };
  return {
    Pool: class {
      on(): void {}

      connect(connected: (error: unknown, client: typeof connection, release: () => void) => void): void {
        connected(undefined, connection, () => undefined);
      }

      end(ended: () => void): void {
        ended();
      }
    },
  };
}

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

/** The columns of an entity, in the order in which its class has them, each with its property. */
export const columnsOf = <Row>(entity: new () => Row): readonly (readonly [name: string, property: keyof Row])[] =>
  getMetadataArgsStorage()
    .filterColumns(entity)
    .map(({ propertyName, options }) => [options.name ?? propertyName, propertyName as keyof Row]);
