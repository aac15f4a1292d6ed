import { MAX_LIST_BYTES } from '../../contracts/common/answer-limits.js';
import { isJsonObject } from '../../contracts/common/json.js';
import { SITE_API } from '../../contracts/site/site.api.js';
import {
  errorBodyFault,
  type Form,
  jsonRules,
  memberRow,
  rulesOf,
  sizeRules,
  statusFault,
  TRUE,
  valueAt,
} from '../checks.js';
import { UnprovenError } from '../exchange.js';
import { notProven, passedUnless, type RequestPlan, type Rule, type ServerRole } from '../rule.js';
import { failing, internalErrorRules, refusalPlans, refusalRules } from '../refusals.js';
import { SITE_LISTS } from './site-facts.js';
import { SITE_RECORD_RULES } from './site-records.js';
import { SITE_REPEAT_RULES } from './site-repeat.js';
import { OPERATION, SITE_REFUSED } from './site-table.js';

/** A longer list is not compared with a second one: parsed JSON takes ten times its size in memory. */
const MAX_COMPARED_BYTES = 8 * 1024 * 1024;
/** Of times that have no fractions. */
const CLOCK_STEP_MS = 1_200;

const list: RequestPlan = {
  operation: OPERATION,
  draft: ({ fixtures: { haulerId } }) => {
    if (haulerId === undefined) throw new UnprovenError('no hauler is known: pass --hauler-id');
    return { query: { haulerId } };
  },
};

const PLANS: Readonly<Record<string, RequestPlan>> = {
  list,
  again: {
    operation: OPERATION,
    // An updatedAt that is the time of the answer differs by then.
    pauseMs: CLOCK_STEP_MS,
    draft: async (run, page) => {
      const { answer } = await run.exchange('list');
      if ((answer?.body.length ?? 0) > MAX_COMPARED_BYTES)
        throw new UnprovenError('the list is too large to be compared with a second one');
      return list.draft(run, page);
    },
  },
  'SITE-066': failing(list),
  ...refusalPlans(
    SITE_REFUSED,
    () => list,
    () => list,
  ),
};

const OBJECT: Form = ['an object', isJsonObject];
const LIST: Form = [
  'an array of objects, or absent',
  (value) => value == null || (Array.isArray(value) && value.every(isJsonObject)),
];

const ENVELOPE: readonly Rule[] = [
  ...rulesOf({ operation: OPERATION, section: '4.3', on: 'list' }, [
    'SITE-001',
    'GET /scale-platform/v1/sites with the key and a haulerId is answered with 200',
    'Serve GET /scale-platform/v1/sites at the base address, accept the key in the header API-KEY, and answer 200 for a hauler with data.',
    (exchange) =>
      exchange.status === 404 && errorBodyFault(exchange, 'NOT_FOUND') === undefined
        ? notProven('the server has no data of this hauler (404 NOT_FOUND)')
        : passedUnless(statusFault(exchange, 200)),
  ]),
  ...sizeRules('SITE-009', { operation: OPERATION, on: 'list' }, ({ json }) =>
    Object.keys(SITE_LISTS).flatMap((path) => {
      const records = valueAt(json, path);
      return Array.isArray(records) ? [[path, records] as const] : [];
    }),
  ),
  ...jsonRules(['SITE-002', 'SITE-003'], OPERATION, 'list', 'the answer'),
  ...rulesOf(
    { operation: OPERATION, section: '2.4a', on: 'list', needs: ['SITE-003'] },
    memberRow('SITE-004', 'success', TRUE),
    memberRow('SITE-005', 'data', OBJECT),
  ),
  ...rulesOf(
    { operation: OPERATION, section: '2.4a', on: 'list', needs: ['SITE-005'] },
    memberRow('SITE-006', 'data.sites', LIST),
    memberRow('SITE-007', 'data.kiosks', LIST),
    memberRow('SITE-008', 'data.materials', LIST),
  ),
];

export const SITE_SERVER: ServerRole = {
  name: 'site-server',
  keyHeader: SITE_API.keyHeader,
  otherHeader: 'PLATFORM-API-KEY',
  operations: {
    [OPERATION]: {
      method: 'GET',
      path: `${SITE_API.prefix}${SITE_API.routes.getSites.path}`,
      maxBytes: MAX_LIST_BYTES,
    },
  },
  plans: PLANS,
  refused: SITE_REFUSED,
  rules: [
    ...ENVELOPE,
    ...SITE_RECORD_RULES,
    ...SITE_REPEAT_RULES,
    ...refusalRules(...SITE_REFUSED),
    ...internalErrorRules('SITE-066', OPERATION),
  ],
};
