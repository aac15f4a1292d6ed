import { epochMillis, secondsBetween } from '../../contracts/common/instant.js';
import { isJsonObject } from '../../contracts/common/json.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { errorBodyFault, hasStatus, rulesOf, statusFault, valueAt } from '../checks.js';
import type { Exchange } from '../exchange.js';
import { internalErrorRules, refusalRules } from '../refusals.js';
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
import { isMp4, listFacts, listOf, paginationOf } from './vision-facts.js';
import { queryValue, differs, elementRules, envelopeRules, everyElement, valueRules } from './vision-lists.js';
import { pageRules, pageSizeRules, paginationRules } from './vision-pages.js';
import { OPERATIONS, PLANS } from './vision-requests.js';
import { VISION_REFUSED } from './vision-table.js';

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

const VIDEO_RULES: readonly Rule[] = [
  ...rulesOf(LIST_VIDEOS, [
    'VISION-001',
    'GET /video-platform/v1/videos with the key and a customerId is answered with 200',
    'Serve GET /video-platform/v1/videos, accept the key in the header API-KEY, and answer 200 for a known customer.',
    isListed,
  ]),
  ...envelopeRules(LIST_VIDEOS),
  ...rulesOf(
    { ...LIST_VIDEOS, needs: ['VISION-005'], severity: 'should' },
    ['VISION-006', 'the list of videos has the name data.videos', 'Name the list data.videos.', isNamedVideos],
    [
      'VISION-007',
      'the list of videos has a pagination',
      'Send data.pagination with page, pageSize, totalItems and totalPages.',
      hasPagination,
    ],
  ),
  ...elementRules(LIST_VIDEOS),
  ...valueRules(LIST_VIDEOS),
  ...paginationRules(LIST_VIDEOS),
  ...rulesOf({ ...LIST_VIDEOS, on: 'videosOfTruck' }, [
    'VISION-040',
    'truckId filters the list of videos',
    'List the videos of that truck only.',
    isOf('truckId'),
  ]),
  ...rulesOf({ ...LIST_VIDEOS, on: 'videosOfCamera' }, [
    'VISION-041',
    'cameraId filters the list of videos',
    'List the videos of that camera only.',
    isOf('cameraId'),
  ]),
  ...rulesOf({ ...LIST_VIDEOS, on: 'videosInRange' }, [
    'VISION-042',
    'startTime and endTime filter the list of videos',
    'List the videos that overlap the range only.',
    overlaps,
  ]),
  ...pageSizeRules('listVideos', ['VISION-043', 'videosLargePage'], ['VISION-044', 'videosFullPage']),
  ...pageRules({ ...LIST_VIDEOS, first: 80 }),
];

/** The last chunk of a camera, and one before a gap, may be shorter. */
const isConstant: Check = (exchange) => {
  const seconds = listFacts(exchange).valid.map(({ startTime, endTime }) => secondsBetween(startTime, endTime));
  if (seconds.length < 2) return notProven('there are fewer than two recordings');
  const longest = Math.max(...seconds);
  const shorter = seconds.filter((each) => each > 0 && each < longest - 1).length;
  return passedIf(shorter * 2 <= seconds.length, `most chunks are shorter than the longest of ${longest} s`);
};

const CONTINUOUS = { operation: 'listContinuous', section: '4.6', on: 'continuous' } as const;

