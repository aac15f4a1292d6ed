import { isUuid } from '../../contracts/common/text.js';
import { shown } from '../checks.js';
import { notApplicable, notProven } from '../rule.js';
import { callsOf, type ClientRule, everyCall, met, notBefore, sentAgain } from './client-rule.js';
import { each, later, retryOf, rule } from './platform-rule.js';

const SITE_TIMES = [
  ['too-many-requests', '429 with Retry-After', '8'],
  ['unavailable', '503 with Retry-After', '7'],
] as const;

/** The calls of `GET /sites`. */
export const SITE_CLIENT_RULES: readonly ClientRule[] = [
  each(
    [
      'PLATFORM-010',
      '4.3',
      'getSites',
      'haulerId is sent once and is a UUID',
      'Send the query parameter haulerId as a UUID.',
    ],
    ({ query }) => {
      const values = query.getAll('haulerId');
      return values.length === 1 && isUuid(values[0] ?? '') ? undefined : `haulerId is ${shown(values.join(', '))}`;
    },
  ),
  rule(
    [
      'PLATFORM-011',
      '4.3',
      'getSites',
      'haulerId is the hauler whose data the partner has',
      'Send the haulerId on which the partner and you agreed.',
    ],
    (log) =>
      log.haulerId === undefined
        ? notApplicable('pass --hauler-id to check it')
        : everyCall(callsOf(log, 'getSites'), 'no call of getSites was seen', ({ query }) =>
            query.get('haulerId')?.toLowerCase() === log.haulerId?.toLowerCase()
              ? undefined
              : `haulerId is ${shown(query.get('haulerId'))}`,
          ),
  ),
  ...SITE_TIMES.flatMap(([scenario, answer, section], i) => {
    const retry = retryOf('getSites', scenario, answer, section, later);
    return [sentAgain(`PLATFORM-01${2 + 2 * i}`, retry), notBefore(`PLATFORM-01${3 + 2 * i}`, retry)];
  }),
  sentAgain('PLATFORM-016', retryOf('getSites', 'server-error', '500', '7', later)),
  sentAgain('PLATFORM-017', retryOf('getSites', 'cut-answer', 'an answer that broke off', '4.3', later)),
  rule(
    [
      'PLATFORM-018',
      '4.3',
      'getSites',
      'a redirect is not followed',
      'Follow no redirect of an API call: the key would go to another address.',
    ],
    (log) =>
      met(log, 'redirect', 'getSites').length === 0
        ? notProven(retryOf('getSites', 'redirect', '', '').none)
        : everyCall(log.calls, '', ({ operation }) =>
            operation === 'redirected' ? 'the redirect was followed' : undefined,
          ),
  ),
  rule(
    [
      'PLATFORM-019',
      '5',
      'getSites',
      'a call that got 401 is not sent again at once',
      'Wait after a 401: the same key gets the same answer.',
    ],
    (log) =>
      everyCall(met(log, 'unauthorized', 'getSites'), retryOf('getSites', 'unauthorized', '', '').none, (call) => {
        const [next] = later(call, log);
        return next === undefined || next.at - call.at >= MIN_PAUSE_MS
          ? undefined
          : `it came again after ${next.at - call.at} ms`;
      }),
    'should',
  ),
];

const MIN_PAUSE_MS = 500;
