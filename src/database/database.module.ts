import { Global, Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { createDataSourceOptions } from './data-source.js';
import { Database } from './database.js';
import { PartitionPlanner } from './partition-planner.js';

/**
 * The connections of the process, which Nest closes after all other modules, and the only `DataSource`, which uses them. An
 * unavailable database ends the start with its reason, and the process manager starts it again.
 */
@Global()
@Module({
  providers: [
    Database,
    {
      provide: DataSource,
      inject: [Database],
      useFactory: (database: Database) => new DataSource(createDataSourceOptions(database)).initialize(),
    },
    PartitionPlanner,
  ],
  exports: [Database, DataSource, PartitionPlanner],
})
export class DatabaseModule {}
