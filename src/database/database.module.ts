import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ENV, type SettledEnv } from '../config/env.js';
import { createDataSourceOptions } from './data-source.js';
import { HotPathPool } from './hot-path-pool.js';

/**
 * The one `DataSource` of the process, injected by its class, and the few connections of the hot path. Both are closed
 * at shutdown, after all else.
 */
@Global()
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [ENV],
      // A database that is away at boot ends the boot with its reason: whoever starts the service starts it again.
      useFactory: (env: SettledEnv) => ({ ...createDataSourceOptions(env), retryAttempts: 0 }),
    }),
  ],
  providers: [HotPathPool],
  exports: [HotPathPool],
})
export class DatabaseModule {}
