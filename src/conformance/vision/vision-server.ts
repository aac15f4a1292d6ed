import { epochMillis, secondsBetween } from '../../contracts/common/instant.js';
import { isJsonObject } from '../../contracts/common/json.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { VIDEO_STATUSES } from '../../contracts/vision/vision.dto.js';
import { errorBodyFault, hasStatus, isDeclaredJson, isJson, member, ownField, shown, statusFault } from '../checks.js';
import type { Exchange } from '../exchange.js';
import {
  failed,
  MissingData,
  notProven,
  passed,
  passedUnless,
  type Rule,
  type ServerRole,
  type Verdict,
} from '../rule.js';
import { elementsOf, listFacts, listOf, paginationOf } from './vision-facts.js';
import {
  askedFor,
  differs,
  elementRules,
  envelopeRules,
  everyElement,
  paginationRules,
  valueRules,
} from './vision-lists.js';
import { fullPageRule, largePageRule, pageRules } from './vision-pages.js';
import { VISION_REFUSALS } from './vision-refusals.js';
import { OPERATIONS, PLANS } from './vision-requests.js';

const LIST_VIDEOS = { on: 'videos', operation: 'listVideos', first: 1, section: '4.5' } as const;
const LIST_CONTINUOUS = { on: 'continuous', operation: 'listContinuous', first: 101, section: '2.6' } as const;
const CLIP = { on: 'clip', operation: 'listVideos', first: 301, section: '4.5' } as const;

type Check = Rule['check'];
type Row = readonly [
  id: string,
  section: string,
  on: string,
  title: string,
  remedy: string,
  check: Check,
  needs?: readonly string[],
];

const rules = (operation: string, rows: readonly Row[], severity: Rule['severity'] = 'must'): Rule[] =>
  rows.map(([id, section, on, title, remedy, check, needs]) => ({
    id,
    section,
    severity,
    operation,
    on,
    title,
    remedy,
    check,
    ...(needs === undefined ? {} : { needs }),
  }));

