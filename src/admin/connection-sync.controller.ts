import { HttpCode, Param, Post } from '@nestjs/common';
import { ApiAcceptedResponse, ApiOperation } from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import { IdParam } from '../contracts/admin/list.dto.js';
import { RequestedSyncRun } from '../contracts/admin/sync-run.dto.js';
import { FailsWith } from '../http/route-documentation.js';
import { SyncRunsService } from '../site-sync/sync/sync-runs.service.js';

@AdminApi('connections')
export class ConnectionSyncController {
  constructor(private readonly runs: SyncRunsService) {}

  @Post(':id/sync')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Synchronise a site connection now',
    description: 'Also while it is paused. While a run is active, the answer names that run.',
  })
  @ApiAcceptedResponse({ description: 'The run', type: RequestedSyncRun })
  @FailsWith({ notFound: 'There is no such connection' })
  sync(@Param() { id }: IdParam): Promise<RequestedSyncRun> {
    return this.runs.request(id);
  }
}
