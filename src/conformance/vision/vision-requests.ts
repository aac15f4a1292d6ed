import { isJsonObject } from '../../contracts/common/json.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { FAIL_ON_DEMAND, ownField } from '../checks.js';
import { type Draft, type Exchanges, MissingData, type RequestPlan } from '../rule.js';
import { elementsOf, listOf } from './vision-facts.js';

/** The requests of the role `vision-server`. */

const DAY_MS = 86_400_000;
const DEFAULT_RANGE_DAYS = 30;
const MAX_CLIP_MS = 60_000;
/** The start of a file is enough to see that it is an MP4. */
const PEEK_BYTES = 4_096;
const UNKNOWN = 'conformance-kit-unknown';

export const OPERATIONS = {
  requestVideo: { method: 'POST', path: pathOf('requestVideo') },
  listVideos: { method: 'GET', path: pathOf('listVideos') },
  listContinuous: { method: 'GET', path: pathOf('listContinuous') },
  download: { method: 'GET', path: '' },
} as const;

function pathOf(route: keyof typeof VISION_API.routes): string {
  return VISION_API.prefix + VISION_API.routes[route].path;
}

type Values = Readonly<Record<string, string | undefined>>;

function customerOf({ fixtures: { customerId, haulerId } }: Exchanges): string | MissingData {
  return customerId ?? haulerId ?? new MissingData('no customer is known: pass --customer-id');
}

/** The truck that was named, or that of the first clip. */
async function truckOf(run: Exchanges): Promise<string | MissingData> {
  if (run.fixtures.truckId !== undefined) return run.fixtures.truckId;
  const videos = await run.exchange('videos');
  const [first] = videos instanceof MissingData ? [] : elementsOf(videos);
  const truckId = ownField(first, 'truckId');
  return typeof truckId === 'string' ? truckId : new MissingData('no truck is known: pass --truck-id');
}

export function rangeOf({ fixtures: { from, to }, now }: Exchanges): { startTime: string; endTime: string } {
  const end = to ?? secondsOnly(now());
  return { startTime: from ?? secondsOnly(new Date(Date.parse(end) - DEFAULT_RANGE_DAYS * DAY_MS)), endTime: end };
}

const secondsOnly = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;

/** The values that the continuous list asks for; `changes` replaces them, and removes a field that is undefined. */
async function continuousQuery(run: Exchanges, changes: Values): Promise<Draft | MissingData> {
  const customerId = customerOf(run);
  if (customerId instanceof MissingData) return customerId;
  const truckId = 'truckId' in changes ? '' : await truckOf(run);
  if (truckId instanceof MissingData) return truckId;
  return { query: defined({ customerId, truckId, ...rangeOf(run), ...changes }) };
}

const defined = (values: Values): Record<string, string> =>
  Object.fromEntries(Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined));

const continuous = (changes: Values | ((run: Exchanges) => Promise<Values | MissingData>) = {}): RequestPlan => ({
  operation: 'listContinuous',
  draft: async (run) => {
    const given = typeof changes === 'function' ? await changes(run) : changes;
    return given instanceof MissingData ? given : continuousQuery(run, given);
  },
});

const videos = (changes: Values | ((run: Exchanges) => Promise<Values | MissingData>) = {}): RequestPlan => ({
  operation: 'listVideos',
  draft: async (run) => {
    const customerId = customerOf(run);
    const given = typeof changes === 'function' ? await changes(run) : changes;
    if (customerId instanceof MissingData) return customerId;
    return given instanceof MissingData ? given : { query: defined({ customerId, ...given }) };
  },
});

