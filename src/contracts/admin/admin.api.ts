import { type ApiRoute, COMMON_ERRORS, defineApi, type RouteResponse } from '../common/api-contract.js';
import { ACCESS_ROUTES } from './access.routes.js';
import { CONNECTION_ROUTES } from './connections.routes.js';
import { EXCHANGE_ROUTES } from './exchanges.routes.js';
import { FOOTAGE_ROUTES } from './footage.routes.js';
import { KEEPING_ROUTES } from './keeping.routes.js';
import { OPERATION_ROUTES } from './operation.routes.js';
import { PEOPLE_ROUTES } from './people.routes.js';
import { RECORD_ROUTES } from './records.routes.js';
import { REFERENCE_PARTNER_ROUTES } from './reference-partner.routes.js';
import { SHARE_ROUTES } from './share.routes.js';
import { REPORT_ROUTES } from './report.routes.js';
import { VIDEO_ROUTES } from './video.routes.js';
import { WEBHOOK_ROUTES } from './webhooks.routes.js';

const ROUTES = {
  ...OPERATION_ROUTES,
  ...ACCESS_ROUTES,
  ...PEOPLE_ROUTES,
  ...RECORD_ROUTES,
  ...CONNECTION_ROUTES,
  ...VIDEO_ROUTES,
  ...FOOTAGE_ROUTES,
  ...KEEPING_ROUTES,
  ...SHARE_ROUTES,
  ...EXCHANGE_ROUTES,
  ...WEBHOOK_ROUTES,
  ...REFERENCE_PARTNER_ROUTES,
  ...REPORT_ROUTES,
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
