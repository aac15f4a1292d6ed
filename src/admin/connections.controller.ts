import { Delete, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiCreatedResponse,
  ApiNoContentResponse,
  ApiOkResponse,
  ApiOperation,
} from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import {
  Connection,
  CONNECTION_CHANGES,
  ConnectionCheck,
  ConnectionQuery,
  CreateConnectionRequest,
  NEW_CONNECTIONS,
  UpdateConnectionRequest,
} from '../contracts/admin/connection.dto.js';
import { IdParam, List, listOf } from '../contracts/admin/list.dto.js';
import { RequestedSyncRun } from '../contracts/admin/sync-run.dto.js';
import { JsonBody } from '../http/json-body.js';
import { FailsWith, TakesJson } from '../http/route-documentation.js';
import { ConnectionCheckService } from '../partner-client/connection-check.service.js';
import { ConnectionsService } from '../partner-client/connections.service.js';
import { SyncRunsService } from '../site-sync/sync/sync-runs.service.js';

const UNKNOWN = { notFound: 'There is no such connection' };

@AdminApi('connections')
export class ConnectionsController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly checks: ConnectionCheckService,
    private readonly runs: SyncRunsService,
  ) {}

  @Post()
  @ApiOperation({
    summary: 'Connect a hauler to a partner',
    description: 'Keys are never shown again. An enabled site connection starts its first run at once.',
  })
  @TakesJson(CreateConnectionRequest, { examples: NEW_CONNECTIONS })
  @ApiCreatedResponse({ description: 'The connection', type: Connection })
  create(@JsonBody() request: CreateConnectionRequest): Promise<Connection> {
    return this.connections.create(request);
  }

  @Get()
  @ApiOperation({ summary: 'List connections', description: 'Newest first.' })
  @ApiOkResponse({ description: 'A page of connections', type: listOf(Connection) })
  list(@Query() query: ConnectionQuery): Promise<List<Connection>> {
    return this.connections.list(query);
  }

  @Get(':id')
  @ApiOperation({ summary: 'Read a connection', description: 'By its id.' })
  @ApiOkResponse({ description: 'The connection', type: Connection })
  @FailsWith(UNKNOWN)
  get(@Param() { id }: IdParam): Promise<Connection> {
    return this.connections.get(id);
  }

  @Patch(':id')
  @ApiOperation({
    summary: 'Change a connection',
    description: 'What is absent stays. `enabled: false` pauses it; a new address, key or customer is tried at once.',
  })
  @TakesJson(UpdateConnectionRequest, { examples: CONNECTION_CHANGES })
  @ApiOkResponse({ description: 'The connection', type: Connection })
  @FailsWith(UNKNOWN)
  update(@Param() { id }: IdParam, @JsonBody() request: UpdateConnectionRequest): Promise<Connection> {
    return this.connections.update(id, request);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({
    summary: 'Delete a connection',
    description: 'Its keys are erased and nothing more is called; the data that came through it stays.',
  })
  @ApiNoContentResponse({ description: 'The connection is deleted' })
  @FailsWith(UNKNOWN)
  remove(@Param() { id }: IdParam): Promise<void> {
    return this.connections.remove(id);
  }

  @Post(':id/check')
  @HttpCode(200)
  @ApiOperation({
    summary: 'Check a connection',
    description:
      'Calls the partner once, changes no data, and tells what was found. A next key that works is promoted.',
  })
  @ApiOkResponse({ description: 'What was found', type: ConnectionCheck })
  @FailsWith(UNKNOWN)
  check(@Param() { id }: IdParam): Promise<ConnectionCheck> {
    return this.checks.check(id);
  }

  @Post(':id/sync')
  @HttpCode(202)
  @ApiOperation({
    summary: 'Synchronise a site connection now',
    description: 'Also while it is paused. While a run is active, the answer names that run.',
  })
  @ApiAcceptedResponse({ description: 'The run', type: RequestedSyncRun })
  @FailsWith(UNKNOWN)
  sync(@Param() { id }: IdParam): Promise<RequestedSyncRun> {
    return this.runs.request(id);
  }
}
