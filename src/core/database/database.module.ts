import { type DynamicModule, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { createDataSourceOptions, type Entity } from './data-source.js';
import { Database } from './database.js';
import { PartitionPlanner } from './partition-planner.js';

/**
 * The connections of the process, which Nest closes after all other modules, and the only `DataSource`, which uses them. An
 * unavailable database ends the start with its reason, and the process manager starts it again.
 */
@Module({})
export class DatabaseModule {
  static of(entities: readonly Entity[]): DynamicModule {
    const dataSource = {
      provide: DataSource,
      inject: [Database],
      useFactory: (database: Database) => new DataSource(createDataSourceOptions(database, entities)).initialize(),
    };
    return {
      module: DatabaseModule,
      global: true,
      providers: [Database, dataSource, PartitionPlanner],
      exports: [Database, DataSource, PartitionPlanner],
    };
  }
}
