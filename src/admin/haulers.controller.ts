import { Controller, Param, Query } from '@nestjs/common';
import { Route } from '../auth/route.js';
import { ADMIN_API } from '../contracts/admin/admin.api.js';
import { ApiKeyAdmin } from '../auth/api-key-admin.service.js';
import { HaulersService } from '../auth/haulers.service.js';
import { KeyRotation } from '../auth/key-rotation.service.js';
import { ApiKeyQuery, IssueApiKeyRequest, RotateApiKeyRequest } from '../contracts/admin/api-keys.routes.js';
import { CreateHaulerRequest } from '../contracts/admin/haulers.routes.js';
import { DryRunQuery } from '../contracts/admin/fields.js';
import { IdParam, ListQuery } from '../contracts/admin/list.dto.js';
import { JsonBody } from '../core/http/json-body.js';
import { ConnectionHealthService } from './connection-health.service.js';

/** Haulers and their API keys. */
@Controller()
export class HaulersController {
  constructor(
    private readonly haulers: HaulersService,
    private readonly keys: ApiKeyAdmin,
    private readonly rotation: KeyRotation,
    private readonly health: ConnectionHealthService,
  ) {}

  @Route(ADMIN_API, 'createHauler')
  create(@JsonBody() request: CreateHaulerRequest) {
    return this.haulers.create(request);
  }

  @Route(ADMIN_API, 'listHaulers')
  async list(@Query() query: ListQuery) {
    const { data, pagination } = await this.haulers.list(query);
    return { data: await this.health.ofHaulers(data), pagination };
  }

  @Route(ADMIN_API, 'getHauler')
  async get(@Param() { id }: IdParam) {
    return this.health.ofHauler(await this.haulers.get(id));
  }

  @Route(ADMIN_API, 'issueApiKey')
  issueKey(@JsonBody() request: IssueApiKeyRequest) {
    return this.keys.issue(request);
  }

  @Route(ADMIN_API, 'listApiKeys')
  listKeys(@Query() query: ApiKeyQuery) {
    return this.keys.list(query);
  }

  @Route(ADMIN_API, 'getApiKey')
  getKey(@Param() { id }: IdParam) {
    return this.keys.get(id);
  }

  @Route(ADMIN_API, 'rotateApiKey')
  rotateKey(@Param() { id }: IdParam, @JsonBody() request: RotateApiKeyRequest) {
    return this.rotation.rotate(id, request);
  }

  @Route(ADMIN_API, 'revokeApiKey')
  revokeKey(@Param() { id }: IdParam, @Query() { dryRun }: DryRunQuery) {
    return this.keys.revoke(id, dryRun);
  }
}
