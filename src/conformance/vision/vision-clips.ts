import { epochMillis } from '../../contracts/common/instant.js';
import { ownField } from '../../contracts/common/json.js';
import { VIDEO_STATUSES } from '../../contracts/vision/vision.api.js';
import {
  declaredAsJson,
  type Form,
  hasStatus,
  inJson,
  member,
  shown,
  smallEnough,
  statusFault,
  TEXT,
  TRUE,
  valueAt,
} from '../checks.js';
import { failed, notProven, passed, passedIf, passedUnless, type Rule } from '../rule.js';
import { everyElement, queryValue } from './vision-reading.js';
import { elementsOf, rulesOfList } from './vision-facts.js';
import { CLIP_FILE_RULES } from './vision-files.js';
import { ELEMENT_RULES, ENVELOPE_RULES, VALUE_RULES } from './vision-lists.js';

/** Rules of `POST /videos/requests`, and of the clip that it orders. */

type Check = Rule['check'];

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
  if (state === 'failed') return failed('the request failed, although its range was recorded');
  return state === 'ready'
    ? failed('the request is ready, and its list has no clip')
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

const isOfRequest: Check = async (exchange, run) => {
  const body: unknown = JSON.parse((await run.exchange('request')).request.body ?? '{}');
  return everyElement((element) => {
    const name = (['truckId', 'cameraId'] as const).find(
      (each) => element[each].toLowerCase() !== String(ownField(body, each)).toLowerCase(),
    );
    return name && `${name} is ${shown(element[name])}, requested was ${shown(ownField(body, name))}`;
  })(exchange);
};

const hasOwnRequestId: Check = async (exchange, run) => {
  const fault = statusFault(exchange, 202);
  if (fault !== undefined) return failed(fault);
  const [first, second] = [await run.exchange('request'), exchange].map(({ json }) => ownField(json, 'requestId'));
  return passedIf(first !== second, `requests of two ranges have the requestId ${shown(first)}`);
};

/** Both are final (decision 39). */
const FINAL: readonly unknown[] = ['ready', 'failed'];

/** The acknowledgement, each list until the clip was there, and one more. */
const keepsState: Check = async (exchange, run) => {
  const fault = statusFault(exchange, 200);
  if (fault !== undefined) return failed(fault);
  const states = [
    ownField((await run.exchange('request')).json, 'status'),
    ...[...run.attempts('clip'), exchange].map(({ json }) => valueAt(json, 'data.request.status')),
  ].filter((state) => state !== undefined);
  const i = states.findIndex((state, at) => FINAL.includes(states[at - 1]) && state !== states[at - 1]);
  return passedIf(i < 0, `the status was ${shown(states[i - 1])}, and is ${shown(states[i])} in a later answer`);
};

const keepsClip: Check = async (exchange, run) => {
  const before = elementsOf(await run.exchange('clip')).map((element) => ownField(element, 'id'));
  if (before.length === 0) return notProven('no clip was listed');
  const after = elementsOf(exchange).map((element) => ownField(element, 'id'));
  const missing = before.find((id) => !after.includes(id));
  return passedIf(missing === undefined, `the clip ${shown(missing)} is absent when the list is read again`);
};

/** A server may refuse a time that is long ago. */
const isKnown: Check = (exchange) =>
  exchange.status === 404
    ? failed('the status is 404, although the camera is known')
    : passedUnless(statusFault(exchange, 202, 400));

/** What the rules of an acknowledgement, and those of the list of its clip, have in common. */
const REQUEST = { operation: 'requestVideo', on: 'request', severity: 'must' } as const;
const CLIP_AGAIN = { operation: 'listVideos', on: 'clipAgain', severity: 'must' } as const;
const CLIP = { operation: 'listVideos', on: 'clip', severity: 'must', needs: ['VISION-305'] } as const;

