import { Controller, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import { principalOf } from '../../auth/caller.js';
import { Route } from '../../auth/route.js';
import { IdParam } from '../../contracts/admin/list.dto.js';
import { RecordingFilters } from '../../contracts/admin/recordings.routes.js';
import { QuarantineQuery, SyncChangeQuery, SyncRunFilters } from '../../contracts/admin/sync-runs.routes.js';
import { TruckFilters } from '../../contracts/admin/video-subscriptions.routes.js';
import { VisionFindingFilters } from '../../contracts/admin/vision-finding.dto.js';
import { Poke } from '../../contracts/partner/partner-webhooks.routes.js';
import { PARTNER_API } from '../../contracts/partner/partner.api.js';
import { apiError } from '../../core/errors/app-error.js';
import { listAnswer } from '../../core/http/list-answer.js';
import type { Call } from '../../core/http/call.js';
import { JsonBody } from '../../core/http/json-body.js';
import { SyncRunsService } from '../../site-sync/sync/sync-runs.service.js';
import { VisionFindings } from '../../vision/client/findings.repository.js';
import { VideoSubscriptions } from '../../vision/continuous/subscriptions.service.js';
import { DownloadRetry } from '../../vision/downloads/download-retry.service.js';
import { Pokes } from '../../vision/pokes/pokes.service.js';
import { Recordings } from '../../vision/recordings/recordings.service.js';
import { DataSource } from 'typeorm';
import { AttentionService } from '../attention/attention.service.js';
import { findConnection } from '../../partner-client/connections.service.js';

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
