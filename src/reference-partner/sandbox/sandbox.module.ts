import { type DynamicModule, Module } from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { SandboxService } from './sandbox.service.js';
import { ScenarioSelection } from './scenario-selection.js';
import { ScenarioInterceptor } from './scenario.interceptor.js';
import { ScenariosRepository } from './scenarios.repository.js';

const INTERCEPTOR = { provide: APP_INTERCEPTOR, useClass: ScenarioInterceptor };

/**
 * Scenarios for the interfaces of both sides, which know nothing of them. Without SANDBOX no request passes an interceptor.
 */
@Module({})
export class SandboxModule {
  static of({ SANDBOX }: { readonly SANDBOX: boolean }): DynamicModule {
    return {
      module: SandboxModule,
      global: true,
      providers: [ScenariosRepository, ScenarioSelection, SandboxService, ...(SANDBOX ? [INTERCEPTOR] : [])],
      exports: [SandboxService],
    };
  }
}
