import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { AccountsModule } from './accounts/accounts.module.js';
import { AdminModule } from './admin/admin.module.js';
import { PartnerAdminModule } from './admin/partner-admin.module.js';
import { PlatformAdminModule } from './admin/platform-admin.module.js';
import { AuthModule } from './auth/auth.module.js';
import { ConfigModule } from './config/config.module.js';
import type { SettledEnv, Side } from './config/env.js';
import { DatabaseModule } from './database/database.module.js';
import { HealthModule } from './health/health.module.js';
import { IdempotencyModule } from './idempotency/idempotency.module.js';
import { ObservabilityModule } from './observability/observability.module.js';
import { ScaleModule } from './scale/scale.module.js';
import { HostedSitesModule } from './site-sync/hosted/hosted-sites.module.js';
import { HostedVisionModule } from './vision/hosted/hosted-vision.module.js';

type Modules = NonNullable<DynamicModule['imports']>;

/** What each side brings; what both need stands in `AppModule.of`. */
const SIDE_MODULES: Readonly<Record<Side, Modules>> = {
  platform: [IdempotencyModule, ScaleModule, AccountsModule, PlatformAdminModule],
  partner: [HostedSitesModule, HostedVisionModule, PartnerAdminModule],
};

@Module({})
export class AppModule {
  static of(env: SettledEnv): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.of(env),
        ObservabilityModule,
        DatabaseModule,
        ScheduleModule.forRoot(),
        AuthModule,
        // Routes are looked through in this order: the busiest first.
        ...[...env.SIDES].flatMap((side) => SIDE_MODULES[side]),
        HealthModule,
        AdminModule,
      ],
    };
  }
}
