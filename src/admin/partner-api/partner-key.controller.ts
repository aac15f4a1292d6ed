import { Controller, Inject, Req } from '@nestjs/common';
import type { Request } from 'express';
import { DataSource } from 'typeorm';
import { principalOf } from '../../auth/caller.js';
import type { Principal } from '../../core/http/principal.js';
import { Route } from '../../auth/route.js';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { PARTNER_API } from '../../contracts/partner/partner.api.js';
import { Database } from '../../core/database/database.js';
import { findConnection } from '../../partner-client/connections.service.js';
import { lastSynchronisation } from '../../site-sync/catalog/catalog.repository.js';
import { ConnectionHealthService } from '../connection-health.service.js';
import { lastReading } from '../../vision/continuous/subscriptions.repository.js';

/** Describes the key of a call. */
@Controller()
export class PartnerKeyController {
  constructor(
    private readonly database: Database,
    private readonly dataSource: DataSource,
    private readonly health: ConnectionHealthService,
    @Inject(ENV) private readonly env: Pick<ResolvedEnv, 'SANDBOX'>,
  ) {}

  @Route(PARTNER_API, 'getMe')
  async me(@Req() { call }: Request) {
    const caller = principalOf(call);
    const { interfaces, customerId, keyPrefix, endsAt } = caller;
    return {
      interfaces: [...interfaces],
      ...(await this.ownerOf(caller)),
      ...(customerId === null ? {} : { customerId }),
      ...(customerId === null && interfaces.has('vision') ? { allCustomers: true } : {}),
      keyPrefix,
      expiresAt: endsAt === Infinity ? null : formatInstant(new Date(endsAt)),
      sandbox: this.env.SANDBOX,
    };
  }

  /** The hauler and connection of a key, and when they were last synchronised. */
  private async ownerOf({ haulerId, connectionId }: Principal) {
    if (haulerId === null) return {};
    const connection =
      connectionId === null ? undefined : await findConnection(this.dataSource, haulerId, connectionId);
    const last =
      connection?.interface === 'vision'
        ? await lastReading(this.database, haulerId, connection.id)
        : await lastSynchronisation(this.database, haulerId, connectionId);
    return {
      haulerId,
      ...(connectionId === null ? {} : { connectionId }),
      ...(connection === undefined ? {} : { connection: await this.health.ofConnection(connection) }),
      lastSynchronisation: last === null ? null : formatInstant(last),
    };
  }
}
