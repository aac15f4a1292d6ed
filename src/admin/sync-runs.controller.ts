import { Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import { IdParam, List, listOf } from '../contracts/admin/list.dto.js';
import { QuarantinedRecord, SyncRun, SyncRunQuery } from '../contracts/admin/sync-run.dto.js';
import { PageQuery } from '../contracts/common/pagination.dto.js';
import { FailsWith } from '../http/route-documentation.js';
import { SyncRunQueries } from '../site-sync/sync/sync-run-queries.js';
import { SyncRunsService } from '../site-sync/sync/sync-runs.service.js';

const UNKNOWN = { notFound: 'There is no such run' };

@AdminApi('sync-runs')
export class SyncRunsController {
  constructor(
    private readonly queries: SyncRunQueries,
    private readonly runs: SyncRunsService,
  ) {}

  @Get()
  @ApiOperation({ summary: 'List synchronisation runs', description: 'Newest first.' })
  @ApiOkResponse({ description: 'A page of runs', type: listOf(SyncRun) })
  list(@Query() query: SyncRunQuery): Promise<List<SyncRun>> {
    return this.queries.list(query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a synchronisation run', description: 'With what it did to each kind of records.' })
  @ApiOkResponse({ description: 'The run', type: SyncRun })
  @FailsWith(UNKNOWN)
  get(@Param() { id }: IdParam): Promise<SyncRun> {
    return this.queries.get(id);
  }

  @Get(':id/quarantine')
  @ApiOperation({
    summary: "List a run's doubtful records",
    description:
      'What it did not take, and what it took with doubt. At most 10,000 of a run are kept, and of the newest 20 runs of a connection.',
  })
  @ApiOkResponse({ description: 'A page of records', type: listOf(QuarantinedRecord) })
  @FailsWith(UNKNOWN)
  quarantine(@Param() { id }: IdParam, @Query() query: PageQuery): Promise<List<QuarantinedRecord>> {
    return this.queries.quarantine(id, query);
  }

  @Post(':id/confirm')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Confirm held removals',
    description: "Makes inactive what was absent from the partner's answer; the run has succeeded then.",
  })
  @ApiOkResponse({ description: 'The run', type: SyncRun })
  @FailsWith({ ...UNKNOWN, conflict: 'The run holds no removals, or a newer run of the connection has begun' })
  confirm(@Param() { id }: IdParam): Promise<SyncRun> {
    return this.runs.confirm(id);
  }
}
