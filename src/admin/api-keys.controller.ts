import { Delete, Get, Header, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import { ApiKeyAdmin } from '../auth/api-key-admin.service.js';
import { KeyRotation } from '../auth/key-rotation.service.js';
import {
  API_KEY_EXAMPLES,
  ApiKey,
  ApiKeyQuery,
  IssueApiKeyRequest,
  IssuedApiKey,
  RotateApiKeyRequest,
} from '../contracts/admin/api-key.dto.js';
import { IdParam, List, listOf } from '../contracts/admin/list.dto.js';
import { JsonBody } from '../http/json-body.js';
import { FailsWith, TakesJson } from '../http/route-documentation.js';

/** Answers that show a key, which nobody between may keep. */
const NO_STORE = ['Cache-Control', 'no-store'] as const;

const NOT_KEPT = {
  [NO_STORE[0]]: {
    description: 'That nobody may keep the answer',
    schema: { type: 'string' as const, enum: [NO_STORE[1]] },
  },
};

const UNKNOWN = { notFound: 'There is no such key' };

@AdminApi('api-keys')
export class ApiKeysController {
  constructor(
    private readonly keys: ApiKeyAdmin,
    private readonly rotation: KeyRotation,
  ) {}

  @Post()
  @ApiOperation({ summary: 'Issue an API key', description: 'The key is shown in this answer only.' })
  @TakesJson(IssueApiKeyRequest, { examples: API_KEY_EXAMPLES })
  @Header(...NO_STORE)
  @ApiCreatedResponse({ description: 'The key', type: IssuedApiKey, headers: NOT_KEPT })
  issue(@JsonBody() request: IssueApiKeyRequest): Promise<IssuedApiKey> {
    return this.keys.issue(request);
  }

  @Get()
  @ApiOperation({ summary: 'List API keys', description: 'Newest first, without the keys themselves.' })
  @ApiOkResponse({ description: 'A page of keys', type: listOf(ApiKey) })
  list(@Query() query: ApiKeyQuery): Promise<List<ApiKey>> {
    return this.keys.list(query);
  }

  @Post(':id/rotate')
  @ApiOperation({
    summary: 'Rotate an API key',
    description:
      'The new key is dormant until its first use; from then on the old one lives for the overlap. Rotating again before that first use replaces the dormant key.',
  })
  @TakesJson(RotateApiKeyRequest, { optional: true })
  @Header(...NO_STORE)
  @ApiCreatedResponse({ description: 'The new key', type: IssuedApiKey, headers: NOT_KEPT })
  @FailsWith({ ...UNKNOWN, conflict: 'The key is revoked or has expired: issue a new one' })
  rotate(
    @Param() { id }: IdParam,
    @JsonBody({ optional: true }) { overlapSeconds }: RotateApiKeyRequest,
  ): Promise<IssuedApiKey> {
    return this.rotation.rotate(id, overlapSeconds);
  }

  @Delete(':id')
  @HttpCode(204)
  @ApiOperation({ summary: 'Revoke an API key', description: 'For good, on every instance within 5 s.' })
  @ApiNoContentResponse({ description: 'The key is revoked' })
  @FailsWith(UNKNOWN)
  revoke(@Param() { id }: IdParam): Promise<void> {
    return this.keys.revoke(id);
  }
}
