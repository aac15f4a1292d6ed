import { MAX_LIST_BYTES } from '../../contracts/common/answer-limits.js';
import { isJsonObject } from '../../contracts/common/json.js';
import { SITE_API } from '../../contracts/site/site.api.js';
import {
  declaredAsJson,
  errorBodyFault,
  type Form,
  inJson,
  member,
  messageOf,
  smallEnough,
  statusFault,
  TRUE,
  valueAt,
} from '../checks.js';
import { UnprovenError } from '../exchange.js';
import { notProven, passedUnless, type RequestPlan, type Rule, type ServerRole } from '../rule.js';
import { failing, internalErrorRule, refusalPlans, refusalRules } from '../refusals.js';
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
  content: ({ fixtures: { haulerId } }) => {
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
    content: async (run, page) => {
      const { answer } = await run.exchange('list');
      if ((answer?.body.length ?? 0) > MAX_COMPARED_BYTES)
        throw new UnprovenError('the list is too large to be compared with a second one');
      return list.content(run, page);
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

/** What the rules of the answer have in common. */
const ANSWER = { operation: OPERATION, on: 'list' } as const;
const FIELD = { ...ANSWER, section: '2.4a', severity: 'must' } as const;

const ENVELOPE: readonly Rule[] = [
  {
    id: 'SITE-001',
    ...ANSWER,
    section: '4.3',
    severity: 'must',
    title: 'GET /scale-platform/v1/sites with the key and a haulerId is answered with 200',
    remedy:
      'Serve GET /scale-platform/v1/sites at the base address, accept the key in the header API-KEY, and answer 200 for a hauler with data.',
    check: (exchange) =>
      exchange.status === 404 && errorBodyFault(exchange, 'NOT_FOUND') === undefined
        ? notProven(`the server has no data of this hauler (404 NOT_FOUND, ${messageOf(exchange)})`)
        : passedUnless(statusFault(exchange, 200)),
  },
  {
    id: 'SITE-009',
    ...ANSWER,
    section: '8',
    severity: 'must',
    ...smallEnough(({ json }) =>
      Object.keys(SITE_LISTS).flatMap((path) => {
        const records = valueAt(json, path);
        return Array.isArray(records) ? [[path, records] as const] : [];
      }),
    ),
  },
  { id: 'SITE-002', ...ANSWER, section: '4', severity: 'must', ...declaredAsJson('the answer') },
  { id: 'SITE-003', ...ANSWER, section: '4', severity: 'must', ...inJson('the answer') },
  { id: 'SITE-004', ...FIELD, needs: ['SITE-003'], ...member('success', TRUE) },
  { id: 'SITE-005', ...FIELD, needs: ['SITE-003'], ...member('data', OBJECT) },
  { id: 'SITE-006', ...FIELD, needs: ['SITE-005'], ...member('data.sites', LIST) },
  { id: 'SITE-007', ...FIELD, needs: ['SITE-005'], ...member('data.kiosks', LIST) },
  { id: 'SITE-008', ...FIELD, needs: ['SITE-005'], ...member('data.materials', LIST) },
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
    ...refusalRules(SITE_REFUSED),
    internalErrorRule('SITE-066', OPERATION),
  ],
};
