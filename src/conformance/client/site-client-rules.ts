import { isUuid } from '../../contracts/common/text.js';
import { shown } from '../checks.js';
import { notApplicable, notProven } from '../rule.js';
import {
  callsOf,
  type ClientRule,
  clientRules,
  everyCall,
  everyCallOf,
  faultedCalls,
  laterCalls,
} from './client-rule.js';
import { PARTNER_FAULTS } from './partner-peer.js';
import { neededCalls, retryRules } from './retry-rules.js';

const MIN_PAUSE_MS = 500;

const TABLE = clientRules(
  `
PLATFORM-010 | must | 4.3 | getSites | haulerId is sent once and is a UUID | Send the query parameter haulerId as a UUID.
PLATFORM-011 | must | 4.3 | getSites | haulerId is the hauler whose data the partner has | Send the haulerId on which the partner and you agreed.
PLATFORM-018 | must | 4.3 | getSites | a redirect is not followed | Follow no redirect of an API call: the key would go to another address.
PLATFORM-019 | should | 5 | getSites | a call that got 401 is not repeated immediately | Wait after a 401: the same key gets the same answer.
`,
  {
    'PLATFORM-010': everyCallOf('getSites', ({ query }) => {
      const values = query.getAll('haulerId');
      return values.length === 1 && isUuid(values[0] ?? '') ? undefined : `haulerId is ${shown(values.join(', '))}`;
    }),
    'PLATFORM-011': (log) =>
      log.haulerId === undefined
        ? notApplicable('pass --hauler-id to check it')
        : everyCall(callsOf(log, 'getSites'), 'no call of getSites was seen', ({ query }) =>
            query.get('haulerId')?.toLowerCase() === log.haulerId?.toLowerCase()
              ? undefined
              : `haulerId is ${shown(query.get('haulerId'))}`,
          ),
    'PLATFORM-018': (log) =>
      faultedCalls(log, 'redirect', 'getSites').length === 0
        ? notProven(neededCalls(PARTNER_FAULTS, 'getSites', 'redirect'))
        : everyCall(log.calls, '', ({ operation }) =>
            operation === 'redirected' ? 'the redirect was followed' : undefined,
          ),
    'PLATFORM-019': (log) =>
      everyCall(
        faultedCalls(log, 'unauthorized', 'getSites'),
        neededCalls(PARTNER_FAULTS, 'getSites', 'unauthorized'),
        (call) => {
          const [next] = laterCalls(call, log);
          return next === undefined || next.at - call.at >= MIN_PAUSE_MS
            ? undefined
            : `it was repeated after ${next.at - call.at} ms`;
        },
      ),
  },
);

const RETRIES = `
PLATFORM-012 | should | 8 | getSites | again | too-many-requests | a request that got 429 with Retry-After is sent again | Treat 429 with Retry-After as temporary, and send the same request again.
PLATFORM-013 | must | 8 | getSites | later | too-many-requests | a request that got 429 with Retry-After is not sent again before that time | Wait as many seconds as Retry-After says before you send the request again.
PLATFORM-014 | should | 7 | getSites | again | unavailable | a request that got 503 with Retry-After is sent again | Treat 503 with Retry-After as temporary, and send the same request again.
PLATFORM-015 | must | 7 | getSites | later | unavailable | a request that got 503 with Retry-After is not sent again before that time | Wait as many seconds as Retry-After says before you send the request again.
PLATFORM-016 | should | 7 | getSites | again | server-error | a request that got 500 is sent again | Treat 500 as temporary, and send the same request again.
PLATFORM-017 | should | 4.3 | getSites | again | cut-answer | a request that got an interrupted answer is sent again | Treat an interrupted answer as temporary, and send the same request again.
`;

/** The rules of `GET /sites`. */
export const SITE_CLIENT_RULES: readonly ClientRule[] = [...TABLE, ...retryRules(PARTNER_FAULTS, RETRIES)];
