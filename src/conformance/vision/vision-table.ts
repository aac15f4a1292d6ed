import { INVALID_PAYLOAD, NOT_FOUND, UNAUTHORIZED } from '../refusals.js';
import type { RefusedGroup } from '../rule.js';

/** The requests that a server of the Vision interface refuses (sections 5 and 7). */

const UNKNOWN = 'conformance-kit-unknown';

const KEY = {
  ...UNAUTHORIZED,
  severity: 'must',
  section: '5',
  remedy: 'Compare the header API-KEY with the issued key on every operation, before anything else.',
} as const;
const NO_KEY = { field: 'API-KEY', words: 'without the header API-KEY', value: 'none' };
const WRONG_KEY = { field: 'API-KEY', words: 'with a wrong key', value: 'wrong-key' };
const OTHER_HEADER = { field: 'API-KEY', words: 'with the key in PLATFORM-API-KEY', value: 'other-header' };
const INVALID = {
  ...INVALID_PAYLOAD,
  severity: 'must',
  section: '7',
  remedy: 'Check the required fields and their form, and answer 400.',
} as const;
/** The specification has no status for a page that is not a number. */
const PAGE = {
  ...INVALID_PAYLOAD,
  section: '8',
  remedy: 'Check page and pageSize, and answer 400.',
  severity: 'should',
} as const;
const MISSING = {
  ...NOT_FOUND,
  severity: 'must',
  section: '7',
  remedy: 'Answer 404 where the customer, the truck or the camera is unknown.',
} as const;
const VIDEOS = { operation: 'listVideos', subject: 'a list of videos' };
const RECORDINGS = { operation: 'listContinuous', subject: 'a list of recordings' };
const REQUEST = { operation: 'requestVideo', subject: 'a video request' };

/** Exchanges startTime and endTime. */
const reversed = (request: unknown) => {
  const { startTime, endTime, ...others } = request as Record<string, unknown>;
  return { ...others, startTime: endTime, endTime: startTime };
};

