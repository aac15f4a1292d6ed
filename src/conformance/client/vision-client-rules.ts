import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import { CreateVideoRequest } from '../../contracts/vision/vision.dto.js';
import { ownField } from '../../contracts/common/json.js';
import { shown } from '../checks.js';
import { fieldRules } from './body-fields.js';
import { type Call, type CallLog, jsonOf } from './call.js';
import {
  callRule,
  callsOf,
  type CallVerdict,
  type ClientRule,
  clientRule,
  everyCall,
  faultedCalls,
  laterCalls,
  repeatsOf,
  should,
} from './client-rule.js';
import { integerFault, listedOf, sentPages, sentRequestId, sentState } from './listed.js';
import { PARTNER_FAULTS } from './partner-peer.js';
import { injectedFault, neededCalls, notBefore, notSentAgain, sentAgain } from './retry-rules.js';

const LISTS = ['listVideos', 'listContinuous'] as const;

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

const tooMany = injectedFault(PARTNER_FAULTS, 'requestVideo', 'too-many-requests', '429 with Retry-After', '8');

/** The rules of a video request, and of the polls after it. */
export const REQUEST_CLIENT_RULES: readonly ClientRule[] = [
  ...fieldRules('requestVideo', '2.5a', CreateVideoRequest, [
    ['PLATFORM-020', 'customerId', 'text'],
    ['PLATFORM-021', 'truckId', 'text'],
    ['PLATFORM-022', 'cameraId', 'text'],
    ['PLATFORM-023', 'startTime', 'a date-time with an offset'],
    ['PLATFORM-024', 'endTime', 'a date-time with an offset'],
  ]),
  callRule(
    'PLATFORM-025',
    '7',
    'requestVideo',
    'endTime is after startTime',
    'Send a range that ends after its start.',
    (call) => {
      const { value } = jsonOf(call);
      return rangeFault(ownField(value, 'startTime'), ownField(value, 'endTime'));
    },
  ),
  sentAgain('PLATFORM-026', tooMany),
  notBefore('PLATFORM-027', tooMany),
  sentAgain('PLATFORM-028', injectedFault(PARTNER_FAULTS, 'requestVideo', 'server-error', '500', '7')),
  notSentAgain(
    'PLATFORM-029',
    injectedFault(PARTNER_FAULTS, 'requestVideo', 'invalid', '400', '7'),
    'Correct the request: the same one fails again.',
  ),
  clientRule(
    'PLATFORM-030',
    '4.4',
    'requestVideo',
    'a request that was accepted is not sent again',
    'Poll with the requestId of the answer; a second POST is a second request.',
    (log) =>
      everyRequest(log, (request) => {
        const { length } = repeatsOf(request, log);
        return length === 0 ? undefined : `it was repeated ${length} times`;
      }),
  ),
  clientRule(
    'PLATFORM-031',
    '6',
    'listVideos',
    'a request that was accepted is polled',
    'Call GET /videos with the requestId, or for the customer, until the clip is listed.',
    (log) =>
      everyRequest(log, (request) =>
        pollsOf(request, log).length > 0 ? undefined : 'no list that could contain its clip was requested',
      ),
  ),
  clientRule(
    'PLATFORM-032',
    '6',
    'listVideos',
    'a request is polled until its clip is listed or has failed',
    'Poll again, with growing pauses, while the status is processing.',
    (log) => {
      const polled = accepted(log).filter((request) => pollsOf(request, log).length > 0);
      return everyCall(polled, 'no request was polled', (request) =>
        endOf(request, log) === undefined ? 'polling ended before that' : undefined,
      );
    },
  ),
  should(
    clientRule(
      'PLATFORM-033',
      '3',
      'listVideos',
      'a request that has failed is not polled again',
      'End a request whose data.request has the status failed.',
      (log) => {
        const failed = faultedCalls(log, 'failed-clip', 'requestVideo').filter((request) => endOf(request, log));
        return everyCall(failed, neededCalls(PARTNER_FAULTS, 'requestVideo', 'failed-clip'), (request) => {
          const id = sentRequestId(request);
          const { at: end = 0 } = endOf(request, log) ?? {};
          const polls = callsOf(log, 'listVideos').filter(({ query, at }) => query.get('requestId') === id && at > end);
          return polls.length === 0 ? undefined : `it was polled ${polls.length} times after its failure`;
        });
      },
    ),
  ),
];

