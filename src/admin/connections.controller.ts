import { Controller, Param, Query } from '@nestjs/common';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
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

@Controller()
export class ConnectionsController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly checks: ConnectionCheckService,
    private readonly runs: SyncRunsService,
  ) {}

  @Route(ADMIN_API, 'createConnection')
  create(@JsonBody() request: CreateConnectionRequest): Promise<Connection> {
    return this.connections.create(request);
  }

  @Route(ADMIN_API, 'listConnections')
  list(@Query() query: ConnectionQuery): Promise<List<Connection>> {
    return this.connections.list(query);
  }

  @Route(ADMIN_API, 'getConnection')
  get(@Param() { id }: IdParam): Promise<Connection> {
    return this.connections.get(id);
  }

  @Route(ADMIN_API, 'updateConnection')
  update(@Param() { id }: IdParam, @JsonBody() request: UpdateConnectionRequest): Promise<Connection> {
    return this.connections.update(id, request);
  }

  @Route(ADMIN_API, 'deleteConnection')
  remove(@Param() { id }: IdParam): Promise<void> {
    return this.connections.remove(id);
  }

  @Route(ADMIN_API, 'checkConnection')
  check(@Param() { id }: IdParam): Promise<ConnectionCheck> {
    return this.checks.check(id);
  }

  @Route(ADMIN_API, 'syncConnection')
  sync(@Param() { id }: IdParam): Promise<RequestedSyncRun> {
    return this.runs.request(id);
  }
}
