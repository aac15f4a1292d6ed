import {
  API_KEY_EXAMPLES,
  ApiKey,
  ApiKeyQuery,
  IssueApiKeyRequest,
  IssuedApiKey,
  RotateApiKeyRequest,
} from './api-key.dto.js';
import { IdParam } from './list.dto.js';
import { type AdminRoutes, create, ofOne, page } from './route-parts.js';

/** API keys that this service issues. */
export const API_KEY_ROUTES = {
  issueApiKey: {
    ...create(IssuedApiKey, 'key'),
    path: '/api-keys',
    role: 'admin',
    summary: 'Issue an API key',
    description:
      'Only this response shows the key. A key opens interfaces; with `connectionId` it opens the partner API alone, for the partner of that connection.',
    body: IssueApiKeyRequest,
    examples: API_KEY_EXAMPLES,
    isSecret: true,
  },
  listApiKeys: {
    ...page(ApiKey, 'keys'),
    path: '/api-keys',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List API keys',
    description: 'Newest first, without the keys themselves.',
    query: ApiKeyQuery,
  },
  rotateApiKey: {
    method: 'POST',
    path: '/api-keys/{id}/rotate',
    role: 'admin',
    isPerHauler: true,
    summary: 'Rotate an API key',
    description:
      'The new key is dormant until its first use. From then on the old key works for the overlap only. A second rotation before the first use replaces the dormant key.',
    params: IdParam,
    body: RotateApiKeyRequest,
    isBodyOptional: true,
    status: 201,
    response: IssuedApiKey,
    returns: 'The new key',
    isSecret: true,
    fails: {
      notFound: 'No key has this id',
      conflict: 'The key is revoked or has expired: issue a new key',
    },
  },
  revokeApiKey: {
    method: 'DELETE',
    path: '/api-keys/{id}',
    role: 'admin',
    isPerHauler: true,
    summary: 'Revoke an API key',
    description: 'Permanently, on every instance within 5 s.',
    ...ofOne('key'),
    status: 204,
    returns: 'The key is revoked',
  },
} as const satisfies AdminRoutes;
