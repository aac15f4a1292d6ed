import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';

/** The admin API, under paths of our own: bearer token, the common error body. */
export const ADMIN_API = defineApi({
  name: 'admin',
  title: 'Admin API',
  version: '1.0.0',
  prefix: '/admin/v1',
  keyHeader: 'Authorization',
  routes: {},
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'NOT_FOUND', 'CONFLICT', 'INTERNAL_ERROR'],
  errors: {
    ...COMMON_ERRORS,
    notFound: 'NOT_FOUND',
    conflict: 'CONFLICT',
    gone: 'NOT_FOUND',
    rangeNotSatisfiable: 'INVALID_PAYLOAD',
  },
});
