import { epochMillis } from '../../contracts/common/instant.js';
import { ownField } from '../../contracts/common/json.js';
import { VIDEO_STATUSES } from '../../contracts/vision/vision.dto.js';
import {
  type Form,
  hasStatus,
  jsonRules,
  memberRow,
  rulesOf,
  serverRules,
  shown,
  sizeRules,
  TEXT,
  TRUE,
  valueAt,
} from '../checks.js';
import { failed, notProven, passed, passedIf, type Rule } from '../rule.js';
import { elementsOf } from './vision-facts.js';
import { CLIP_FILE_RULES } from './vision-files.js';
import { queryValue, elementRules, envelopeRules, everyElement, valueRules } from './vision-lists.js';

/** Rules of `POST /videos/requests`, and of the clip that it orders. */

type Check = Rule['check'];

const CLIP = { on: 'clip', operation: 'listVideos', first: 301, section: '4.5' } as const;

const STATUS: Form = ['processing, ready or failed', (value) => (VIDEO_STATUSES as readonly unknown[]).includes(value)];
const OPTIONAL_TEXT: Form = ['text, or absent', (value) => value == null || typeof value === 'string'];
/** Any other value is the fault of the rule before. */
const PROCESSING: Form = ['processing', (value) => value !== 'ready' && value !== 'failed'];

const hasAllTheSameRequest: Check = (exchange) => {
  const requestId = queryValue(exchange, 'requestId');
  const others = elementsOf(exchange)
    .map((element) => ownField(element, 'requestId'))
    .filter((id) => id != null && id !== requestId);
  return passedIf(others.length === 0, `the list has an element of the request ${shown(others[0])}`);
};

const isPrepared: Check = (exchange) => {
  if (elementsOf(exchange).length > 0) return passed;
  const state = valueAt(exchange.json, 'data.request.status');
  return state === 'failed'
    ? failed('the request failed, although its range was recorded')
    : notProven('the clip was not ready in time');
};

const namesRequest: Check = (exchange) => {
  const elements = elementsOf(exchange);
  if (elements.length === 0) return notProven('the list is empty');
  return passedIf(
    elements.every((element) => ownField(element, 'requestId') != null),
    'requestId is absent',
  );
};

const isWithinRequest: Check = async (exchange, run) => {
  const request = await run.exchange('request');
  const body: unknown = JSON.parse(request.request.body ?? '{}');
  const [from = 0, to = 0] = ['startTime', 'endTime'].map((name) => Date.parse(String(ownField(body, name))));
  return everyElement(({ startTime, endTime }) => {
    const [start, end] = [epochMillis(startTime), epochMillis(endTime)];
    // A range that ends too early is the fault of another rule.
    return end <= start || (end > from && start < to) ? undefined : 'lies outside the range of the request';
  })(exchange);
};

const REQUEST = { operation: 'requestVideo', on: 'request' } as const;

const of = serverRules(
  `
VISION-201 | must | 4.4 | requestVideo | request | - | POST /video-platform/v1/videos/requests of a recorded range is answered with 202 | Accept a valid request with 202.
VISION-301 | must | 1 | listVideos | clip | - | a list by requestId is answered with 200 | Answer 200 while the clip is in preparation, with an empty list.
VISION-306 | must | 4.5 | listVideos | clip | VISION-305 | requestId filters the list of videos | List the videos of that request only.
VISION-307 | must | 1 | listVideos | clip | VISION-305 | the clip of a recorded range is listed once it is prepared | Put the prepared clip into the list.
VISION-308 | must | 4.4 | listVideos | clip | VISION-305 | the clip overlaps the range of its request | Cut the clip from the requested range.
VISION-309 | should | 4.5 | listVideos | clip | VISION-305 | a clip names its requestId | Put the requestId into every clip.
`,
  {
    'VISION-201': hasStatus(202),
    'VISION-301': hasStatus(200),
    'VISION-306': hasAllTheSameRequest,
    'VISION-307': isPrepared,
    'VISION-308': isWithinRequest,
    'VISION-309': namesRequest,
  },
);

export const REQUEST_RULES: readonly Rule[] = [
  ...of('VISION-201'),
  ...sizeRules('VISION-209', REQUEST),
  ...jsonRules(['VISION-202', 'VISION-203'], 'requestVideo', 'request', 'the acknowledgement'),
  ...rulesOf(
    { ...REQUEST, section: '2.5a', needs: ['VISION-203'] },
    memberRow('VISION-204', 'success', TRUE),
    memberRow('VISION-205', 'requestId', TEXT),
  ),
  ...rulesOf({ ...REQUEST, section: '3', needs: ['VISION-203'] }, memberRow('VISION-206', 'status', STATUS)),
  ...rulesOf({ ...REQUEST, section: '2.5a', needs: ['VISION-203'] }, memberRow('VISION-207', 'message', OPTIONAL_TEXT)),
  ...rulesOf(
    { ...REQUEST, section: '4.4', needs: ['VISION-206'], severity: 'should' },
    memberRow(
      'VISION-208',
      'status',
      PROCESSING,
      'Send processing, and show the end in the list; the platform understands ready and failed as well.',
    ),
  ),
  ...of('VISION-301'),
  ...envelopeRules(CLIP),
  ...of('VISION-306', 'VISION-307', 'VISION-308', 'VISION-309'),
  ...elementRules(CLIP),
  ...valueRules(CLIP),
  ...CLIP_FILE_RULES,
];
