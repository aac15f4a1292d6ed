import { applyDecorators, Controller, SetMetadata, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import type { ApiContract } from '../contracts/common/api-contract.js';
import { FailsWith, OF_ALL, OF_KEYS } from '../http/route-documentation.js';
import { ApiKeyGuard, HOSTED_CONTRACT } from './api-key.guard.js';

/** One line above a controller names its contract: prefix, key, documentation and error replies come with it. */
export function HostedApi(api: ApiContract): ClassDecorator {
  return applyDecorators(
    Controller(api.prefix),
    SetMetadata(HOSTED_CONTRACT, api),
    UseGuards(ApiKeyGuard),
    ApiSecurity(api.keyHeader),
    FailsWith({ ...OF_ALL, ...OF_KEYS }),
  );
}
