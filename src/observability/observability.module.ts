import { type DynamicModule, Module } from '@nestjs/common';
import type { Logger } from 'pino';
import { Metrics } from './metrics.js';

/** Injection token of the pino logger. */
export const LOGGER = Symbol('LOGGER');

@Module({})
export class ObservabilityModule {
  static of(logger: Logger): DynamicModule {
    return {
      module: ObservabilityModule,
      global: true,
      providers: [Metrics, { provide: LOGGER, useValue: logger }],
      exports: [Metrics, LOGGER],
    };
  }
}
