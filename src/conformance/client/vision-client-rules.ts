import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import { CreateVideoRequest } from '../../contracts/vision/vision.dto.js';
import { ownField } from '../../contracts/common/json.js';
import { shown } from '../checks.js';
import { fieldRules } from './body-fields.js';
import { type Call, type CallLog, jsonOf } from './call.js';
import {
  callsOf,
  type CallVerdict,
  type ClientRule,
  clientRules,
  everyCall,
  everyCallOf,
  faultedCalls,
  laterCalls,
  repeatsOf,
} from './client-rule.js';
import { integerFault, listedOf, sentPages, sentRequestId, sentState } from './listed.js';
import { PARTNER_FAULTS } from './partner-peer.js';
import { neededCalls, retryRules } from './retry-rules.js';

const instantOf = (value: unknown) => (typeof value === 'string' ? parseInstant(value) : undefined);

function rangeFault(from: unknown, to: unknown): string | undefined {
  const [start, end] = [instantOf(from), instantOf(to)];
  if (start === undefined || end === undefined) return undefined;
  return epochMillis(start) < epochMillis(end)
    ? undefined
    : `endTime ${shown(to)} is not after startTime ${shown(from)}`;
}

const accepted = (log: CallLog): Call[] =>
  callsOf(log, 'requestVideo').filter((call) => sentRequestId(call) !== undefined);

/** The later lists that would contain the clip of a request. */
function pollsOf(request: Call, log: CallLog): Call[] {
  const id = sentRequestId(request);
  const customerId = ownField(jsonOf(request).value, 'customerId');
  return callsOf(log, 'listVideos').filter(({ at, query }) => {
    const requestId = query.get('requestId');
    return at >= request.at && (requestId === id || (requestId === null && query.get('customerId') === customerId));
  });
}

/** The first list with the clip, or with the failure of the request. */
function endOf(request: Call, log: CallLog): Call | undefined {
  const id = sentRequestId(request);
  const shownBy = new Set(
    listedOf(log)
      .filter(({ requestId }) => requestId === id)
      .map(({ call }) => call),
  );
  return pollsOf(request, log).find(
    (call) => shownBy.has(call) || (call.query.get('requestId') === id && sentState(call) === 'failed'),
  );
}

const everyRequest = (log: CallLog, faultOf: (request: Call) => string | undefined): CallVerdict =>
  everyCall(accepted(log), 'no video request was accepted', faultOf);

const pageOf = ({ query }: Call): number => Number(query.get('page') ?? 1);
const isSameList = (one: Call, other: Call): boolean =>
  ['customerId', 'truckId', 'cameraId', 'startTime', 'endTime', 'pageSize'].every(
    (name) => one.query.get(name) === other.query.get(name),
  );

const isSentOnce = (operation: string, name: string) =>
  everyCallOf(operation, ({ query }) => {
    const values = query.getAll(name);
    return values.length === 1 && values[0] !== '' ? undefined : `${name} is ${shown(values.join(', '))}`;
  });

const isInteger = (operation: string, name: string, max: number) =>
  everyCallOf(operation, (call) => integerFault(call, name, 1, max));

/** Only a list of recordings needs its range. */
const isTime = (operation: string, name: string) =>
  everyCallOf(operation, ({ query }) => {
    const value = query.get(name);
    return (value === null && operation === 'listVideos') || instantOf(value?.replace(' ', '+')) !== undefined
      ? undefined
      : `${name} is ${shown(value)}`;
  });