/** 200, or a 404 that says that the server has no such data. */
function isListed(exchange: Exchange): Verdict {
  if (exchange.status === 404 && errorBodyFault(exchange, ['NOT_FOUND']) === undefined) {
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
      ? everyElement(exchange, (element) => differs(name, element[name], exchange))
      : hasStatus(200)(exchange);

const overlaps: Check = (exchange) => {
  if (exchange.status !== 200) return hasStatus(200)(exchange);
  const [from, to] = ['startTime', 'endTime'].map((name) => Date.parse(askedFor(exchange, name) ?? ''));
  if (from === undefined || to === undefined) return passed;
  return everyElement(exchange, ({ startTime, endTime }) =>
    epochMillis(endTime) > from && epochMillis(startTime) < to ? undefined : 'lies outside the range of the request',
  );
};

const isNamedVideos: Check = (exchange) => {
  const list = listOf(exchange);
  return passedUnless(
    list === undefined || list.name === 'videos'
      ? undefined
      : `the list is called data.${list.name}; it is read as data.videos`,
  );
};

const hasPagination: Check = (exchange) =>
  passedUnless(
    isJsonObject(paginationOf(exchange))
      ? undefined
      : 'there is no pagination; the platform reads pages until one is empty',
  );

const VIDEO_RULES: readonly Rule[] = [
  ...rules('listVideos', [
    [
      'VISION-001',
      '4.5',
      'videos',
      'GET /video-platform/v1/videos with the key and a customerId is answered with 200',
      'Serve GET /video-platform/v1/videos, accept the key in the header API-KEY, and answer 200 for a known customer.',
      isListed,
    ],
  ]),
  ...envelopeRules(LIST_VIDEOS),
  ...rules(
    'listVideos',
    [
      [
        'VISION-006',
        '4.5',
        'videos',
        'the list of videos has the name data.videos',
        'Name the list data.videos.',
        isNamedVideos,
        ['VISION-005'],
      ],
    ],
    'should',
  ),
  ...rules(
    'listVideos',
    [
      [
        'VISION-007',
        '4.5',
        'videos',
        'the list of videos has a pagination',
        'Send data.pagination with page, pageSize, totalItems and totalPages.',
        hasPagination,
        ['VISION-005'],
      ],
    ],
    'should',
  ),
  ...elementRules(LIST_VIDEOS),
  ...valueRules(LIST_VIDEOS),
  ...paginationRules(LIST_VIDEOS),
  ...rules('listVideos', [
    [
      'VISION-040',
      '4.5',
      'videosOfTruck',
      'truckId filters the list of videos',
      'List the videos of that truck only.',
      isOf('truckId'),
    ],
    [
      'VISION-041',
      '4.5',
      'videosOfCamera',
      'cameraId filters the list of videos',
      'List the videos of that camera only.',
      isOf('cameraId'),
    ],
    [
      'VISION-042',
      '4.5',
      'videosInRange',
      'startTime and endTime filter the list of videos',
      'List the videos that overlap the range only.',
      overlaps,
    ],
  ]),
  largePageRule('VISION-043', 'videosLargePage', 'listVideos'),
  fullPageRule('VISION-044', 'videosFullPage', 'listVideos'),
  ...pageRules({ on: 'videos', operation: 'listVideos', first: 80, section: '4.5' }),
];

const isCameraOfTruck = isOf('cameraId');

/** The last chunk of a camera, and one before a gap, may be shorter. */
const isConstant: Check = (exchange) => {
  const seconds = listFacts(exchange).valid.map(({ startTime, endTime }) => secondsBetween(startTime, endTime));
  if (seconds.length < 2) return notProven('there are fewer than two recordings');
  const longest = Math.max(...seconds);
  const shorter = seconds.filter((each) => each > 0 && each < longest - 1).length;
  return passedUnless(
    shorter * 2 > seconds.length ? `most chunks are shorter than the longest of ${longest} s` : undefined,
  );
};

const CONTINUOUS_RULES: readonly Rule[] = [
  ...rules('listContinuous', [
    [
      'VISION-101',
      '4.6',
      'continuous',
      'GET /video-platform/v1/videos/continuous with customer, truck and range is answered with 200',
      'Serve GET /video-platform/v1/videos/continuous, and answer 200 for a known truck, also where nothing was recorded.',
      isListedOfTruck,
    ],
  ]),
  ...envelopeRules(LIST_CONTINUOUS),
  ...elementRules(LIST_CONTINUOUS),
  ...valueRules(LIST_CONTINUOUS),
  ...paginationRules(LIST_CONTINUOUS),
  ...rules('listContinuous', [
    [
      'VISION-140',
      '4.6',
      'continuous',
      'every recording is of the truck that was asked for',
      'List the recordings of that truck only.',
      isOf('truckId'),
      ['VISION-105'],
    ],
    [
      'VISION-141',
      '4.6',
      'continuous',
      'every recording overlaps the range that was asked for',
      'List the recordings that overlap the range only.',
      overlaps,
      ['VISION-105'],
    ],
    [
      'VISION-142',
      '4.6',
      'continuousOfCamera',
      'cameraId filters the recordings',
      'List the recordings of that camera only.',
      isCameraOfTruck,
    ],
  ]),
  ...rules(
    'listContinuous',
    [
      [
        'VISION-143',
        '4.6',
        'continuous',
        'the recordings have constant durations',
        'Divide the recordings into chunks of one length.',
        isConstant,
        ['VISION-105'],
      ],
    ],
    'should',
  ),
  ...pageRules({ on: 'continuous', operation: 'listContinuous', first: 144, section: '4.6' }),
  largePageRule('VISION-150', 'continuousLargePage', 'listContinuous'),
  fullPageRule('VISION-151', 'continuousFullPage', 'listContinuous'),
];

const isMp4 = (exchange: Exchange): Verdict => {
  const body = exchange.answer?.body ?? Buffer.alloc(0);
  return passedUnless(
    body.subarray(4, 8).toString('latin1') === 'ftyp' ? undefined : 'the file does not begin as an MP4 (no ftyp box)',
  );
};

const isPart: Check = (exchange) => {
  if (exchange.status !== 206) return failed(`the status is ${exchange.status}, expected 206`);
  const { length } = exchange.answer?.body ?? Buffer.alloc(0);
  return passedUnless(length === 100 ? undefined : `the part has ${length} bytes, expected 100`);
};

const has =
  (name: string): Check =>
  (exchange) =>
    passedUnless(exchange.header(name) === undefined ? `${name} is absent` : undefined);

const DOWNLOAD_RULES: readonly Rule[] = [
  ...rules('listContinuous', [
    [
      'VISION-160',
      '2.6',
      'download',
      'the link of a recording answers a GET without a key with 200',
      'Let downloadUrl work by itself, without an API key and without a redirect to a login.',
      hasStatus(200),
    ],
    [
      'VISION-161',
      '2.6',
      'download',
      'the link of a recording leads to an MP4 file',
      'Send the bytes of the MP4 file.',
      isMp4,
    ],
  ]),
  ...rules(
    'listContinuous',
    [
      [
        'VISION-162',
        '8',
        'download',
        'a download has a Content-Length',
        'Send Content-Length, so that a cut file is noticed.',
        has('content-length'),
      ],
      [
        'VISION-163',
        '8',
        'download',
        'a download has an ETag',
        'Send ETag, so that an interrupted download can be resumed.',
        has('etag'),
      ],
      [
        'VISION-164',
        '8',
        'downloadPart',
        'a download with Range is answered with 206 and that part',
        'Support Range, so that an interrupted download can be resumed.',
        isPart,
      ],
    ],
    'should',
  ),
];

const isText = (value: unknown) => typeof value === 'string' && value !== '';

const hasAllTheSameRequest: Check = (exchange) => {
  const requestId = askedFor(exchange, 'requestId');
  const others = elementsOf(exchange)
    .map((element) => ownField(element, 'requestId'))
    .filter((id) => id != null && id !== requestId);
  return passedUnless(others.length === 0 ? undefined : `the list has an element of the request ${shown(others[0])}`);
};

const isPrepared: Check = (exchange) => {
  if (elementsOf(exchange).length > 0) return passed;
  const state = ownField(ownField(ownField(exchange.json, 'data'), 'request'), 'status');
  return state === 'failed'
    ? failed('the request failed, although its range was recorded')
    : notProven('the clip was not ready in time');
};

const namesRequest: Check = (exchange) => {
  const elements = elementsOf(exchange);
  if (elements.length === 0) return notProven('the list is empty');
  return passedUnless(
    elements.every((element) => ownField(element, 'requestId') != null) ? undefined : 'requestId is absent',
  );
};

const isWithinRequest: Check = async (exchange, run) => {
  const request = await run.exchange('request');
  if (request instanceof MissingData) return notProven(request.message);
  const body: unknown = JSON.parse(request.request.body ?? '{}');
  const [from = 0, to = 0] = ['startTime', 'endTime'].map((name) => Date.parse(String(ownField(body, name))));
  return everyElement(exchange, ({ startTime, endTime }) => {
    const [start, end] = [epochMillis(startTime), epochMillis(endTime)];
    // A range that ends too early is the fault of another rule.
    return end <= start || (end > from && start < to) ? undefined : 'lies outside the range of the request';
  });
};

const REQUEST_RULES: readonly Rule[] = [
  ...rules('requestVideo', [
    [
      'VISION-201',
      '4.4',
      'request',
      'POST /video-platform/v1/videos/requests of a recorded range is answered with 202',
      'Accept a valid request with 202.',
      hasStatus(202),
    ],
    [
      'VISION-202',
      '4',
      'request',
      'the acknowledgement is application/json',
      'Send Content-Type: application/json.',
      isDeclaredJson,
    ],
    [
      'VISION-203',
      '4',
      'request',
      'the acknowledgement is JSON in UTF-8',
      'Write the body with a JSON serializer, in UTF-8.',
      isJson,
    ],
    [
      'VISION-204',
      '2.5a',
      'request',
      'success of the acknowledgement is true',
      'Set success to true where the request was accepted.',
      member('success', (value) => value === true, 'true'),
      ['VISION-203'],
    ],
    [
      'VISION-205',
      '2.5a',
      'request',
      'requestId is text',
      'Send the requestId with which the platform polls.',
      member('requestId', isText, 'text'),
      ['VISION-203'],
    ],
    [
      'VISION-206',
      '3',
      'request',
      'status is processing, ready or failed',
      'Send one of the three states; processing where the preparation has begun.',
      member('status', (value) => (VIDEO_STATUSES as readonly unknown[]).includes(value), VIDEO_STATUSES.join(', ')),
      ['VISION-203'],
    ],
    [
      'VISION-207',
      '2.5a',
      'request',
      'message is text, or absent',
      'Send message as text, or leave it out.',
      member('message', (value) => value == null || typeof value === 'string', 'text or absent'),
      ['VISION-203'],
    ],
  ]),
  ...rules(
    'requestVideo',
    [
      [
        'VISION-208',
        '4.4',
        'request',
        'the status of an accepted request is processing',
        'Send processing, and show the end in the list; the platform understands ready and failed as well.',
        member('status', (value) => value !== 'ready' && value !== 'failed', 'processing'),
        ['VISION-206'],
      ],
    ],
    'should',
  ),
  ...rules('listVideos', [
    [
      'VISION-301',
      '1',
      'clip',
      'a list by requestId is answered with 200',
      'Answer 200 while the clip is in preparation, with an empty list.',
      hasStatus(200),
    ],
  ]),
  ...envelopeRules(CLIP),
  ...rules('listVideos', [
    [
      'VISION-306',
      '4.5',
      'clip',
      'requestId filters the list of videos',
      'List the videos of that request only.',
      hasAllTheSameRequest,
      ['VISION-305'],
    ],
    [
      'VISION-307',
      '1',
      'clip',
      'the clip of a recorded range is listed once it is prepared',
      'Put the prepared clip into the list.',
      isPrepared,
      ['VISION-305'],
    ],
    [
      'VISION-308',
      '4.4',
      'clip',
      'the clip overlaps the range of its request',
      'Cut the clip from the requested range.',
      isWithinRequest,
      ['VISION-305'],
    ],
  ]),
  ...rules(
    'listVideos',
    [
      [
        'VISION-309',
        '4.5',
        'clip',
        'a clip names its requestId',
        'Put the requestId into every clip.',
        namesRequest,
        ['VISION-305'],
      ],
    ],
    'should',
  ),
  ...elementRules(CLIP),
  ...valueRules(CLIP),
  ...rules('listVideos', [
    [
      'VISION-360',
      '1',
      'clipDownload',
      'the link of a clip answers a GET without a key with 200',
      'Let downloadUrl work by itself, without an API key.',
      hasStatus(200),
    ],
    [
      'VISION-361',
      '1',
      'clipDownload',
      'the link of a clip leads to an MP4 file',
      'Send the bytes of the MP4 file.',
      isMp4,
    ],
  ]),
];

export const VISION_SERVER: ServerRole = {
  name: 'vision-server',
  keyHeader: VISION_API.keyHeader,
  otherHeader: 'PLATFORM-API-KEY',
  operations: OPERATIONS,
  plans: PLANS,
  rules: [...VIDEO_RULES, ...CONTINUOUS_RULES, ...DOWNLOAD_RULES, ...VISION_REFUSALS, ...REQUEST_RULES],
};