export const REQUEST_RULES: readonly Rule[] = [
  {
    id: 'VISION-201',
    ...REQUEST,
    section: '4.4',
    title: 'POST /video-platform/v1/videos/requests of a recorded range is answered with 202',
    remedy: 'Accept a valid request with 202.',
    check: hasStatus(202),
  },
  { id: 'VISION-209', ...REQUEST, section: '8', ...smallEnough() },
  { id: 'VISION-202', ...REQUEST, section: '4', ...declaredAsJson('the acknowledgement') },
  { id: 'VISION-203', ...REQUEST, section: '4', ...inJson('the acknowledgement') },
  { id: 'VISION-204', ...REQUEST, section: '2.5a', needs: ['VISION-203'], ...member('success', TRUE) },
  { id: 'VISION-205', ...REQUEST, section: '2.5a', needs: ['VISION-203'], ...member('requestId', TEXT) },
  { id: 'VISION-206', ...REQUEST, section: '3', needs: ['VISION-203'], ...member('status', STATUS) },
  { id: 'VISION-207', ...REQUEST, section: '2.5a', needs: ['VISION-203'], ...member('message', OPTIONAL_TEXT) },
  {
    id: 'VISION-208',
    ...REQUEST,
    section: '4.4',
    severity: 'should',
    needs: ['VISION-206'],
    ...member('status', PROCESSING),
    remedy: 'Send processing, and show the end in the list; the platform understands ready and failed as well.',
  },
  {
    id: 'VISION-301',
    ...CLIP_AGAIN,
    on: 'clip',
    section: '1',
    title: 'a list by requestId is answered with 200',
    remedy: 'Answer 200 while the clip is in preparation, with an empty list.',
    check: hasStatus(200),
  },
  ...rulesOfList('clip', ENVELOPE_RULES),
  {
    id: 'VISION-306',
    ...CLIP,
    section: '4.5',
    title: 'requestId filters the list of videos',
    remedy: 'List the videos of that request only.',
    check: hasAllTheSameRequest,
  },
  {
    id: 'VISION-307',
    ...CLIP,
    section: '1',
    title: 'the clip of a recorded range is listed once it is prepared',
    remedy: 'Put the prepared clip into the list.',
    check: isPrepared,
  },
  {
    id: 'VISION-308',
    ...CLIP,
    section: '4.4',
    title: 'the clip overlaps the range of its request',
    remedy: 'Cut the clip from the requested range.',
    check: isWithinRequest,
  },
  {
    id: 'VISION-309',
    ...CLIP,
    section: '4.5',
    severity: 'should',
    title: 'a clip names its requestId',
    remedy: 'Put the requestId into every clip.',
    check: namesRequest,
  },
  ...rulesOfList('clip', ELEMENT_RULES),
  ...rulesOfList('clip', VALUE_RULES),
  {
    id: 'VISION-420',
    ...CLIP,
    section: '4.4',
    title: 'the clip is of the truck and the camera of its request',
    remedy: 'Cut the clip from the recordings of the requested camera, and return its truckId and cameraId.',
    check: isOfRequest,
  },
  {
    id: 'VISION-422',
    ...CLIP_AGAIN,
    section: '3',
    needs: ['VISION-206', 'VISION-305'],
    title: 'the status of a request does not change after ready or failed',
    remedy: 'Store the status of the request: ready and failed are final.',
    check: keepsState,
  },
  {
    id: 'VISION-421',
    ...CLIP_AGAIN,
    section: '4.5',
    needs: ['VISION-307', 'VISION-311'],
    title: 'a clip that was listed is listed again',
    remedy: 'Keep a prepared clip in the list, with a new link when the old one has expired.',
    check: keepsClip,
  },
  {
    id: 'VISION-423',
    ...REQUEST,
    on: 'secondRequest',
    section: '2.5a',
    needs: ['VISION-205'],
    title: 'requests of two ranges have two requestIds',
    remedy: 'Create a new requestId for each request: the platform polls each clip by it.',
    check: hasOwnRequestId,
  },
  {
    id: 'VISION-424',
    ...REQUEST,
    on: 'requestNowhere',
    section: '4.4',
    needs: ['VISION-201'],
    title: 'a request for a known camera is not answered with 404 where nothing was recorded',
    remedy: 'Accept the request with 202, and let it become failed: 404 means that the camera is unknown.',
    check: isKnown,
  },
  ...CLIP_FILE_RULES,
];
