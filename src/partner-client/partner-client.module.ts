import { HttpModule } from '@nestjs/axios';
import { Module } from '@nestjs/common';
import { ENV, type SettledEnv } from '../config/env.js';
import type { OutboundPolicy } from '../outbound/address-guard.js';
import { ConnectionCheckService } from './connection-check.service.js';
import { ConnectionKeys } from './connection-keys.service.js';
import { ConnectionsService } from './connections.service.js';
import { httpDefaults } from './http-defaults.js';
import { OUTBOUND_POLICY } from './outbound-policy.js';
import { PartnerClient } from './partner-client.js';
import { PARTNER_SETTINGS, partnerSettings } from './partner-settings.js';

/** Outbound calls to partners, and the connections they are made over. */
@Module({
  imports: [HttpModule.registerAsync({ inject: [ENV], useFactory: httpDefaults })],
  providers: [
    { provide: PARTNER_SETTINGS, inject: [ENV], useFactory: partnerSettings },
    {
      provide: OUTBOUND_POLICY,
      inject: [ENV],
      useFactory: (env: SettledEnv): OutboundPolicy => ({ allowPrivate: env.OUTBOUND_ALLOW_PRIVATE }),
    },
    ConnectionKeys,
    ConnectionsService,
    ConnectionCheckService,
    PartnerClient,
  ],
  exports: [PartnerClient, ConnectionsService, ConnectionCheckService],
})
export class PartnerClientModule {}
