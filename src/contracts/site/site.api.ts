import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import { GetSitesQuery, GetSitesResponse } from './site.dto.js';

const ETAG = 'W/"2c26b46b68ffc68ff99b453c1d304134"';

const ETAG_HEADERS = {
  ETag: { description: 'Identifies this state of the data', schema: { type: 'string', maxLength: 128, example: ETAG } },
  Vary: {
    description: 'The request header that decides whether the response is compressed',
    schema: { type: 'string', enum: ['Accept-Encoding'] },
  },
} as const;

/** Site API 1.0.0 (sections 2.4a, 4.3): hosted by partners, called by the platform. */
export const SITE_API = defineApi({
  name: 'site',
  title: 'Site API',
  version: '1.0.0',
  prefix: '/scale-platform/v1',
  keyHeader: 'API-KEY',
  routes: {
    getSites: {
      method: 'GET',
      path: '/sites',
      summary: "A hauler's sites, kiosks and materials",
      description:
        'All active records of the hauler in a stable order. The response is compressed for callers that accept gzip.',
      query: GetSitesQuery,
      requestHeaders: {
        'If-None-Match': {
          description:
            'The `ETag` of an earlier response. If the data has not changed since, the response is 304 without a body',
          schema: { type: 'string', maxLength: 8192, example: ETAG },
        },
      },
      status: 200,
      response: GetSitesResponse,
      returns: "The hauler's data",
      responseHeaders: {
        ...ETAG_HEADERS,
        'Content-Encoding': {
          description: 'Present if the response is compressed, as `Accept-Encoding` allows',
          schema: { type: 'string', maxLength: 16, example: 'gzip' },
        },
      },
      notModified: {
        description: 'The data is unchanged since the response that `If-None-Match` names',
        headers: ETAG_HEADERS,
      },
      fails: { notFound: 'This hauler has no data' },
    },
  },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'INTERNAL_ERROR', 'VALIDATION_ERROR', 'NOT_FOUND'],
  errors: { ...COMMON_ERRORS, ruleViolated: 'VALIDATION_ERROR', notFound: 'NOT_FOUND' },
});
