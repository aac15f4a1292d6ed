import { Controller, Param, Query, Res } from '@nestjs/common';
import type { Response } from 'express';
import { ApiKeyAdmin } from '../auth/api-key-admin.service.js';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import {
  CheckConnectionRequest,
  ConnectionQuery,
  CreateConnectionRequest,
  UpdateConnectionRequest,
} from '../contracts/admin/connections.routes.js';
import { DryRunQuery } from '../contracts/admin/fields.js';
import { IdParam } from '../contracts/admin/list.dto.js';
import { JsonBody } from '../core/http/json-body.js';
import { longWork } from '../core/http/answer.js';
import { ConnectionsService } from '../partner-client/connections.service.js';
import { SyncRunsService } from '../site-sync/sync/sync-runs.service.js';
import { VisionConnections } from '../vision/client/vision-connections.repository.js';
import { ConnectionCheckService } from './connection-check.service.js';
import { ConnectionHealthService } from './connection-health.service.js';

@Controller()
export class ConnectionsController {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly checks: ConnectionCheckService,
    private readonly runs: SyncRunsService,
    private readonly keys: ApiKeyAdmin,
    private readonly visionWork: VisionConnections,
    private readonly health: ConnectionHealthService,
  ) {}

  @Route(ADMIN_API, 'createConnection')
  create(@JsonBody() request: CreateConnectionRequest) {
    return this.connections.create(request);
  }

  @Route(ADMIN_API, 'listConnections')
  async list(@Query() query: ConnectionQuery) {
    const { data, pagination } = await this.connections.list(query);
    return { data: await this.health.with(data), pagination };
  }

  @Route(ADMIN_API, 'getConnection')
  async get(@Param() { id }: IdParam) {
    return this.health.ofConnection(await this.connections.get(id));
  }

  @Route(ADMIN_API, 'updateConnection')
  update(@Param() { id }: IdParam, @JsonBody() request: UpdateConnectionRequest) {
    return this.connections.update(id, request, this.visionWork);
  }

  @Route(ADMIN_API, 'deleteConnection')
  async remove(
    @Param() { id }: IdParam,
    @Query() { dryRun }: DryRunQuery,
    @Res({ passthrough: true }) response: Response,
  ) {
    const { ended, preview } = await longWork(response, () => this.connections.remove(id, dryRun));
    this.keys.forget(ended);
    return preview;
  }

  @Route(ADMIN_API, 'checkConnection')
  check(
    @Param() { id }: IdParam,
    @JsonBody() { truckId }: CheckConnectionRequest,
    @Res({ passthrough: true }) response: Response,
  ) {
    return longWork(response, (left) => this.checks.check(id, truckId, left));
  }

  @Route(ADMIN_API, 'syncConnection')
  sync(@Param() { id }: IdParam) {
    return this.runs.request(id);
  }
}
