import { HttpModule } from '@nestjs/axios';
import { Module } from '@nestjs/common';
import { ENV } from '../core/config/env.js';
import { OUTBOUND_POLICY, outboundPolicy } from '../core/outbound/address-guard.js';
import { OutboundModule } from '../core/outbound/outbound-switch.js';
import { ConnectionRulesService } from './connection-rules.service.js';
import { ConnectionKeys } from './connection-keys.service.js';
import { ConnectionsService } from './connections.service.js';
import { httpDefaults, PartnerTransport } from './http-exchange.js';
import { PARTNER_SETTINGS, PartnerClient, partnerSettings } from './partner-client.js';

/**
 * Calls to the APIs of partners, and the connections that they use, with their keys and their check by the rules of the kit. It knows
 * how partners fail, not what their answers mean: `site-sync` and `vision` read those.
 */
@Module({
  imports: [OutboundModule, HttpModule.registerAsync({ inject: [ENV], useFactory: httpDefaults })],
  providers: [
    { provide: PARTNER_SETTINGS, inject: [ENV], useFactory: partnerSettings },
    { provide: OUTBOUND_POLICY, inject: [ENV], useFactory: outboundPolicy },
    ConnectionKeys,
    ConnectionsService,
    ConnectionRulesService,
    PartnerTransport,
    PartnerClient,
  ],
  exports: [PartnerClient, ConnectionsService, ConnectionRulesService],
})
export class PartnerClientModule {}
