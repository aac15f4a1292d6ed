import { type DynamicModule, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ScheduleModule } from '@nestjs/schedule';
import { AccountEntity } from './accounts/account.entity.js';
import { AccountsModule } from './accounts/accounts.module.js';
import { AdminModule, HealthModule, PartnerAdminModule, PlatformAdminModule } from './admin/admin.module.js';
import { ApiKeyEntity, HaulerEntity } from './auth/auth.entity.js';
import { AuthModule } from './auth/auth.module.js';
import { ConfigModule, type ResolvedEnv, type Side } from './core/config/env.js';
import { DatabaseModule } from './core/database/database.module.js';
import { EventsModule } from './webhooks/events/outbox.js';
import { ExchangesModule } from './exchanges/exchanges.module.js';
import { IdempotencyModule } from './core/idempotency/idempotency.module.js';
import { ObservabilityModule } from './core/observability/metrics.js';
import { ConnectionEntity } from './partner-client/connection.entity.js';
import { PartnerApiModule, PartnerClockModule, PartnerRecordsModule } from './admin/partner-api/partner-api.module.js';
import { ReferencePartnerModule, SandboxModule } from './reference-partner/reference-partner.module.js';
import { TicketEntity, TicketRevisionEntity } from './scale/ticket.entity.js';
import { ScaleModule } from './scale/scale.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

type Modules = NonNullable<DynamicModule['imports']>;

/** No other file imports the entities of another module. */
const ENTITIES = [HaulerEntity, ApiKeyEntity, ConnectionEntity, TicketEntity, TicketRevisionEntity, AccountEntity];

/** The interfaces of a side. */
const INTERFACES: Readonly<Record<Side, Modules>> = {
  platform: [IdempotencyModule, ScaleModule, AccountsModule],
  partner: [ReferencePartnerModule],
};

/** The other modules of one side only. */
const SIDE_MODULES: Readonly<Record<Side, Modules>> = {
  platform: [PlatformAdminModule, PartnerRecordsModule, WebhooksModule],
  partner: [PartnerAdminModule, PartnerClockModule],
};

@Module({})
export class AppModule {
  static of(env: ResolvedEnv): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ConfigModule.of(env),
        ObservabilityModule,
        DatabaseModule.of(ENTITIES),
        DiscoveryModule,
        ScheduleModule.forRoot(),
        AuthModule,
        EventsModule,
        ExchangesModule,
        SandboxModule.of(env),
        // Express matches routes in this order: the busiest come first.
        ...[INTERFACES, SIDE_MODULES].flatMap((modules) => [...env.SIDES].flatMap((side) => modules[side])),
        HealthModule,
        AdminModule,
        PartnerApiModule,
      ],
    };
  }
}
