import { type DataSourceOptions, getMetadataArgsStorage } from 'typeorm';
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

/** The columns of an entity, in the order in which its class has them, each with its property. */
export const columnsOf = <Row>(entity: new () => Row): readonly (readonly [name: string, property: keyof Row])[] =>
  getMetadataArgsStorage()
    .filterColumns(entity)
    .map(({ propertyName, options }) => [options.name ?? propertyName, propertyName as keyof Row]);