/** The first element of a list of an earlier request. */
async function firstOf(run: Exchanges, name: string): Promise<Record<string, unknown> | MissingData> {
  const exchange = await run.exchange(name);
  if (exchange instanceof MissingData) return exchange;
  const first = elementsOf(exchange)[0];
  return isJsonObject(first) ? first : new MissingData(`the list "${name}" has no element`);
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const fieldOfFirst =
  (list: string, ...names: string[]) =>
  async (run: Exchanges) => {
    const first = await firstOf(run, list);
    return first instanceof MissingData ? first : Object.fromEntries(names.map((name) => [name, text(first[name])]));
  };

/** A clip of a minute at most, at the start of the first recording. */
async function clipRequest(run: Exchanges, changes: Readonly<Record<string, unknown>>): Promise<Draft | MissingData> {
  const customerId = customerOf(run);
  if (customerId instanceof MissingData) return customerId;
  const first = await firstOf(run, 'continuous');
  if (first instanceof MissingData)
    return new MissingData(`no recording is known to request a clip of: ${first.message}`);
  const start = Date.parse(text(first['startTime']));
  const end = Math.min(Date.parse(text(first['endTime'])), start + MAX_CLIP_MS);
  if (!(end > start)) return new MissingData('the first recording has no valid range');
  const body = {
    customerId,
    truckId: text(first['truckId']),
    cameraId: run.fixtures.cameraId ?? text(first['cameraId']),
    startTime: new Date(start).toISOString(),
    endTime: new Date(end).toISOString(),
  };
  // A field that is undefined is absent from the JSON.
  return { body: { ...body, ...changes } };
}

const request = (changes: Readonly<Record<string, unknown>> = {}): RequestPlan => ({
  operation: 'requestVideo',
  writes: true,
  draft: (run) => clipRequest(run, changes),
});

const reversed = (run: Exchanges): Values => {
  const { startTime, endTime } = rangeOf(run);
  return { startTime: endTime, endTime: startTime };
};

const requestReversed: RequestPlan = {
  ...request(),
  draft: async (run) => {
    const draft = await clipRequest(run, {});
    if (draft instanceof MissingData) return draft;
    const body = draft.body as Record<string, string>;
    return { body: { ...body, startTime: body['endTime'], endTime: body['startTime'] } };
  },
};

async function requestIdOf(run: Exchanges): Promise<Values | MissingData> {
  const acknowledged = await run.exchange('request');
  if (acknowledged instanceof MissingData) return acknowledged;
  const requestId = ownField(acknowledged.json, 'requestId');
  return typeof requestId === 'string' ? { requestId } : new MissingData('the answer of the request has no requestId');
}

const download = (list: string, headers: Record<string, string> = {}): RequestPlan => ({
  operation: 'download',
  credentials: 'none',
  draft: async (run) => {
    const first = await firstOf(run, list);
    if (first instanceof MissingData) return first;
    const url = text(first['downloadUrl']);
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      return new MissingData('the first downloadUrl is not an address');
    return { url, peekBytes: PEEK_BYTES, headers: { Accept: '*/*', ...headers } };
  },
});

const withCredentials = (plan: RequestPlan, credentials: 'none' | 'wrong-key' | 'other-header'): RequestPlan => ({
  ...plan,
  credentials,
});
const failing = (plan: RequestPlan): RequestPlan => ({
  ...plan,
  draft: async (run) => {
    const draft = await plan.draft(run);
    return draft instanceof MissingData ? draft : { ...draft, headers: FAIL_ON_DEMAND };
  },
});
const emptyRequest: RequestPlan = { operation: 'requestVideo', draft: () => ({ body: {} }) };
/** A request that is refused for another reason needs no known truck; a server may look for the truck first. */
const ofAnyTruck = (changes: Values | ((run: Exchanges) => Values) = {}): RequestPlan =>
  continuous(async (run) => {
    const truckId = await truckOf(run);
    const given = typeof changes === 'function' ? changes(run) : changes;
    return { truckId: truckId instanceof MissingData ? UNKNOWN : truckId, ...given };
  });

export const PLANS: Readonly<Record<string, RequestPlan>> = {
  videos: videos(),
  videosOfTruck: videos(fieldOfFirst('videos', 'truckId')),
  videosOfCamera: videos(fieldOfFirst('videos', 'truckId', 'cameraId')),
  videosInRange: videos(fieldOfFirst('videos', 'startTime', 'endTime')),
  videosPage1: videos({ page: '1', pageSize: '1' }),
  videosPage2: videos({ page: '2', pageSize: '1' }),
  videosFullPage: videos({ pageSize: '100' }),
  videosLargePage: videos({ pageSize: '101' }),
  videosMalformedPage: videos({ page: 'first' }),
  videosWithoutCustomer: { operation: 'listVideos', draft: () => ({}) },
  videosMalformedTime: videos({ startTime: 'noon' }),
  videosMalformedEnd: videos({ endTime: 'noon' }),
  videosReversed: videos((run) => Promise.resolve(reversed(run))),
  videosError: failing(videos()),
  videosUnknownCamera: videos(async (run) => {
    const truckId = await truckOf(run);
    return truckId instanceof MissingData ? truckId : { truckId, cameraId: UNKNOWN };
  }),
  videosUnknownCustomer: videos({ customerId: UNKNOWN }),
  videosUnknownTruck: videos({ truckId: UNKNOWN }),
  videosWithoutKey: withCredentials(videos(), 'none'),
  videosWrongKey: withCredentials(videos(), 'wrong-key'),
  videosOtherHeader: withCredentials(videos(), 'other-header'),
  continuous: continuous(),
  continuousOfCamera: continuous(fieldOfFirst('continuous', 'cameraId')),
  continuousPage1: continuous({ page: '1', pageSize: '1' }),
  continuousPage2: continuous({ page: '2', pageSize: '1' }),
  continuousFullPage: continuous({ pageSize: '100' }),
  continuousLargePage: continuous({ pageSize: '101' }),
  continuousMalformedPage: ofAnyTruck({ page: 'first' }),
  continuousError: failing(ofAnyTruck()),
  continuousWithoutCustomer: ofAnyTruck({ customerId: undefined }),
  continuousWithoutTruck: continuous({ truckId: undefined }),
  continuousWithoutStart: ofAnyTruck({ startTime: undefined }),
  continuousWithoutEnd: ofAnyTruck({ endTime: undefined }),
  continuousMalformedTime: ofAnyTruck({ startTime: 'noon' }),
  continuousMalformedEnd: ofAnyTruck({ endTime: 'noon' }),
  continuousReversed: ofAnyTruck(reversed),
  continuousUnknownCustomer: ofAnyTruck({ customerId: UNKNOWN }),
  continuousUnknownTruck: continuous({ truckId: UNKNOWN }),
  continuousUnknownCamera: continuous({ cameraId: UNKNOWN }),
  continuousWithoutKey: withCredentials(ofAnyTruck(), 'none'),
  continuousWrongKey: withCredentials(ofAnyTruck(), 'wrong-key'),
  continuousOtherHeader: withCredentials(ofAnyTruck(), 'other-header'),
  download: download('continuous'),
  downloadPart: download('continuous', { Range: 'bytes=0-99' }),
  requestEmpty: emptyRequest,
  requestError: failing(emptyRequest),
  requestMalformedJson: { operation: 'requestVideo', draft: () => ({ body: '{"customerId":' }) },
  requestWithoutKey: withCredentials(emptyRequest, 'none'),
  requestWrongKey: withCredentials(emptyRequest, 'wrong-key'),
  requestOtherHeader: withCredentials(emptyRequest, 'other-header'),
  requestWithoutCustomer: request({ customerId: undefined }),
  requestWithoutTruck: request({ truckId: undefined }),
  requestWithoutCamera: request({ cameraId: undefined }),
  requestWithoutStart: request({ startTime: undefined }),
  requestWithoutEnd: request({ endTime: undefined }),
  requestMalformedTime: request({ startTime: 'noon' }),
  requestMalformedEnd: request({ endTime: 'noon' }),
  requestCustomerNumber: request({ customerId: 7 }),
  requestTruckNumber: request({ truckId: 7 }),
  requestCameraObject: request({ cameraId: { name: 'front' } }),
  requestReversed,
  requestUnknownCustomer: request({ customerId: UNKNOWN }),
  requestUnknownTruck: request({ truckId: UNKNOWN }),
  requestUnknownCamera: request({ cameraId: UNKNOWN }),
  request: request(),
  clip: {
    ...videos(requestIdOf),
    writes: true,
    until: (exchange) => exchange.status !== 200 || listOf(exchange) === undefined || isDecided(exchange),
  },
  clipDownload: { ...download('clip'), writes: true },
};

/** Whether the clip is listed, or its request has failed. */
function isDecided(exchange: Parameters<typeof elementsOf>[0]): boolean {
  const state = ownField(ownField(ownField(exchange.json, 'data'), 'request'), 'status');
  return elementsOf(exchange).length > 0 || state === 'failed';
}
