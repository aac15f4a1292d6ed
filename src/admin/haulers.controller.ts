import { Param, Query } from '@nestjs/common';
import { AdminController, AdminRoute } from '../auth/admin-api.js';
import { ApiKeyAdmin } from '../auth/api-key-admin.service.js';
import { HaulersService } from '../auth/haulers.service.js';
import { KeyRotation } from '../auth/key-rotation.service.js';
import {
  ApiKey,
  ApiKeyQuery,
  CreateHaulerRequest,
  Hauler,
  IssueApiKeyRequest,
  IssuedApiKey,
  RotateApiKeyRequest,
} from '../contracts/admin/access.dto.js';
import { IdParam, List, ListQuery } from '../contracts/admin/list.dto.js';
import { JsonBody } from '../http/json-body.js';

/** Haulers and their API keys. */
@AdminController()
export class HaulersController {
  constructor(
    private readonly haulers: HaulersService,
    private readonly keys: ApiKeyAdmin,
    private readonly rotation: KeyRotation,
  ) {}

  @AdminRoute('createHauler')
  create(@JsonBody() request: CreateHaulerRequest): Promise<Hauler> {
    return this.haulers.create(request);
  }

  @AdminRoute('listHaulers')
  list(@Query() query: ListQuery): Promise<List<Hauler>> {
    return this.haulers.list(query);
  }

  @AdminRoute('getHauler')
  get(@Param() { id }: IdParam): Promise<Hauler> {
    return this.haulers.get(id);
  }

  @AdminRoute('issueApiKey')
  issueKey(@JsonBody() request: IssueApiKeyRequest): Promise<IssuedApiKey> {
    return this.keys.issue(request);
  }

  @AdminRoute('listApiKeys')
  listKeys(@Query() query: ApiKeyQuery): Promise<List<ApiKey>> {
    return this.keys.list(query);
  }

  @AdminRoute('rotateApiKey')
  rotateKey(
    @Param() { id }: IdParam,
    @JsonBody({ optional: true }) { overlapSeconds }: RotateApiKeyRequest,
  ): Promise<IssuedApiKey> {
    return this.rotation.rotate(id, overlapSeconds);
  }

  @AdminRoute('revokeApiKey')
  revokeKey(@Param() { id }: IdParam): Promise<void> {
    return this.keys.revoke(id);
  }
}
