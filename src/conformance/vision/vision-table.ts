import { INVALID_PAYLOAD, keyRows, NOT_FOUND, type RefusedGroup, UNAUTHORIZED } from '../refusals.js';

/** The requests that a server of the Vision interface refuses (sections 5 and 7). */

const UNKNOWN = 'conformance-kit-unknown';

const KEY = {
  ...UNAUTHORIZED,
  section: '5',
  remedy: 'Compare the header API-KEY with the issued key on every operation, before anything else.',
};
const INVALID = {
  ...INVALID_PAYLOAD,
  section: '7',
  remedy: 'Check the required fields and their form, and answer 400.',
};
/** The specification has no status for a page that is not a number. */
const PAGE = {
  ...INVALID_PAYLOAD,
  section: '8',
  remedy: 'Check page and pageSize, and answer 400.',
  severity: 'should',
} as const;
const MISSING = {
  ...NOT_FOUND,
  section: '7',
  remedy: 'Answer 404 where the customer, the truck or the camera is unknown.',
};
const VIDEOS = { operation: 'listVideos' };
const RECORDINGS = { operation: 'listContinuous' };
const REQUEST = { operation: 'requestVideo' };
const HEADERS = ['API-KEY', 'PLATFORM-API-KEY'] as const;

/** Exchanges startTime and endTime. */
const reversed = (request: unknown) => {
  const { startTime, endTime, ...others } = request as Record<string, unknown>;
  return { ...others, startTime: endTime, endTime: startTime };
};

export const VISION_REFUSED: readonly RefusedGroup[] = [
  {
    ...KEY,
    ...VIDEOS,
    rows: keyRows(['VISION-050', 'VISION-052', 'VISION-054'], 'a list of videos', HEADERS),
  },
  {
    ...KEY,
    ...RECORDINGS,
    rows: keyRows(['VISION-180', 'VISION-182', 'VISION-184'], 'a list of recordings', HEADERS),
  },
  { ...KEY, ...REQUEST, rows: keyRows(['VISION-210', 'VISION-212', 'VISION-214'], 'a video request', HEADERS) },
  {
    ...INVALID,
    ...VIDEOS,
    rows: [
      ['VISION-060', 'customerId', 'a list of videos without customerId', undefined],
      ['VISION-062', 'startTime', 'a list of videos with a startTime that is not a time', 'noon'],
      ['VISION-064', 'endTime', 'a list of videos with an endTime that is not a time', 'noon'],
      ['VISION-066', '', 'a list of videos with startTime after endTime', reversed],
    ],
  },
  {
    ...INVALID,
    ...RECORDINGS,
    rows: [
      ['VISION-190', 'customerId', 'a list of recordings without customerId', undefined],
      ['VISION-192', 'truckId', 'a list of recordings without truckId', undefined],
      ['VISION-194', 'startTime', 'a list of recordings without startTime', undefined],
      ['VISION-196', 'endTime', 'a list of recordings without endTime', undefined],
      ['VISION-198', 'startTime', 'a list of recordings with a startTime that is not a time', 'noon'],
      ['VISION-186', 'endTime', 'a list of recordings with an endTime that is not a time', 'noon'],
      ['VISION-170', '', 'a list of recordings with startTime after endTime', reversed],
    ],
  },
  {
    ...INVALID,
    ...REQUEST,
    rows: [
      ['VISION-220', '', 'a video request with an empty object', {}],
      ['VISION-222', '', 'a video request whose body is not JSON', '{"customerId":'],
      ['VISION-230', 'customerId', 'a video request without customerId', undefined],
      ['VISION-232', 'truckId', 'a video request without truckId', undefined],
      ['VISION-234', 'cameraId', 'a video request without cameraId', undefined],
      ['VISION-236', 'startTime', 'a video request without startTime', undefined],
      ['VISION-238', 'endTime', 'a video request without endTime', undefined],
      ['VISION-240', 'startTime', 'a video request with a startTime that is not a time', 'noon'],
      ['VISION-242', '', 'a video request with startTime after endTime', reversed],
      ['VISION-244', 'endTime', 'a video request with an endTime that is not a time', 'noon'],
      ['VISION-246', 'customerId', 'a video request with a customerId that is a number', 7],
      ['VISION-248', 'truckId', 'a video request with a truckId that is a number', 7],
      ['VISION-256', 'cameraId', 'a video request with a cameraId that is an object', { name: 'front' }],
    ],
  },
  { ...PAGE, ...VIDEOS, rows: [['VISION-068', 'page', 'a list of videos with a page that is not a number', 'first']] },
  {
    ...PAGE,
    ...RECORDINGS,
    rows: [['VISION-188', 'page', 'a list of recordings with a page that is not a number', 'first']],
  },
  {
    ...MISSING,
    ...VIDEOS,
    rows: [
      ['VISION-070', 'customerId', 'a list of videos of an unknown customer', UNKNOWN],
      ['VISION-072', 'truckId', 'a list of videos of an unknown truck', UNKNOWN],
      ['VISION-074', 'cameraId', 'a list of videos of an unknown camera', UNKNOWN],
    ],
  },
  {
    ...MISSING,
    ...RECORDINGS,
    rows: [
      ['VISION-172', 'customerId', 'a list of recordings of an unknown customer', UNKNOWN],
      ['VISION-174', 'truckId', 'a list of recordings of an unknown truck', UNKNOWN],
      ['VISION-176', 'cameraId', 'a list of recordings of an unknown camera', UNKNOWN],
    ],
  },
  {
    ...MISSING,
    ...REQUEST,
    rows: [
      ['VISION-250', 'customerId', 'a video request of an unknown customer', UNKNOWN],
      ['VISION-252', 'truckId', 'a video request of an unknown truck', UNKNOWN],
      ['VISION-254', 'cameraId', 'a video request of an unknown camera', UNKNOWN],
    ],
  },
];
