import { Param, Query } from '@nestjs/common';
import { AdminController, AdminRoute } from '../auth/admin-api.js';
import {
  Connection,
  ConnectionCheck,
  ConnectionQuery,
  CreateConnectionRequest,
  UpdateConnectionRequest,
} from '../contracts/admin/connection.dto.js';
import { IdParam, List } from '../contracts/admin/list.dto.js';
import { RequestedSyncRun } from '../contracts/admin/sync-run.dto.js';
import { JsonBody } from '../http/json-body.js';
import { ConnectionCheckService } from '../partner-client/connection-check.service.js';
import { ConnectionsService } from '../partner-client/connections.service.js';
import { SyncRunsService } from '../site-sync/sync/sync-runs.service.js';

@AdminController()
export class ConnectionsController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly checks: ConnectionCheckService,
    private readonly runs: SyncRunsService,
  ) {}

  @AdminRoute('createConnection')
  create(@JsonBody() request: CreateConnectionRequest): Promise<Connection> {
    return this.connections.create(request);
  }

  @AdminRoute('listConnections')
  list(@Query() query: ConnectionQuery): Promise<List<Connection>> {
    return this.connections.list(query);
  }

  @AdminRoute('getConnection')
  get(@Param() { id }: IdParam): Promise<Connection> {
    return this.connections.get(id);
  }

  @AdminRoute('updateConnection')
  update(@Param() { id }: IdParam, @JsonBody() request: UpdateConnectionRequest): Promise<Connection> {
    return this.connections.update(id, request);
  }

  @AdminRoute('deleteConnection')
  remove(@Param() { id }: IdParam): Promise<void> {
    return this.connections.remove(id);
  }

  @AdminRoute('checkConnection')
  check(@Param() { id }: IdParam): Promise<ConnectionCheck> {
    return this.checks.check(id);
  }

  @AdminRoute('syncConnection')
  sync(@Param() { id }: IdParam): Promise<RequestedSyncRun> {
    return this.runs.request(id);
  }
}
