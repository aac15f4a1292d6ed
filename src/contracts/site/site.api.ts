import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';
import type { GetSitesQuery, GetSitesResponse } from './site.dto.js';

/** Site API 1.0.0 (sections 2.4a, 4.3): hosted by partners, called by the platform. */
export const SITE_API = defineApi({
  name: 'site',
  title: 'Site API',
  version: '1.0.0',
  prefix: '/scale-platform/v1',
  keyHeader: 'API-KEY',
  routes: { getSites: { method: 'GET', path: '/sites' } },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'INTERNAL_ERROR', 'VALIDATION_ERROR', 'NOT_FOUND'],
  errors: { ...COMMON_ERRORS, ruleViolated: 'VALIDATION_ERROR', notFound: 'NOT_FOUND' },
});

/** The reference partner and the outbound client implement this. The client streams the body: its `Response` is void. */
export interface SiteApi<Caller, Response = GetSitesResponse> {
  getSites(query: GetSitesQuery, caller: Caller): Promise<Response>;
}
