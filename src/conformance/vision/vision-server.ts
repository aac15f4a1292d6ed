import { secondsBetween } from '../../contracts/common/instant.js';
import { isJsonObject, ownField } from '../../contracts/common/json.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { errorBodyFault, messageOf, statusFault, valueAt } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { internalErrorRule, READS_REFUSED_BODY, refusalRules } from '../refusals.js';
import { failed, notProven, passedIf, passedUnless, type Rule, type ServerRole, type Verdict } from '../rule.js';
import { queryValue } from './vision-reading.js';
import { elementsOf, listFacts, listOf, paginationOf, rulesOfList } from './vision-facts.js';
import { REQUEST_RULES } from './vision-clips.js';
import { FILE_RULES } from './vision-files.js';
import { FILTER_RULES } from './vision-filters.js';
import { ELEMENT_RULES, ENVELOPE_RULES, VALUE_RULES } from './vision-lists.js';
import { PAGE_RULES, PAGE_SIZE_RULES, PAGINATION_RULES } from './vision-pages.js';
import { OPERATIONS, PLANS } from './vision-requests.js';
import { VISION_REFUSED } from './vision-table.js';
import { WHOLE_RULES } from './vision-whole.js';

type Check = Rule['check'];

/** 200, or a 404 that says that the server has no such data. */
function isListed(exchange: Exchange): Verdict {
  if (exchange.status === 404 && errorBodyFault(exchange, 'NOT_FOUND') === undefined) {
    return notProven(`the server does not know this customer, truck or camera (404 NOT_FOUND, ${messageOf(exchange)})`);
  }
  return passedUnless(statusFault(exchange, 200));
}

/** A truck of the list of videos is known. */
const isListedOfTruck: Check = async (exchange, run) => {
  const truckId = queryValue(exchange, 'truckId');
  if (exchange.status !== 404 || truckId === undefined) return isListed(exchange);
  const isKnown = elementsOf(await run.exchange('videos')).some((element) => ownField(element, 'truckId') === truckId);
  return isKnown
    ? failed('the status is 404, although the list of videos has a clip of this truck')
    : isListed(exchange);
};

const isNamedVideos: Check = (exchange) => {
  const list = listOf(exchange);
  const name = list?.name ?? 'videos';
  return passedIf(name === 'videos', `the list is called data.${name}; it is read as data.videos`);
};

const hasPagination: Check = (exchange) =>
  passedIf(
    isJsonObject(paginationOf(exchange)),
    'the answer has no pagination; the platform reads pages until one is empty',
  );

/** The last chunk of a camera, and one before a gap, may be shorter. */
const isConstant: Check = (exchange) => {
  const seconds = listFacts(exchange).valid.map(({ startTime, endTime }) => secondsBetween(startTime, endTime));
  if (seconds.length < 2) return notProven('there are fewer than two recordings');
  const longest = Math.max(...seconds);
  const shorter = seconds.filter((each) => each > 0 && each < longest - 1).length;
  return passedIf(shorter * 2 <= seconds.length, `most chunks are shorter than the longest of ${longest} s`);
};

const VIDEOS_LISTED: Rule = {
  id: 'VISION-001',
  section: '4.5',
  severity: 'must',
  operation: 'listVideos',
  on: 'videos',
  title: 'GET /video-platform/v1/videos with the key and a customerId is answered with 200',
  remedy:
    'Serve GET /video-platform/v1/videos, accept the key in the header API-KEY, and answer 200 for a known customer.',
  check: isListed,
};

const LIST = {
  operation: 'listVideos',
  on: 'videos',
  section: '4.5',
  severity: 'should',
  needs: ['VISION-005'],
} as const;

const VIDEOS_LIST: readonly Rule[] = [
  {
    id: 'VISION-006',
    ...LIST,
    title: 'the list of videos has the name data.videos',
    remedy: 'Name the list data.videos.',
    check: isNamedVideos,
  },
  {
    id: 'VISION-007',
    ...LIST,
    title: 'the list of videos has a pagination',
    remedy: 'Send data.pagination with page, pageSize, totalItems and totalPages.',
    check: hasPagination,
  },
];

const RECORDINGS_LISTED: Rule = {
  id: 'VISION-101',
  section: '4.6',
  severity: 'must',
  operation: 'listContinuous',
  on: 'continuous',
  title: 'GET /video-platform/v1/videos/continuous with customer, truck and range is answered with 200',
  remedy:
    'Serve GET /video-platform/v1/videos/continuous, and answer 200 for a known truck, also where nothing was recorded.',
  check: isListedOfTruck,
};

const CONSTANT: Rule = {
  id: 'VISION-143',
  section: '4.6',
  severity: 'should',
  operation: 'listContinuous',
  on: 'continuous',
  needs: ['VISION-105'],
  title: 'the recordings have constant durations',
  remedy: 'Divide the recordings into chunks of one length.',
  check: isConstant,
};

const ERRORS: readonly Rule[] = [
  {
    id: 'VISION-216',
    operation: 'requestVideo',
    on: 'afterRefusedBody',
    section: '4',
    severity: 'must',
    needs: ['VISION-210'],
    ...READS_REFUSED_BODY,
  },
  // The error schema of the continuous list has no `details` (section 2.1).
  {
    id: 'VISION-178',
    section: '2.1',
    severity: 'should',
    operation: 'listContinuous',
    on: 'VISION-190',
    title: 'an error of the list of recordings has no details',
    remedy: 'Name the fields in error.message, and leave error.details out.',
    check: ({ json }) => passedIf(!isJsonObject(valueAt(json, 'error.details')), 'error.details is present'),
  },
  internalErrorRule('VISION-076', 'listVideos'),
  internalErrorRule('VISION-179', 'listContinuous'),
  internalErrorRule('VISION-258', 'requestVideo'),
];

const LIST_RULES = [...ELEMENT_RULES, ...VALUE_RULES, ...PAGINATION_RULES, ...WHOLE_RULES];

export const VISION_SERVER: ServerRole = {
  name: 'vision-server',
  keyHeader: VISION_API.keyHeader,
  otherHeader: 'PLATFORM-API-KEY',
  operations: OPERATIONS,
  plans: PLANS,
  refused: VISION_REFUSED,
  rules: [
    VIDEOS_LISTED,
    ...rulesOfList('videos', ENVELOPE_RULES),
    ...VIDEOS_LIST,
    ...rulesOfList('videos', LIST_RULES),
    ...rulesOfList('videos', [...FILTER_RULES, ...PAGE_SIZE_RULES, ...PAGE_RULES]),
    RECORDINGS_LISTED,
    ...rulesOfList('continuous', [...ENVELOPE_RULES, ...LIST_RULES]),
    CONSTANT,
    ...rulesOfList('continuous', [...FILTER_RULES, ...PAGE_RULES, ...PAGE_SIZE_RULES]),
    ...FILE_RULES,
    ...refusalRules(VISION_REFUSED),
    ...ERRORS,
    ...REQUEST_RULES,
  ],
};
