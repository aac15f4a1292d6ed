import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { createDataSourceOptions } from './data-source.js';
import { Database } from './database.js';
import { PartitionPlanner } from './partition-planner.js';

@Module({ providers: [Database], exports: [Database] })
class ConnectionsModule {}

/** The connections of the process, and the only `DataSource`, which uses them. Nest closes both after all other modules. */
@Global()
@Module({
  imports: [
    ConnectionsModule,
    TypeOrmModule.forRootAsync({
      imports: [ConnectionsModule],
      inject: [Database],
      // Without retries: an unavailable database ends the start with its reason, and the process manager starts it again.
      useFactory: (database: Database) => ({ ...createDataSourceOptions(database), retryAttempts: 0 }),
    }),
  ],
  providers: [PartitionPlanner],
  exports: [ConnectionsModule, PartitionPlanner],
})
export class DatabaseModule {}
