import { Injectable } from '@nestjs/common';
import type { Request } from 'express';
import type { ApiContract } from '../contracts/common/api-contract.js';
import { apiError } from '../errors/app-error.js';
import type { Principal } from './principal.js';

/** Knows who calls by the API key of the request. */
@Injectable()
export class ApiKeyService {
  /** The caller, or `unauthorized` whatever is wrong with the key: absent, twice, unknown, expired, of another interface. */
  async authenticate(_request: Request, api: ApiContract): Promise<Principal> {
    throw apiError(api, 'unauthorized', `send a valid key in the header ${api.keyHeader}`);
  }
}