const requiredText = (id: string, section: string, operation: string, name: string): ClientRule =>
  callRule(
    id,
    section,
    operation,
    `${name} is sent once and is not empty`,
    `Send the query parameter ${name}.`,
    ({ query }) => {
      const values = query.getAll(name);
      return values.length === 1 && values[0] !== '' ? undefined : `${name} is ${shown(values.join(', '))}`;
    },
  );

/** The rules of the queries of both lists, and of their pages. */
export const LIST_CLIENT_RULES: readonly ClientRule[] = [
  ...LISTS.flatMap((operation, i): ClientRule[] => {
    const section = operation === 'listVideos' ? '4.5' : '4.6';
    const id = (n: number) => `PLATFORM-0${4 + i}${n}`;
    return [
      requiredText(id(0), section, operation, 'customerId'),
      callRule(id(1), section, operation, 'page is an integer from 1, or absent', 'Count the pages from 1.', (call) =>
        integerFault(call, 'page', 1, 1e9),
      ),
      callRule(
        id(2),
        '8',
        operation,
        'pageSize is an integer from 1 to 100, or absent',
        'Ask for at most 100 elements.',
        (call) => integerFault(call, 'pageSize', 1, 100),
      ),
      ...['startTime', 'endTime'].map((name, n) => {
        const isOptional = operation === 'listVideos';
        const title = `${name} is a date-time with an offset${isOptional ? ', or absent' : ''}`;
        return callRule(id(3 + n), section, operation, title, `Send ${name} as 2026-01-31T08:30:00Z.`, ({ query }) => {
          const value = query.get(name);
          return (value === null && isOptional) || instantOf(value?.replace(' ', '+')) !== undefined
            ? undefined
            : `${name} is ${shown(value)}`;
        });
      }),
    ];
  }),
  callRule(
    'PLATFORM-045',
    '4.5',
    'listVideos',
    'requestId is one that the partner issued',
    'Send the requestId as it was received.',
    ({ query }, log) => {
      const id = query.get('requestId');
      return id === null || accepted(log).some((request) => sentRequestId(request) === id)
        ? undefined
        : `requestId is ${shown(id)}`;
    },
  ),
  requiredText('PLATFORM-055', '4.6', 'listContinuous', 'truckId'),
  callRule(
    'PLATFORM-056',
    '4.6',
    'listContinuous',
    'endTime is after startTime',
    'Send a range that ends after its start.',
    ({ query }) => rangeFault(query.get('startTime'), query.get('endTime')),
  ),
  sentAgain('PLATFORM-057', injectedFault(PARTNER_FAULTS, 'listContinuous', 'server-error', '500', '7', laterCalls)),
  clientRule(
    'PLATFORM-058',
    '4.6',
    'listContinuous',
    'every page of a list is read',
    'Read pages until totalPages.',
    (log) => {
      const more = callsOf(log, 'listContinuous').filter((call) => sentPages(call) > pageOf(call));
      return everyCall(more, 'no list has a second page', (call) =>
        laterCalls(call, log).some((next) => pageOf(next) === pageOf(call) + 1 && isSameList(call, next))
          ? undefined
          : `page ${pageOf(call) + 1} was not read`,
      );
    },
  ),
];

const pageOf = ({ query }: Call): number => Number(query.get('page') ?? 1);
const isSameList = (one: Call, other: Call): boolean =>
  ['customerId', 'truckId', 'cameraId', 'startTime', 'endTime', 'pageSize'].every(
    (name) => one.query.get(name) === other.query.get(name),
  );
