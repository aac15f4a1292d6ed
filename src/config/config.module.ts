import { type DynamicModule, Module } from '@nestjs/common';
import { ENV, type SettledEnv } from './env.js';

/** Hands the settled configuration to whoever injects `ENV`. */
@Module({})
export class ConfigModule {
  static of(env: SettledEnv): DynamicModule {
    return { module: ConfigModule, global: true, providers: [{ provide: ENV, useValue: env }], exports: [ENV] };
  }
}
