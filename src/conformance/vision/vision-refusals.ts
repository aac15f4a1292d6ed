import { isJsonObject } from '../../contracts/common/json.js';
import {
  internalErrorRules,
  type Refusal,
  type RefusalOptions,
  refusalRules,
  type RefusedRequest,
  rulesOf,
  valueAt,
} from '../checks.js';
import { passedIf, type Rule } from '../rule.js';

/** The requests that a server of the Vision interface refuses (sections 5 and 7). */

const UNAUTHORIZED: readonly RefusedRequest[] = [
  ['videosWithoutKey', 50, 'a list of videos without the header API-KEY'],
  ['videosWrongKey', 52, 'a list of videos with a wrong key'],
  ['videosOtherHeader', 54, 'a list of videos with the key in PLATFORM-API-KEY'],
  ['continuousWithoutKey', 180, 'a list of recordings without the header API-KEY'],
  ['continuousWrongKey', 182, 'a list of recordings with a wrong key'],
  ['continuousOtherHeader', 184, 'a list of recordings with the key in PLATFORM-API-KEY'],
  ['requestWithoutKey', 210, 'a video request without the header API-KEY'],
  ['requestWrongKey', 212, 'a video request with a wrong key'],
  ['requestOtherHeader', 214, 'a video request with the key in PLATFORM-API-KEY'],
];

const INVALID: readonly RefusedRequest[] = [
  ['videosWithoutCustomer', 60, 'a list of videos without customerId'],
  ['videosMalformedTime', 62, 'a list of videos with a startTime that is not a time'],
  ['videosMalformedEnd', 64, 'a list of videos with an endTime that is not a time'],
  ['videosReversed', 66, 'a list of videos with startTime after endTime'],
  ['continuousWithoutCustomer', 190, 'a list of recordings without customerId'],
  ['continuousWithoutTruck', 192, 'a list of recordings without truckId'],
  ['continuousWithoutStart', 194, 'a list of recordings without startTime'],
  ['continuousWithoutEnd', 196, 'a list of recordings without endTime'],
  ['continuousMalformedTime', 198, 'a list of recordings with a startTime that is not a time'],
  ['continuousMalformedEnd', 186, 'a list of recordings with an endTime that is not a time'],
  ['continuousReversed', 170, 'a list of recordings with startTime after endTime'],
  ['requestEmpty', 220, 'a video request with an empty object'],
  ['requestMalformedJson', 222, 'a video request whose body is not JSON'],
  ['requestWithoutCustomer', 230, 'a video request without customerId'],
  ['requestWithoutTruck', 232, 'a video request without truckId'],
  ['requestWithoutCamera', 234, 'a video request without cameraId'],
  ['requestWithoutStart', 236, 'a video request without startTime'],
  ['requestWithoutEnd', 238, 'a video request without endTime'],
  ['requestMalformedTime', 240, 'a video request with a startTime that is not a time'],
  ['requestReversed', 242, 'a video request with startTime after endTime'],
  ['requestMalformedEnd', 244, 'a video request with an endTime that is not a time'],
  ['requestCustomerNumber', 246, 'a video request with a customerId that is a number'],
  ['requestTruckNumber', 248, 'a video request with a truckId that is a number'],
  ['requestCameraObject', 256, 'a video request with a cameraId that is an object'],
];

/** The specification has no status for a page that is not a number. */
const MALFORMED_PAGES: readonly RefusedRequest[] = [
  ['videosMalformedPage', 68, 'a list of videos with a page that is not a number'],
  ['continuousMalformedPage', 188, 'a list of recordings with a page that is not a number'],
];

const NOT_FOUND: readonly RefusedRequest[] = [
  ['videosUnknownCustomer', 70, 'a list of videos of an unknown customer'],
  ['videosUnknownTruck', 72, 'a list of videos of an unknown truck'],
  ['videosUnknownCamera', 74, 'a list of videos of an unknown camera'],
  ['continuousUnknownCustomer', 172, 'a list of recordings of an unknown customer'],
  ['continuousUnknownTruck', 174, 'a list of recordings of an unknown truck'],
  ['continuousUnknownCamera', 176, 'a list of recordings of an unknown camera'],
  ['requestUnknownCustomer', 250, 'a video request of an unknown customer'],
  ['requestUnknownTruck', 252, 'a video request of an unknown truck'],
  ['requestUnknownCamera', 254, 'a video request of an unknown camera'],
];

const operationOf = (on: string): string =>
  on.startsWith('videos') ? 'listVideos' : on.startsWith('continuous') ? 'listContinuous' : 'requestVideo';

const refusals = (refusal: Refusal, requests: readonly RefusedRequest[], options?: RefusalOptions): Rule[] =>
  requests.flatMap((request) => refusalRules('VISION', operationOf(request[0]), refusal, [request], options));

/** The error schema of the continuous list has no `details` (section 2.1). */
const PLAIN_ERRORS = rulesOf(
  { operation: 'listContinuous', section: '2.1', on: 'continuousWithoutCustomer', severity: 'should' },
  [
    'VISION-178',
    'an error of the list of recordings has no details',
    'Name the fields in error.message, and leave error.details out.',
    ({ json }) => passedIf(!isJsonObject(valueAt(json, 'error.details')), 'error.details is present'),
  ],
);

export const VISION_REFUSALS: readonly Rule[] = [
  ...refusals(
    [
      401,
      'UNAUTHORIZED',
      '5',
      'Compare the header API-KEY with the issued key on every operation, before anything else.',
    ],
    UNAUTHORIZED,
  ),
  ...refusals([400, 'INVALID_PAYLOAD', '7', 'Check the required fields and their form, and answer 400.'], INVALID),
  ...refusals([400, 'INVALID_PAYLOAD', '8', 'Check page and pageSize, and answer 400.'], MALFORMED_PAGES, {
    severity: 'should',
  }),
  ...refusals([404, 'NOT_FOUND', '7', 'Answer 404 where the customer, the truck or the camera is unknown.'], NOT_FOUND),
  ...PLAIN_ERRORS,
  ...internalErrorRules('VISION-076', 'videosError', 'listVideos'),
  ...internalErrorRules('VISION-179', 'continuousError', 'listContinuous'),
  ...internalErrorRules('VISION-258', 'requestError', 'requestVideo'),
];
