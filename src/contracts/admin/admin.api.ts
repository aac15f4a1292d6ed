import { type ApiRoute, COMMON_ERRORS, defineApi, type RouteResponse } from '../common/api-contract.js';
import { ACCOUNT_ROUTES } from './accounts.routes.js';
import { ACTION_ROUTES } from './actions.routes.js';
import { API_KEY_ROUTES } from './api-keys.routes.js';
import { ATTENTION_ROUTES } from './attention.routes.js';
import { CATALOG_ROUTES } from './catalog.routes.js';
import { CONNECTION_ROUTES } from './connections.routes.js';
import { COVERAGE_ROUTES } from './coverage.routes.js';
import { ERASURE_ROUTES } from './erasures.routes.js';
import { EXCHANGE_ROUTES } from './exchanges.routes.js';
import { HAULER_ROUTES } from './haulers.routes.js';
import { HOLD_ROUTES } from './holds.routes.js';
import { HOSTED_ROUTES } from './hosted.routes.js';
import { OUTBOUND_ROUTES } from './outbound.routes.js';
import { RECORDING_ROUTES } from './recordings.routes.js';
import { RETENTION_ROUTES } from './retention.routes.js';
import { SANDBOX_ROUTES } from './sandbox.routes.js';
import { SEARCH_ROUTES } from './search.routes.js';
import { SESSION_ROUTES } from './sessions.routes.js';
import { SHARE_ROUTES } from './shares.routes.js';
import { STORAGE_ROUTES } from './storage.routes.js';
import { SYNC_RUN_ROUTES } from './sync-runs.routes.js';
import { TICKET_ROUTES } from './tickets.routes.js';
import { VIDEO_REQUEST_ROUTES } from './video-requests.routes.js';
import { VIDEO_SUBSCRIPTION_ROUTES } from './video-subscriptions.routes.js';
import { WEBHOOK_ROUTES } from './webhooks.routes.js';

const ROUTES = {
  ...ATTENTION_ROUTES,
  ...SEARCH_ROUTES,
  ...ACTION_ROUTES,
  ...STORAGE_ROUTES,
  ...OUTBOUND_ROUTES,
  ...HAULER_ROUTES,
  ...API_KEY_ROUTES,
  ...SESSION_ROUTES,
  ...TICKET_ROUTES,
  ...ACCOUNT_ROUTES,
  ...CONNECTION_ROUTES,
  ...SYNC_RUN_ROUTES,
  ...CATALOG_ROUTES,
  ...VIDEO_REQUEST_ROUTES,
  ...VIDEO_SUBSCRIPTION_ROUTES,
  ...RECORDING_ROUTES,
  ...COVERAGE_ROUTES,
  ...HOLD_ROUTES,
  ...RETENTION_ROUTES,
  ...ERASURE_ROUTES,
  ...SHARE_ROUTES,
  ...EXCHANGE_ROUTES,
  ...WEBHOOK_ROUTES,
  ...HOSTED_ROUTES,
  ...SANDBOX_ROUTES,
} as const;

/** The admin API, under a prefix of its own: bearer token, the common error body. */
export const ADMIN_API = defineApi({
  name: 'admin',
  title: 'Admin API',
  version: '1.0.0',
  prefix: '/admin/v1',
  keyHeader: 'Authorization',
  routes: ROUTES,
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT', 'INTERNAL_ERROR'],
  errors: {
    ...COMMON_ERRORS,
    forbidden: 'FORBIDDEN',
    notFound: 'NOT_FOUND',
    conflict: 'CONFLICT',
    gone: 'NOT_FOUND',
    rangeNotSatisfiable: 'INVALID_PAYLOAD',
  },
});

export type AdminRouteName = keyof typeof ROUTES;

/** The routes by name, without the exact types of each. */
export const ADMIN_ROUTES: Readonly<Record<AdminRouteName, ApiRoute>> = ADMIN_API.routes;

export type AdminResponse<Name extends AdminRouteName> = RouteResponse<(typeof ROUTES)[Name]>;

/** The first parts of the paths with their descriptions, in the order of the document. */
export const ADMIN_SUBJECTS: ReadonlyMap<string, string> = new Map([
  ['attention', 'What needs attention, the most urgent first'],
  ['overview', 'The last 24 hours in numbers'],
  ['search', 'One look for all that has a number, a name or an id'],
  ['haulers', 'Tenants of the platform: each has its own keys, tickets, accounts and connections'],
  ['api-keys', 'API keys that this service issues to partners: issue, rotate without an outage, revoke'],
  ['sessions', 'Sessions of the console: who is signed in, and until when'],
  ['tickets', 'Disposal tickets that partners pushed, and every stored push'],
  ['accounts', 'Customer accounts that partners created'],
  ['reports', 'Sums over tickets'],
  ['connections', "A hauler's links to the Site and Vision interfaces of partners: address, key, schedule"],
  ['sync-runs', 'Synchronisation runs of site connections: counts, quarantined records, held removals'],
  ['sites', 'Disposal sites as last synchronised'],
  ['kiosks', 'Stations within sites'],
  ['materials', 'Materials that a site or kiosk accepts'],
  ['video-requests', 'Requests for on-demand clips, and their progress'],
  ['video-subscriptions', 'Subscriptions to the continuous recordings of trucks'],
  ['recordings', 'Recordings and clips from partners, and their files'],
  ['shares', 'Links by which people without an account see a recording'],
  ['coverage', 'The stored, available, missing and expired video of a truck over time'],
  ['holds', 'Footage that a case needs: it is kept until the hold is released'],
  ['erasures', 'Erasure of an account or of footage by request: dry run and receipt'],
  ['vision-findings', "Errors in partners' video lists"],
  ['exchanges', 'HTTP exchanges in both directions: search, explanation, replay'],
  ['webhook-endpoints', 'Addresses that get signed messages, notes in Slack or e-mails about what happens'],
  ['webhook-deliveries', 'What was delivered to webhook endpoints, and the answers of the receivers'],
  ['hosted', 'Data of the partner side, which the reference partner serves'],
  ['sandbox', 'Simulated faults, and the clock of the reference partner'],
  ['actions', 'The action log: who changed what, and when'],
  ['doctor', 'Comparison of the video storage with the database'],
  ['outbound', 'The switch of all calls to partners'],
  ['retention', 'Deletion of stored video by age'],
]);