const TABLE = clientRules(
  `
PLATFORM-025 | must | 7 | requestVideo | endTime is after startTime | Send a range that ends after its start.
PLATFORM-030 | must | 4.4 | requestVideo | a request that was accepted is not sent again | Poll with the requestId of the answer; a second POST is a second request.
PLATFORM-031 | must | 6 | listVideos | a request that was accepted is polled | Call GET /videos with the requestId, or for the customer, until the clip is listed.
PLATFORM-032 | must | 6 | listVideos | a request is polled until its clip is listed or has failed | Poll again, with growing pauses, while the status is processing.
PLATFORM-033 | should | 3 | listVideos | a request that has failed is not polled again | End a request whose data.request has the status failed.
PLATFORM-040 | must | 4.5 | listVideos | customerId is sent once and is not empty | Send the query parameter customerId.
PLATFORM-041 | must | 4.5 | listVideos | page is an integer from 1, or absent | Count the pages from 1.
PLATFORM-042 | must | 8 | listVideos | pageSize is an integer from 1 to 100, or absent | Ask for at most 100 elements.
PLATFORM-043 | must | 4.5 | listVideos | startTime is a date-time with an offset, or absent | Send startTime as 2026-01-31T08:30:00Z.
PLATFORM-044 | must | 4.5 | listVideos | endTime is a date-time with an offset, or absent | Send endTime as 2026-01-31T08:30:00Z.
PLATFORM-045 | must | 4.5 | listVideos | requestId is one that the partner issued | Send the requestId as it was received.
PLATFORM-050 | must | 4.6 | listContinuous | customerId is sent once and is not empty | Send the query parameter customerId.
PLATFORM-051 | must | 4.6 | listContinuous | page is an integer from 1, or absent | Count the pages from 1.
PLATFORM-052 | must | 8 | listContinuous | pageSize is an integer from 1 to 100, or absent | Ask for at most 100 elements.
PLATFORM-053 | must | 4.6 | listContinuous | startTime is a date-time with an offset | Send startTime as 2026-01-31T08:30:00Z.
PLATFORM-054 | must | 4.6 | listContinuous | endTime is a date-time with an offset | Send endTime as 2026-01-31T08:30:00Z.
PLATFORM-055 | must | 4.6 | listContinuous | truckId is sent once and is not empty | Send the query parameter truckId.
PLATFORM-056 | must | 4.6 | listContinuous | endTime is after startTime | Send a range that ends after its start.
PLATFORM-058 | must | 4.6 | listContinuous | every page of a list is read | Read pages until totalPages.
`,
  {
    'PLATFORM-025': everyCallOf('requestVideo', (call) => {
      const { value } = jsonOf(call);
      return rangeFault(ownField(value, 'startTime'), ownField(value, 'endTime'));
    }),
    'PLATFORM-030': (log) =>
      everyRequest(log, (request) => {
        const { length } = repeatsOf(request, log);
        return length === 0 ? undefined : `it was repeated ${length} times`;
      }),
    'PLATFORM-031': (log) =>
      everyRequest(log, (request) =>
        pollsOf(request, log).length > 0 ? undefined : 'no list that could contain its clip was requested',
      ),
    'PLATFORM-032': (log) => {
      const polled = accepted(log).filter((request) => pollsOf(request, log).length > 0);
      return everyCall(polled, 'no request was polled', (request) =>
        endOf(request, log) === undefined ? 'polling ended before that' : undefined,
      );
    },
    'PLATFORM-033': (log) => {
      const failed = faultedCalls(log, 'failed-clip', 'requestVideo').filter((request) => endOf(request, log));
      return everyCall(failed, neededCalls(PARTNER_FAULTS, 'requestVideo', 'failed-clip'), (request) => {
        const id = sentRequestId(request);
        const { at: end = 0 } = endOf(request, log) ?? {};
        const polls = callsOf(log, 'listVideos').filter(({ query, at }) => query.get('requestId') === id && at > end);
        return polls.length === 0 ? undefined : `it was polled ${polls.length} times after its failure`;
      });
    },
    'PLATFORM-040': isSentOnce('listVideos', 'customerId'),
    'PLATFORM-041': isInteger('listVideos', 'page', 1e9),
    'PLATFORM-042': isInteger('listVideos', 'pageSize', 100),
    'PLATFORM-043': isTime('listVideos', 'startTime'),
    'PLATFORM-044': isTime('listVideos', 'endTime'),
    'PLATFORM-045': everyCallOf('listVideos', ({ query }, log) => {
      const id = query.get('requestId');
      return id === null || accepted(log).some((request) => sentRequestId(request) === id)
        ? undefined
        : `requestId is ${shown(id)}`;
    }),
    'PLATFORM-050': isSentOnce('listContinuous', 'customerId'),
    'PLATFORM-051': isInteger('listContinuous', 'page', 1e9),
    'PLATFORM-052': isInteger('listContinuous', 'pageSize', 100),
    'PLATFORM-053': isTime('listContinuous', 'startTime'),
    'PLATFORM-054': isTime('listContinuous', 'endTime'),
    'PLATFORM-055': isSentOnce('listContinuous', 'truckId'),
    'PLATFORM-056': everyCallOf('listContinuous', ({ query }) =>
      rangeFault(query.get('startTime'), query.get('endTime')),
    ),
    'PLATFORM-058': (log) => {
      const more = callsOf(log, 'listContinuous').filter((call) => sentPages(call) > pageOf(call));
      return everyCall(more, 'no list has a second page', (call) =>
        laterCalls(call, log).some((next) => pageOf(next) === pageOf(call) + 1 && isSameList(call, next))
          ? undefined
          : `page ${pageOf(call) + 1} was not read`,
      );
    },
  },
);

const RETRIES = `
PLATFORM-026 | should | 8 | requestVideo | again | too-many-requests | a request that got 429 with Retry-After is sent again | Treat 429 with Retry-After as temporary, and send the same request again.
PLATFORM-027 | must | 8 | requestVideo | later | too-many-requests | a request that got 429 with Retry-After is not sent again before that time | Wait as many seconds as Retry-After says before you send the request again.
PLATFORM-028 | should | 7 | requestVideo | again | server-error | a request that got 500 is sent again | Treat 500 as temporary, and send the same request again.
PLATFORM-029 | must | 7 | requestVideo | never | invalid | a request that got 400 is not sent again as it is | Correct the request: the same one fails again.
PLATFORM-057 | should | 7 | listContinuous | again | server-error | a request that got 500 is sent again | Treat 500 as temporary, and send the same request again.
`;

/** The rules of a video request, of the polls after it, and of the queries of both lists. */
export const VISION_CLIENT_RULES: readonly ClientRule[] = [
  ...fieldRules('requestVideo', '2.5a', CreateVideoRequest, [
    ['PLATFORM-020', 'customerId', 'text'],
    ['PLATFORM-021', 'truckId', 'text'],
    ['PLATFORM-022', 'cameraId', 'text'],
    ['PLATFORM-023', 'startTime', 'a date-time with an offset'],
    ['PLATFORM-024', 'endTime', 'a date-time with an offset'],
  ]),
  ...retryRules(PARTNER_FAULTS, RETRIES),
  ...TABLE,
];