const CONTINUOUS_RULES: readonly Rule[] = [
  ...rulesOf(CONTINUOUS, [
    'VISION-101',
    'GET /video-platform/v1/videos/continuous with customer, truck and range is answered with 200',
    'Serve GET /video-platform/v1/videos/continuous, and answer 200 for a known truck, also where nothing was recorded.',
    isListedOfTruck,
  ]),
  ...envelopeRules(LIST_CONTINUOUS),
  ...elementRules(LIST_CONTINUOUS),
  ...valueRules(LIST_CONTINUOUS),
  ...paginationRules(LIST_CONTINUOUS),
  ...rulesOf(
    { ...CONTINUOUS, needs: ['VISION-105'] },
    [
      'VISION-140',
      'every recording is of the requested truck',
      'List the recordings of that truck only.',
      isOf('truckId'),
    ],
    [
      'VISION-141',
      'every recording overlaps the requested range',
      'List the recordings that overlap the range only.',
      overlaps,
    ],
  ),
  ...rulesOf({ ...CONTINUOUS, on: 'continuousOfCamera' }, [
    'VISION-142',
    'cameraId filters the recordings',
    'List the recordings of that camera only.',
    isOf('cameraId'),
  ]),
  ...rulesOf({ ...CONTINUOUS, needs: ['VISION-105'], severity: 'should' }, [
    'VISION-143',
    'the recordings have constant durations',
    'Divide the recordings into chunks of one length.',
    isConstant,
  ]),
  ...pageRules({ ...CONTINUOUS, first: 144 }),
  ...pageSizeRules('listContinuous', ['VISION-150', 'continuousLargePage'], ['VISION-151', 'continuousFullPage']),
];

const isPart: Check = (exchange) => {
  if (exchange.status !== 206) return failed(`the status is ${exchange.status}, expected 206`);
  const { length } = exchange.answer?.body ?? Buffer.alloc(0);
  return passedIf(length === 100, `the part has ${length} bytes, expected 100`);
};

const has =
  (name: string): Check =>
  (exchange) =>
    passedIf(exchange.header(name) !== undefined, `${name} is absent`);

const DOWNLOAD_RULES: readonly Rule[] = [
  ...rulesOf(
    { operation: 'listContinuous', section: '2.6', on: 'download' },
    [
      'VISION-160',
      'the link of a recording answers a GET without a key with 200',
      'Let downloadUrl work by itself, without an API key and without a redirect to a login.',
      hasStatus(200),
    ],
    ['VISION-161', 'the link of a recording leads to an MP4 file', 'Send the bytes of the MP4 file.', isMp4],
  ),
  ...rulesOf(
    { operation: 'listContinuous', section: '8', on: 'download', severity: 'should' },
    [
      'VISION-162',
      'a download has a Content-Length',
      'Send Content-Length, so that a cut file is noticed.',
      has('content-length'),
    ],
    ['VISION-163', 'a download has an ETag', 'Send ETag, so that an interrupted download can be resumed.', has('etag')],
  ),
  ...rulesOf({ operation: 'listContinuous', section: '8', on: 'downloadPart', severity: 'should' }, [
    'VISION-164',
    'a download with Range is answered with 206 and that part',
    'Support Range, so that an interrupted download can be resumed.',
    isPart,
  ]),
];

/** The error schema of the continuous list has no `details` (section 2.1). */
const PLAIN_ERRORS = rulesOf({ operation: 'listContinuous', section: '2.1', on: 'VISION-190', severity: 'should' }, [
  'VISION-178',
  'an error of the list of recordings has no details',
  'Name the fields in error.message, and leave error.details out.',
  ({ json }) => passedIf(!isJsonObject(valueAt(json, 'error.details')), 'error.details is present'),
]);

export const VISION_SERVER: ServerRole = {
  name: 'vision-server',
  keyHeader: VISION_API.keyHeader,
  otherHeader: 'PLATFORM-API-KEY',
  operations: OPERATIONS,
  plans: PLANS,
  refused: VISION_REFUSED,
  rules: [
    ...VIDEO_RULES,
    ...CONTINUOUS_RULES,
    ...DOWNLOAD_RULES,
    ...refusalRules(...VISION_REFUSED),
    ...PLAIN_ERRORS,
    ...internalErrorRules('VISION-076', 'listVideos'),
    ...internalErrorRules('VISION-179', 'listContinuous'),
    ...internalErrorRules('VISION-258', 'requestVideo'),
    ...REQUEST_RULES,
  ],
};
