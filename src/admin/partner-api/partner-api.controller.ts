import { Controller, Inject, Param, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
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
import {
  AdvanceClockRequest,
  SandboxScenarioName,
  StartScenarioRequest,
} from '../../contracts/admin/sandbox.routes.js';
import { JsonBody } from '../../core/http/json-body.js';
import { ClockEvents } from '../../reference-partner/vision/clock-events.service.js';
import { SandboxService } from '../../reference-partner/sandbox/sandbox.service.js';
import { PartnerSandbox } from './partner-sandbox.service.js';
import { PartnerExchangeQuery } from '../../contracts/admin/exchanges.routes.js';
import { IdParam, ListQuery } from '../../contracts/admin/list.dto.js';
import { ExchangeQueries, type ExchangeScope } from '../../exchanges/exchange-queries.service.js';
import type { Call } from '../../core/http/call.js';
import { AccountQueries } from '../../accounts/account-queries.js';
import { AccountFilters } from '../../contracts/admin/accounts.routes.js';
import { CatalogFilters } from '../../contracts/admin/catalog.routes.js';
import { TicketFilters } from '../../contracts/admin/tickets.routes.js';
import type { InterfaceName } from '../../contracts/common/interfaces.values.js';
import { apiError } from '../../core/errors/app-error.js';
import { jsonText, streamedList } from '../../core/http/answer.js';
import { TicketQueries } from '../../scale/ticket-queries.js';
import { CatalogLists } from '../../site-sync/catalog/catalog-lists.service.js';
import { RecordingFilters } from '../../contracts/admin/recordings.routes.js';
import { QuarantineQuery, SyncChangeQuery, SyncRunFilters } from '../../contracts/admin/sync-runs.routes.js';
import { TruckFilters } from '../../contracts/admin/video-subscriptions.routes.js';
import { VisionFindingFilters } from '../../contracts/admin/vision-finding.dto.js';
import { Poke } from '../../contracts/partner/partner-webhooks.routes.js';
import { listAnswer } from '../../core/http/list-answer.js';
import { SyncRunsService } from '../../site-sync/sync/sync-runs.service.js';
import { VisionFindings } from '../../vision/client/findings.repository.js';
import { VideoSubscriptions } from '../../vision/continuous/subscriptions.service.js';
import { DownloadRetry } from '../../vision/downloads/download-retry.service.js';
import { Pokes } from '../../vision/pokes/pokes.service.js';
import { Recordings } from '../../vision/recordings/recordings.service.js';
import { AttentionService } from '../attention/attention.service.js';

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

/** A partner's own scenarios. */
@Controller()
export class PartnerScenariosController {
  constructor(
    private readonly sandbox: SandboxService,
    private readonly partner: PartnerSandbox,
  ) {}

  @Route(PARTNER_API, 'listOwnScenarios')
  catalogue() {
    return this.sandbox.catalogue();
  }

  @Route(PARTNER_API, 'listOwnActiveScenarios')
  active(@Req() { call }: Request) {
    return this.partner.active(principalOf(call));
  }

  @Route(PARTNER_API, 'startOwnScenario')
  start(@Param() { name }: SandboxScenarioName, @JsonBody() request: StartScenarioRequest, @Req() { call }: Request) {
    return this.partner.start(principalOf(call), name, request);
  }

  @Route(PARTNER_API, 'endOwnScenario')
  async end(@Param() { name }: SandboxScenarioName, @Req() { call }: Request) {
    await this.partner.end(principalOf(call), name);
  }
}

/** The clock of the reference partner; loaded with the partner side. */
@Controller()
export class PartnerClockController {
  constructor(
    private readonly partner: PartnerSandbox,
    private readonly clock: ClockEvents,
  ) {}

  @Route(PARTNER_API, 'advanceOwnClock')
  async advance(@JsonBody() request: AdvanceClockRequest, @Req() { call }: Request) {
    return this.clock.advance(this.partner.customerOf(principalOf(call)), request);
  }
}

/** The calls that were made with a key; for the key of a connection, those that we made to its partner. */
@Controller()
export class PartnerExchangesController {
  constructor(private readonly exchanges: ExchangeQueries) {}

  @Route(PARTNER_API, 'listOwnExchanges')
  list(@Query() query: PartnerExchangeQuery, @Req() { call, query: sent }: Request) {
    return this.exchanges.listOwn(query, Object.keys(sent), scopeOf(call));
  }

  @Route(PARTNER_API, 'getOwnExchange')
  get(@Param() { id }: IdParam, @Req() { call }: Request) {
    return this.exchanges.get(id, scopeOf(call));
  }
}

function scopeOf(call: Call): ExchangeScope {
  const { keyId, haulerId, connectionId } = principalOf(call);
  if (keyId === null) throw new Error('the partner API needs a key');
  const owner = haulerId === null ? {} : { haulerId };
  return connectionId === null ? { ...owner, apiKeyId: keyId } : { ...owner, connectionId };
}

/** The handler sets headers only; Nest still sends what it returns. */
const PASSTHROUGH = { passthrough: true };

/** What the platform has of the hauler of a key (decision 1). */
@Controller()
export class PartnerRecordsController {
  constructor(
    private readonly tickets: TicketQueries,
    private readonly accounts: AccountQueries,
    private readonly catalog: CatalogLists,
  ) {}

  @Route(PARTNER_API, 'listOwnTickets')
  async list(@Query() query: TicketFilters, @Req() { call }: Request, @Res(PASSTHROUGH) response: Response) {
    return streamedList(response, await this.tickets.list({ ...query, haulerId: haulerOf(call, 'scale') }));
  }

  @Route(PARTNER_API, 'getOwnTicket')
  async get(@Param() { id }: IdParam, @Req() { call }: Request, @Res(PASSTHROUGH) response: Response) {
    return jsonText(response, await this.tickets.ofHauler(haulerOf(call, 'scale'), id));
  }

  @Route(PARTNER_API, 'listOwnTicketRevisions')
  async revisions(
    @Param() { id }: IdParam,
    @Query() query: ListQuery,
    @Req() { call }: Request,
    @Res(PASSTHROUGH) response: Response,
  ) {
    return streamedList(response, await this.tickets.revisions(id, query, haulerOf(call, 'scale')));
  }

  @Route(PARTNER_API, 'listOwnAccounts')
  listAccounts(@Query() query: AccountFilters, @Req() { call }: Request) {
    return this.accounts.list({ ...query, haulerId: haulerOf(call, 'account') });
  }

  @Route(PARTNER_API, 'listOwnSites')
  listSites(@Query() query: CatalogFilters, @Req() { call }: Request) {
    return this.catalog.sites({ ...query, ...catalogOf(call) });
  }

  @Route(PARTNER_API, 'listOwnMaterials')
  listMaterials(@Query() query: CatalogFilters, @Req() { call }: Request) {
    return this.catalog.materials({ ...query, ...catalogOf(call) });
  }
}

/** The whole catalog of a hauler, or what came through the connection of the key. */
function catalogOf(call: Call) {
  const { haulerId, connectionId } = principalOf(call);
  return haulerId !== null && connectionId !== null
    ? { haulerId, connectionId }
    : { haulerId: haulerOf(call, 'scale', 'site') };
}

/** The hauler of a key that opens one of the interfaces. */
function haulerOf(call: Call, ...names: readonly InterfaceName[]): string {
  const { haulerId, interfaces } = principalOf(call);
  if (haulerId !== null && names.some((name) => interfaces.has(name))) return haulerId;
  throw apiError(PARTNER_API, 'notFound', `this key does not open ${names.join(' or ')} for a hauler`);
}

/** How the platform reads the partner of a connection. What another connection has does not exist for its key. */
@Controller()
export class PartnerConnectionController {
  constructor(
    private readonly runs: SyncRunsService,
    private readonly findings: VisionFindings,
    private readonly subscriptions: VideoSubscriptions,
    private readonly recordings: Recordings,
    private readonly retries: DownloadRetry,
    private readonly pokes: Pokes,
  ) {}

  @Route(PARTNER_API, 'listOwnSyncRuns')
  listRuns(@Query() query: SyncRunFilters, @Req() { call }: Request) {
    return this.runs.list({ ...query, ...connectionOf(call) });
  }

  @Route(PARTNER_API, 'getOwnSyncRun')
  getRun(@Param() { id }: IdParam, @Req() { call }: Request) {
    return this.runs.get(id, connectionOf(call).connectionId);
  }

  @Route(PARTNER_API, 'listOwnSyncRunChanges')
  listChanges(@Param() { id }: IdParam, @Query() query: SyncChangeQuery, @Req() request: Request) {
    const { connectionId } = connectionOf(request.call);
    return listAnswer(request, query, (part) => this.runs.listChanges(id, part, connectionId));
  }

  @Route(PARTNER_API, 'listOwnQuarantinedRecords')
  listQuarantine(@Param() { id }: IdParam, @Query() query: QuarantineQuery, @Req() request: Request) {
    const { connectionId } = connectionOf(request.call);
    return listAnswer(request, query, (part) => this.runs.quarantine(id, part, connectionId));
  }

  @Route(PARTNER_API, 'listOwnFindings')
  listFindings(@Query() query: VisionFindingFilters, @Req() request: Request) {
    return listAnswer(request, { ...query, ...connectionOf(request.call) }, (part) => this.findings.list(part));
  }

  @Route(PARTNER_API, 'listOwnVideoSubscriptions')
  listSubscriptions(@Query() query: TruckFilters, @Req() { call }: Request) {
    return this.subscriptions.list({ ...query, ...connectionOf(call) });
  }

  @Route(PARTNER_API, 'listOwnUnreadWindows')
  listUnreadWindows(@Query() query: TruckFilters, @Req() { call }: Request) {
    const { haulerId, connectionId } = connectionOf(call);
    return this.subscriptions.listUnread(haulerId, connectionId, query);
  }

  @Route(PARTNER_API, 'listOwnRecordings')
  listRecordings(@Query() query: RecordingFilters, @Req() request: Request) {
    return listAnswer(request, { ...query, ...connectionOf(request.call) }, (part) => this.recordings.list(part));
  }

  @Route(PARTNER_API, 'getOwnRecording')
  getRecording(@Param() { id }: IdParam, @Req() { call }: Request) {
    return this.recordings.get(id, connectionOf(call).connectionId);
  }

  @Route(PARTNER_API, 'retryOwnRecording')
  retryRecording(@Param() { id }: IdParam, @Req() { call }: Request) {
    return this.retries.retry(id, connectionOf(call).connectionId);
  }

  @Route(PARTNER_API, 'poke')
  poke(@JsonBody() request: Poke, @Req() { call }: Request) {
    return this.pokes.poke(request, connectionOf(call));
  }
}

function connectionOf(call: Call): { readonly haulerId: string; readonly connectionId: string } {
  const { haulerId, connectionId } = principalOf(call);
  if (haulerId !== null && connectionId !== null) return { haulerId, connectionId };
  throw apiError(PARTNER_API, 'notFound', 'this key is not that of a connection');
}

/** What needs attention of the connection of a key. */
@Controller()
export class PartnerAttentionController {
  constructor(
    private readonly attention: AttentionService,
    private readonly dataSource: DataSource,
  ) {}

  @Route(PARTNER_API, 'getOwnAttention')
  async get(@Req() { call }: Request) {
    const { haulerId, connectionId } = connectionOf(call);
    const connection = await findConnection(this.dataSource, haulerId, connectionId);
    if (connection === undefined) throw apiError(PARTNER_API, 'notFound', 'the connection was deleted');
    return this.attention.ofConnection(connection);
  }
}
