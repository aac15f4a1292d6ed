import { isJsonObject } from '../../contracts/common/json.js';
import { SITE_API } from '../../contracts/site/site.api.js';
import {
  errorBodyFault,
  FAIL_ON_DEMAND,
  internalErrorRule,
  isDeclaredJson,
  isJson,
  member,
  refusalRules,
  statusFault,
} from '../checks.js';
import { failed, MissingData, notProven, passed, type RequestPlan, type Rule, type ServerRole } from '../rule.js';
import { MAX_ANSWER_BYTES } from '../http-transport.js';
import { SITE_RECORD_RULES } from './site-records.js';
import { SITE_REPEAT_RULES } from './site-repeat.js';

const OPERATION = 'getSites';
/** A hauler that no server has: version and variant of the UUID are those of RFC 9562, the rest is fixed. */
const UNKNOWN_HAULER = 'c0ffee00-0000-4000-8000-00000000dead';

/** The list of sites has no pages. */
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** The limit of an answer that is no such list. */
const MAX_COMPARED_BYTES = MAX_ANSWER_BYTES;
const NO_HAULER = new MissingData('no hauler is known: pass --hauler-id');

const listOf = (credentials?: RequestPlan['credentials']): RequestPlan => ({
  operation: OPERATION,
  ...(credentials === undefined ? {} : { credentials }),
  draft: ({ fixtures: { haulerId } }) => (haulerId === undefined ? NO_HAULER : { query: { haulerId } }),
});

const PLANS: Readonly<Record<string, RequestPlan>> = {
  list: {
    operation: OPERATION,
    draft: ({ fixtures: { haulerId } }) =>
      haulerId === undefined ? NO_HAULER : { query: { haulerId }, maxBytes: MAX_LIST_BYTES },
  },
  withoutKey: listOf('none'),
  wrongKey: listOf('wrong-key'),
  otherHeader: listOf('other-header'),
  withoutHauler: { operation: OPERATION, draft: () => ({}) },
  malformedHauler: { operation: OPERATION, draft: () => ({ query: { haulerId: 'not-a-uuid' } }) },
  again: {
    operation: OPERATION,
    draft: async (run) => {
      const first = await run.exchange('list');
      if (first instanceof MissingData) return first;
      const isLarge = (first.answer?.body.length ?? 0) > MAX_COMPARED_BYTES;
      return isLarge ? new MissingData('the list is too large to be compared with a second one') : listOf().draft(run);
    },
  },
  serverError: {
    operation: OPERATION,
    draft: ({ fixtures: { haulerId = '' } }) => ({ query: { haulerId }, headers: FAIL_ON_DEMAND }),
  },
  unknownHauler: { operation: OPERATION, draft: () => ({ query: { haulerId: UNKNOWN_HAULER } }) },
};

const isListOrAbsent = (value: unknown) => value == null || (Array.isArray(value) && value.every(isJsonObject));

const rule = (
  id: string,
  section: string,
  title: string,
  remedy: string,
  check: Rule['check'],
  needs: string[] = [],
): Rule => ({
  id,
  section,
  severity: 'must',
  operation: OPERATION,
  title,
  remedy,
  on: 'list',
  needs,
  check,
});

const ENVELOPE: readonly Rule[] = [
  rule(
    'SITE-001',
    '4.3',
    'GET /scale-platform/v1/sites with the key and a haulerId is answered with 200',
    'Serve GET /scale-platform/v1/sites at the base address, accept the key in the header API-KEY, and answer 200 for a hauler with data.',
    (exchange) => {
      if (exchange.status === 404 && errorBodyFault(exchange, ['NOT_FOUND']) === undefined) {
        return notProven('the server has no data of this hauler (404 NOT_FOUND)');
      }
      const fault = statusFault(exchange, 200);
      return fault === undefined ? passed : failed(fault);
    },
  ),
  rule('SITE-002', '4', 'the answer is application/json', 'Send Content-Type: application/json.', isDeclaredJson),
  rule('SITE-003', '4', 'the body is JSON in UTF-8', 'Write the body with a JSON serializer, in UTF-8.', isJson),
  rule(
    'SITE-004',
    '2.4a',
    'success is true',
    'Set success to true in an answer with status 200.',
    member('success', (value) => value === true, 'true'),
    ['SITE-003'],
  ),
  rule(
    'SITE-005',
    '2.4a',
    'data is an object',
    'Put sites, kiosks and materials into the object data.',
    member('data', isJsonObject, 'an object'),
    ['SITE-003'],
  ),
  ...(['sites', 'kiosks', 'materials'] as const).map((list, i) =>
    rule(
      `SITE-00${6 + i}`,
      '2.4a',
      `data.${list} is an array of objects, or absent`,
      `Send data.${list} as an array of objects, or leave it out.`,
      member(`data.${list}`, isListOrAbsent, 'an array of objects'),
      ['SITE-005'],
    ),
  ),
];

const REFUSALS = refusalRules([
  {
    on: 'withoutKey',
    ids: ['SITE-050', 'SITE-051'],
    section: '5',
    operation: OPERATION,
    of: 'a request without the header API-KEY',
    status: 401,
    codes: ['UNAUTHORIZED'],
    remedy: 'Check the header API-KEY first, and answer 401 where it is missing.',
  },
  {
    on: 'wrongKey',
    ids: ['SITE-052', 'SITE-053'],
    section: '5',
    operation: OPERATION,
    of: 'a request with a wrong key',
    status: 401,
    codes: ['UNAUTHORIZED'],
    remedy: 'Compare the whole key with the issued one, and answer 401 to any other.',
  },
  {
    on: 'otherHeader',
    ids: ['SITE-054', 'SITE-055'],
    section: '5',
    operation: OPERATION,
    of: 'a request with the key in PLATFORM-API-KEY in place of API-KEY',
    status: 401,
    codes: ['UNAUTHORIZED'],
    remedy: 'Read the key from the header API-KEY only.',
  },
  {
    on: 'withoutHauler',
    ids: ['SITE-060', 'SITE-061'],
    section: '7',
    operation: OPERATION,
    of: 'a request without haulerId',
    status: 400,
    codes: ['INVALID_PAYLOAD'],
    remedy: 'Answer 400 where the query parameter haulerId is absent.',
  },
  {
    on: 'malformedHauler',
    ids: ['SITE-062', 'SITE-063'],
    section: '7',
    operation: OPERATION,
    of: 'a request with a haulerId that is not a UUID',
    status: 400,
    codes: ['INVALID_PAYLOAD'],
    remedy: 'Answer 400 where haulerId does not have the form of a UUID.',
  },
  {
    on: 'unknownHauler',
    ids: ['SITE-064', 'SITE-065'],
    section: '7',
    operation: OPERATION,
    of: 'a request for a hauler without data',
    status: 404,
    codes: ['NOT_FOUND'],
    remedy: 'Answer 404 where you have no data of that hauler, not 200 with empty lists.',
  },
]);

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
    ...REFUSALS,
    internalErrorRule('SITE-066', 'serverError', OPERATION),
  ],
};
