import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ENV, type ResolvedEnv } from '../config/env.js';
import { createDataSourceOptions } from './data-source.js';
import { DatabasePool, HotPathPool } from './pools.js';

@Module({ providers: [DatabasePool], exports: [DatabasePool] })
class DatabasePoolModule {}

/**
 * The only `DataSource` of the process, injected by its class, and the connections of the hot path. Nest closes both
 * after all other modules.
 */
@Global()
@Module({
  imports: [
    DatabasePoolModule,
    TypeOrmModule.forRootAsync({
      imports: [DatabasePoolModule],
      inject: [ENV, DatabasePool],
      // Without retries: an unavailable database ends the start with its reason, and the process manager starts it again.
      useFactory: (env: ResolvedEnv, pool: DatabasePool) => ({
        ...createDataSourceOptions(env, pool.observe),
        retryAttempts: 0,
      }),
    }),
  ],
  providers: [HotPathPool],
  exports: [HotPathPool, DatabasePoolModule],
})
export class DatabaseModule {}
