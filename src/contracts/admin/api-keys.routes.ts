import {
  API_KEY_EXAMPLES,
  ApiKey,
  ApiKeyQuery,
  IssueApiKeyRequest,
  IssuedApiKey,
  KeyRemoval,
  RotateApiKeyRequest,
} from './api-key.dto.js';
import {
  type AdminRoutes,
  change,
  create,
  FOR_ADMINS,
  FOR_ADMINS_OF_ALL,
  FOR_VIEWERS,
  list,
  one,
  removeWithPreview,
} from './route-helpers.js';

/** API keys that this service issues. */
export const API_KEY_ROUTES = {
  issueApiKey: create(FOR_ADMINS_OF_ALL, '/api-keys', IssueApiKeyRequest, IssuedApiKey, {
    summary: 'Issue an API key',
    description:
      'Only this response shows the key. A key opens interfaces; with `connectionId` it opens the partner API alone, for the partner of that connection.',
    examples: API_KEY_EXAMPLES,
    isSecret: true,
  }),
  listApiKeys: list(FOR_VIEWERS, '/api-keys', ApiKey, ApiKeyQuery, {
    summary: 'List API keys',
    description: 'Newest first, without the keys themselves.',
  }),
  getApiKey: one(FOR_VIEWERS, '/api-keys/{id}', 'key', ApiKey, {
    summary: 'Read an API key',
    description: 'By its id, without the key itself: also one that is revoked or has expired.',
  }),
  rotateApiKey: change(FOR_ADMINS, 'POST', '/api-keys/{id}/rotate', 'key', {
    summary: 'Rotate an API key',
    description:
      'The new key is dormant until its first use. From then on the old key works for the overlap only. A second rotation before the first use replaces the dormant key.',
    body: RotateApiKeyRequest,
    response: IssuedApiKey,
    isBodyOptional: true,
    status: 201,
    returns: 'The new key',
    isSecret: true,
    fails: { conflict: 'The key is revoked or has expired: issue a new key' },
  }),
  revokeApiKey: removeWithPreview(FOR_ADMINS, '/api-keys/{id}', 'key', KeyRemoval, {
    summary: 'Revoke an API key',
    description: 'Permanently, on every instance within 5 s.',
    returns: 'The key is revoked',
  }),
} as const satisfies AdminRoutes;