export const VISION_REFUSED: readonly RefusedGroup[] = [
  {
    ...KEY,
    ...VIDEOS,
    requests: [
      { ids: ['VISION-050', 'VISION-051'], ...NO_KEY },
      { ids: ['VISION-052', 'VISION-053'], ...WRONG_KEY },
      { ids: ['VISION-054', 'VISION-055'], ...OTHER_HEADER },
    ],
  },
  {
    ...KEY,
    ...RECORDINGS,
    requests: [
      { ids: ['VISION-180', 'VISION-181'], ...NO_KEY },
      { ids: ['VISION-182', 'VISION-183'], ...WRONG_KEY },
      { ids: ['VISION-184', 'VISION-185'], ...OTHER_HEADER },
    ],
  },
  {
    ...KEY,
    ...REQUEST,
    requests: [
      { ids: ['VISION-210', 'VISION-211'], ...NO_KEY },
      { ids: ['VISION-212', 'VISION-213'], ...WRONG_KEY },
      { ids: ['VISION-214', 'VISION-215'], ...OTHER_HEADER },
    ],
  },
  {
    ...INVALID,
    ...VIDEOS,
    requests: [
      { ids: ['VISION-060', 'VISION-061'], field: 'customerId', words: 'without customerId', value: undefined },
      {
        ids: ['VISION-062', 'VISION-063'],
        field: 'startTime',
        words: 'with a startTime that is not a time',
        value: 'noon',
      },
      {
        ids: ['VISION-064', 'VISION-065'],
        field: 'endTime',
        words: 'with an endTime that is not a time',
        value: 'noon',
      },
      { ids: ['VISION-066', 'VISION-067'], field: '', words: 'with startTime after endTime', value: reversed },
    ],
  },
  {
    ...INVALID,
    ...RECORDINGS,
    requests: [
      { ids: ['VISION-190', 'VISION-191'], field: 'customerId', words: 'without customerId', value: undefined },
      { ids: ['VISION-192', 'VISION-193'], field: 'truckId', words: 'without truckId', value: undefined },
      { ids: ['VISION-194', 'VISION-195'], field: 'startTime', words: 'without startTime', value: undefined },
      { ids: ['VISION-196', 'VISION-197'], field: 'endTime', words: 'without endTime', value: undefined },
      {
        ids: ['VISION-198', 'VISION-199'],
        field: 'startTime',
        words: 'with a startTime that is not a time',
        value: 'noon',
      },
      {
        ids: ['VISION-186', 'VISION-187'],
        field: 'endTime',
        words: 'with an endTime that is not a time',
        value: 'noon',
      },
      { ids: ['VISION-170', 'VISION-171'], field: '', words: 'with startTime after endTime', value: reversed },
    ],
  },
  {
    ...INVALID,
    ...REQUEST,
    requests: [
      { ids: ['VISION-220', 'VISION-221'], field: '', words: 'with an empty object', value: {} },
      { ids: ['VISION-222', 'VISION-223'], field: '', words: 'whose body is not JSON', value: '{"customerId":' },
      { ids: ['VISION-230', 'VISION-231'], field: 'customerId', words: 'without customerId', value: undefined },
      { ids: ['VISION-232', 'VISION-233'], field: 'truckId', words: 'without truckId', value: undefined },
      { ids: ['VISION-234', 'VISION-235'], field: 'cameraId', words: 'without cameraId', value: undefined },
      { ids: ['VISION-236', 'VISION-237'], field: 'startTime', words: 'without startTime', value: undefined },
      { ids: ['VISION-238', 'VISION-239'], field: 'endTime', words: 'without endTime', value: undefined },
      {
        ids: ['VISION-240', 'VISION-241'],
        field: 'startTime',
        words: 'with a startTime that is not a time',
        value: 'noon',
      },
      { ids: ['VISION-242', 'VISION-243'], field: '', words: 'with startTime after endTime', value: reversed },
      {
        ids: ['VISION-244', 'VISION-245'],
        field: 'endTime',
        words: 'with an endTime that is not a time',
        value: 'noon',
      },
      { ids: ['VISION-246', 'VISION-247'], field: 'customerId', words: 'with a customerId that is a number', value: 7 },
      { ids: ['VISION-248', 'VISION-249'], field: 'truckId', words: 'with a truckId that is a number', value: 7 },
      {
        ids: ['VISION-256', 'VISION-257'],
        field: 'cameraId',
        words: 'with a cameraId that is an object',
        value: { name: 'front' },
      },
    ],
  },
  {
    ...PAGE,
    ...VIDEOS,
    requests: [
      { ids: ['VISION-068', 'VISION-069'], field: 'page', words: 'with a page that is not a number', value: 'first' },
    ],
  },
  {
    ...PAGE,
    ...RECORDINGS,
    requests: [
      { ids: ['VISION-188', 'VISION-189'], field: 'page', words: 'with a page that is not a number', value: 'first' },
    ],
  },
  {
    ...MISSING,
    ...VIDEOS,
    requests: [
      { ids: ['VISION-070', 'VISION-071'], field: 'customerId', words: 'of an unknown customer', value: UNKNOWN },
      { ids: ['VISION-072', 'VISION-073'], field: 'truckId', words: 'of an unknown truck', value: UNKNOWN },
      { ids: ['VISION-074', 'VISION-075'], field: 'cameraId', words: 'of an unknown camera', value: UNKNOWN },
    ],
  },
  {
    ...MISSING,
    ...RECORDINGS,
    requests: [
      { ids: ['VISION-172', 'VISION-173'], field: 'customerId', words: 'of an unknown customer', value: UNKNOWN },
      { ids: ['VISION-174', 'VISION-175'], field: 'truckId', words: 'of an unknown truck', value: UNKNOWN },
      { ids: ['VISION-176', 'VISION-177'], field: 'cameraId', words: 'of an unknown camera', value: UNKNOWN },
    ],
  },
  {
    ...MISSING,
    ...REQUEST,
    requests: [
      { ids: ['VISION-250', 'VISION-251'], field: 'customerId', words: 'of an unknown customer', value: UNKNOWN },
      { ids: ['VISION-252', 'VISION-253'], field: 'truckId', words: 'of an unknown truck', value: UNKNOWN },
      { ids: ['VISION-254', 'VISION-255'], field: 'cameraId', words: 'of an unknown camera', value: UNKNOWN },
    ],
  },
];
