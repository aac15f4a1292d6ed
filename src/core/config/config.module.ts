import { type DynamicModule, Module } from '@nestjs/common';
import { ENV, type ResolvedEnv } from './env.js';

/** Provides the resolved configuration as `ENV`. */
@Module({})
export class ConfigModule {
  static of(env: ResolvedEnv): DynamicModule {
    return { module: ConfigModule, global: true, providers: [{ provide: ENV, useValue: env }], exports: [ENV] };
  }
}
