import { isJsonObject } from '../../contracts/common/json.js';
import { SITE_API } from '../../contracts/site/site.api.js';
import {
  errorBodyFault,
  FAIL_ON_DEMAND,
  type Form,
  internalErrorRules,
  jsonRules,
  memberRow,
  type Refusal,
  refusalRules,
  rulesOf,
  statusFault,
  TRUE,
} from '../checks.js';
import { UnprovenError } from '../exchange.js';
import { notProven, passedUnless, type RequestPlan, type Rule, type ServerRole } from '../rule.js';
import { MAX_ANSWER_BYTES } from '../http-transport.js';
import { SITE_RECORD_RULES } from './site-records.js';
import { SITE_REPEAT_RULES } from './site-repeat.js';

const OPERATION = 'getSites';
/** A hauler that no server has. */
const UNKNOWN_HAULER = 'c0ffee00-0000-4000-8000-00000000dead';

/** The list of sites has no pages. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;

const listOf = (credentials: RequestPlan['credentials'] = 'key', maxBytes = MAX_ANSWER_BYTES): RequestPlan => ({
  operation: OPERATION,
  credentials,
  draft: ({ fixtures: { haulerId } }) => {
    if (haulerId === undefined) throw new UnprovenError('no hauler is known: pass --hauler-id');
    return { query: { haulerId }, maxBytes };
  },
});

const PLANS: Readonly<Record<string, RequestPlan>> = {
  list: listOf('key', MAX_LIST_BYTES),
  withoutKey: listOf('none'),
  wrongKey: listOf('wrong-key'),
  otherHeader: listOf('other-header'),
  withoutHauler: { operation: OPERATION, draft: () => ({}) },
  malformedHauler: { operation: OPERATION, draft: () => ({ query: { haulerId: 'not-a-uuid' } }) },
  again: {
    operation: OPERATION,
    draft: async (run) => {
      const { answer } = await run.exchange('list');
      if ((answer?.body.length ?? 0) > MAX_ANSWER_BYTES)
        throw new UnprovenError('the list is too large to be compared with a second one');
      return listOf().draft(run);
    },
  },
  serverError: {
    operation: OPERATION,
    draft: ({ fixtures: { haulerId = '' } }) => ({ query: { haulerId }, headers: FAIL_ON_DEMAND }),
  },
  unknownHauler: { operation: OPERATION, draft: () => ({ query: { haulerId: UNKNOWN_HAULER } }) },
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
  ...jsonRules('SITE', 2, OPERATION, 'list', 'the answer'),
  ...rulesOf(
    { operation: OPERATION, section: '2.4a', on: 'list', needs: ['SITE-003'] },
    memberRow('SITE-004', 'success', TRUE),
    memberRow('SITE-005', 'data', OBJECT),
  ),
  ...rulesOf(
    { operation: OPERATION, section: '2.4a', on: 'list', needs: ['SITE-005'] },
    ...['sites', 'kiosks', 'materials'].map((list, i) => memberRow(`SITE-00${6 + i}`, `data.${list}`, LIST)),
  ),
];

const UNAUTHORIZED: Refusal = [401, 'UNAUTHORIZED', '5', 'Read the key from the header API-KEY only.'];
const INVALID: Refusal = [400, 'INVALID_PAYLOAD', '7', 'Answer 400 where haulerId does not have the form of a UUID.'];
const NOT_FOUND: Refusal = [
  404,
  'NOT_FOUND',
  '7',
  'Answer 404 where you have no data of that hauler, not 200 with empty lists.',
];

export const SITE_SERVER: ServerRole = {
  name: 'site-server',
  keyHeader: SITE_API.keyHeader,
  otherHeader: 'PLATFORM-API-KEY',
  operations: { [OPERATION]: { method: 'GET', path: `${SITE_API.prefix}${SITE_API.routes.getSites.path}` } },
  plans: PLANS,
  rules: [
    ...ENVELOPE,
    ...SITE_RECORD_RULES,
    ...SITE_REPEAT_RULES,
    ...refusalRules('SITE', OPERATION, UNAUTHORIZED, [
      [
        'withoutKey',
        50,
        'a request without the header API-KEY',
        'Check the header API-KEY first, and answer 401 where it is missing.',
      ],
      [
        'wrongKey',
        52,
        'a request with a wrong key',
        'Compare the complete key with the issued one, and answer 401 to any other key.',
      ],
      ['otherHeader', 54, 'a request with the key in PLATFORM-API-KEY in place of API-KEY'],
    ]),
    ...refusalRules('SITE', OPERATION, INVALID, [
      ['withoutHauler', 60, 'a request without haulerId', 'Answer 400 where the query parameter haulerId is absent.'],
      ['malformedHauler', 62, 'a request with a haulerId that is not a UUID'],
    ]),
    ...refusalRules('SITE', OPERATION, NOT_FOUND, [['unknownHauler', 64, 'a request for a hauler without data']]),
    ...internalErrorRules('SITE-066', 'serverError', OPERATION),
  ],
};
