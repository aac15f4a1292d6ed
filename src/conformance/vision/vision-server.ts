import { epochMillis, secondsBetween } from '../../contracts/common/instant.js';
import { isJsonObject } from '../../contracts/common/json.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { errorBodyFault, hasStatus, serverRules, statusFault, valueAt } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { internalErrorRules, refusalRules, refusedBodyRules } from '../refusals.js';
import {
  failed,
  notProven,
  passed,
  passedIf,
  passedUnless,
  type Rule,
  type ServerRole,
  type Verdict,
} from '../rule.js';
import { REQUEST_RULES } from './vision-clips.js';
import { listFacts, listOf, paginationOf } from './vision-facts.js';
import { FILE_RULES } from './vision-files.js';
import { queryValue, differs, elementRules, envelopeRules, everyElement, valueRules } from './vision-lists.js';
import { pageRules, pageSizeRules, paginationRules } from './vision-pages.js';
import { OPERATIONS, PLANS } from './vision-requests.js';
import { VISION_REFUSED } from './vision-table.js';
import { wholeRules } from './vision-whole.js';

const LIST_VIDEOS = { on: 'videos', operation: 'listVideos', first: 1, section: '4.5' } as const;
const LIST_CONTINUOUS = { on: 'continuous', operation: 'listContinuous', first: 101, section: '2.6' } as const;

type Check = Rule['check'];

/** 200, or a 404 that says that the server has no such data. */
function isListed(exchange: Exchange): Verdict {
  if (exchange.status === 404 && errorBodyFault(exchange, 'NOT_FOUND') === undefined) {
    return notProven('the server does not know this customer, truck or camera (404 NOT_FOUND)');
  }
  return passedUnless(statusFault(exchange, 200));
}

/** A truck that the kit took from the list of videos is known. */
const isListedOfTruck: Check = (exchange, { fixtures }) =>
  exchange.status === 404 && fixtures.truckId === undefined
    ? failed('the status is 404, although the list of videos has a clip of this truck')
    : isListed(exchange);

const isOf =
  (name: 'truckId' | 'cameraId'): Check =>
  (exchange) =>
    exchange.status === 200
      ? everyElement((element) => differs(name, element[name], exchange))(exchange)
      : hasStatus(200)(exchange);

const overlaps: Check = (exchange) => {
  if (exchange.status !== 200) return hasStatus(200)(exchange);
  const [from, to] = ['startTime', 'endTime'].map((name) => Date.parse(queryValue(exchange, name) ?? ''));
  if (from === undefined || to === undefined) return passed;
  return everyElement(({ startTime, endTime }) =>
    epochMillis(endTime) > from && epochMillis(startTime) < to ? undefined : 'lies outside the range of the request',
  )(exchange);
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

const of = serverRules(
  `
VISION-001 | must | 4.5 | listVideos | videos | - | GET /video-platform/v1/videos with the key and a customerId is answered with 200 | Serve GET /video-platform/v1/videos, accept the key in the header API-KEY, and answer 200 for a known customer.
VISION-006 | should | 4.5 | listVideos | videos | VISION-005 | the list of videos has the name data.videos | Name the list data.videos.
VISION-007 | should | 4.5 | listVideos | videos | VISION-005 | the list of videos has a pagination | Send data.pagination with page, pageSize, totalItems and totalPages.
VISION-040 | must | 4.5 | listVideos | videosOfTruck | - | truckId filters the list of videos | List the videos of that truck only.
VISION-041 | must | 4.5 | listVideos | videosOfCamera | - | cameraId filters the list of videos | List the videos of that camera only.
VISION-042 | must | 4.5 | listVideos | videosInRange | - | startTime and endTime filter the list of videos | List the videos that overlap the range only.
VISION-101 | must | 4.6 | listContinuous | continuous | - | GET /video-platform/v1/videos/continuous with customer, truck and range is answered with 200 | Serve GET /video-platform/v1/videos/continuous, and answer 200 for a known truck, also where nothing was recorded.
VISION-140 | must | 4.6 | listContinuous | continuous | VISION-105 | every recording is of the requested truck | List the recordings of that truck only.
VISION-141 | must | 4.6 | listContinuous | continuous | VISION-105 | every recording overlaps the requested range | List the recordings that overlap the range only.
VISION-142 | must | 4.6 | listContinuous | continuousOfCamera | - | cameraId filters the recordings | List the recordings of that camera only.
VISION-143 | should | 4.6 | listContinuous | continuous | VISION-105 | the recordings have constant durations | Divide the recordings into chunks of one length.
VISION-178 | should | 2.1 | listContinuous | VISION-190 | - | an error of the list of recordings has no details | Name the fields in error.message, and leave error.details out.
`,
  {
    'VISION-001': isListed,
    'VISION-006': isNamedVideos,
    'VISION-007': hasPagination,
    'VISION-040': isOf('truckId'),
    'VISION-041': isOf('cameraId'),
    'VISION-042': overlaps,
    'VISION-101': isListedOfTruck,
    'VISION-140': isOf('truckId'),
    'VISION-141': overlaps,
    'VISION-142': isOf('cameraId'),
    'VISION-143': isConstant,
    // The error schema of the continuous list has no `details` (section 2.1).
    'VISION-178': ({ json }) => passedIf(!isJsonObject(valueAt(json, 'error.details')), 'error.details is present'),
  },
);

export const VISION_SERVER: ServerRole = {
  name: 'vision-server',
  keyHeader: VISION_API.keyHeader,
  otherHeader: 'PLATFORM-API-KEY',
  operations: OPERATIONS,
  plans: PLANS,
  refused: VISION_REFUSED,
  rules: [
    ...of('VISION-001'),
    ...envelopeRules(LIST_VIDEOS),
    ...of('VISION-006', 'VISION-007'),
    ...elementRules(LIST_VIDEOS),
    ...valueRules(LIST_VIDEOS),
    ...paginationRules(LIST_VIDEOS),
    ...wholeRules(LIST_VIDEOS, ['VISION-045', 'VISION-046', 'VISION-047', 'VISION-048']),
    ...of('VISION-040', 'VISION-041', 'VISION-042'),
    ...pageSizeRules('listVideos', 'videos', 'VISION-043', 'VISION-044'),
    ...pageRules({ ...LIST_VIDEOS, first: 80 }),
    ...of('VISION-101'),
    ...envelopeRules(LIST_CONTINUOUS),
    ...elementRules(LIST_CONTINUOUS),
    ...valueRules(LIST_CONTINUOUS),
    ...paginationRules(LIST_CONTINUOUS),
    ...wholeRules({ ...LIST_CONTINUOUS, section: '4.6' }, ['VISION-152', 'VISION-153', 'VISION-154', 'VISION-155']),
    ...of('VISION-140', 'VISION-141', 'VISION-142', 'VISION-143'),
    ...pageRules({ ...LIST_CONTINUOUS, section: '4.6', first: 144 }),
    ...pageSizeRules('listContinuous', 'continuous', 'VISION-150', 'VISION-151'),
    ...FILE_RULES,
    ...refusalRules(...VISION_REFUSED),
    ...refusedBodyRules('VISION-216', 'requestVideo', ['VISION-210']),
    ...of('VISION-178'),
    ...internalErrorRules('VISION-076', 'listVideos'),
    ...internalErrorRules('VISION-179', 'listContinuous'),
    ...internalErrorRules('VISION-258', 'requestVideo'),
    ...REQUEST_RULES,
  ],
};
