import { epochMillis, parseInstant } from '../../contracts/common/instant.js';
import { isJsonObject, ownField } from '../../contracts/common/json.js';
import { type Exchange, UnprovenError } from '../exchange.js';
import type { Content, Exchanges, RefusedRequest, RequestPlan } from '../rule.js';
import { elementsOf, listOf, type ListName, withoutElements } from './vision-facts.js';
import { MAX_LIST_BYTES, MAX_WHOLE_BYTES } from '../../contracts/common/answer-limits.js';
import { strongValidator } from '../../core/media/file-headers.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { valueAt } from '../checks.js';
import { failing, refusalPlans, refusedBodyPlans } from '../refusals.js';
import { PART, resumedFrom } from './vision-files.js';
import { insideOf, type ReadList, scopeOf } from './vision-reading.js';
import { VISION_REFUSED } from './vision-table.js';

/** What the kit requests as a clip: nothing but recordings that the server has just listed is known to be recorded. */

const MAX_CLIP_MS = 60_000;
const MIN_PART_MS = 2_000;

type Element = Readonly<Record<string, unknown>>;

async function recordingsOf(run: Exchanges): Promise<readonly Element[]> {
  const { cameraId } = run.fixtures;
  const list = cameraId === undefined ? 'continuous' : 'continuousOfGivenCamera';
  const found = elementsOf(await run.exchange(list)).filter(isJsonObject);
  if (found.length > 0) return found;
  const camera = cameraId === undefined ? '' : ` of the camera ${cameraId}`;
  throw new UnprovenError(
    `the server lists no recording${camera} of this truck and range, so no clip can be requested: pass --truck-id, --camera-id, --from and --to of a recording`,
  );
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Its range, in the form that the platform sends. A time without an offset is a fault of the list, and is sent to no server. */
function rangeIn(element: Element): { readonly startTime: string; readonly endTime: string } {
  const [from, to] = [parseInstant(textOf(element['startTime'])), parseInstant(textOf(element['endTime']))];
  if (from === undefined || to === undefined || epochMillis(to) <= epochMillis(from))
    throw new UnprovenError('the listed element has no valid range');
  return { startTime: new Date(epochMillis(from)).toISOString(), endTime: new Date(epochMillis(to)).toISOString() };
}

/** Truck, camera and at most a minute of the first recording, or of the last one. Of a single recording the halves are two clips. */
async function clipOf(run: Exchanges, which: 'first' | 'last'): Promise<Readonly<Record<string, string>>> {
  const recordings = await recordingsOf(run);
  const recording = (which === 'first' ? recordings[0] : recordings.at(-1)) ?? {};
  const { startTime, endTime } = rangeIn(recording);
  const [from, to] = [Date.parse(startTime), Date.parse(endTime)];
  const isHalf = which === 'last' && recordings.length === 1;
  if (isHalf && to - from < MIN_PART_MS) throw new UnprovenError('the only recording is too short for two clips');
  const start = isHalf ? from + Math.floor((to - from) / 2_000) * 1_000 : from;
  return {
    truckId: textOf(recording['truckId']),
    cameraId: textOf(recording['cameraId']),
    startTime: new Date(start).toISOString(),
    endTime: new Date(Math.min(to, start + MAX_CLIP_MS)).toISOString(),
  };
}

/** The requests of the role `vision-server`. */

const DAY_MS = 86_400_000;
const DEFAULT_RANGE_DAYS = 30;
/** As the platform reads recordings: until a minute ago. */
const CLOSED_MS = 60_000;
/** A server that ignores `Range` sends the whole file, which need not be read again. */
const PEEK_BYTES = 4_096;
/** A state that goes back does so in the next lists. */
const CLIP_AGAIN_MS = 1_000;
const UNKNOWN = 'conformance-kit-unknown';
/** Nobody has footage of that time. */
const NOWHERE = { startTime: '2001-01-01T00:00:00Z', endTime: '2001-01-01T00:01:00Z' } as const;

export const OPERATIONS = {
  requestVideo: { method: 'POST', path: pathOf('requestVideo'), maxBytes: MAX_WHOLE_BYTES },
  listVideos: { method: 'GET', path: pathOf('listVideos'), maxBytes: MAX_LIST_BYTES },
  listContinuous: { method: 'GET', path: pathOf('listContinuous'), maxBytes: MAX_LIST_BYTES },
  download: { method: 'GET', path: '', isFile: true },
} as const;

function pathOf(route: keyof typeof VISION_API.routes): string {
  return VISION_API.prefix + VISION_API.routes[route].path;
}

type Values = Readonly<Record<string, string | undefined>>;
type ValuesOf = (run: Exchanges) => Values | Promise<Values>;

function customerOf({ fixtures: { customerId, haulerId } }: Exchanges): string {
  const customer = customerId ?? haulerId;
  if (customer === undefined) throw new UnprovenError('no customer is known: pass --customer-id');
  return customer;
}

/** The given truck, or that of the first clip. */
async function truckOf(run: Exchanges): Promise<string> {
  if (run.fixtures.truckId !== undefined) return run.fixtures.truckId;
  const [first] = elementsOf(await run.exchange('videos'));
  const truckId = ownField(first, 'truckId');
  if (typeof truckId !== 'string') throw new UnprovenError('no truck is known: pass --truck-id');
  return truckId;
}

/** The time until which recordings are read: one for the whole run, because a list that grows meanwhile has other totals. */
const ends = new WeakMap<Exchanges, string>();

function rangeOf(run: Exchanges): { startTime: string; endTime: string } {
  const { from, to } = run.fixtures;
  const end = to ?? ends.get(run) ?? secondsOnly(new Date(Date.now() - CLOSED_MS));
  ends.set(run, end);
  return { startTime: from ?? secondsOnly(new Date(Date.parse(end) - DEFAULT_RANGE_DAYS * DAY_MS)), endTime: end };
}

const secondsOnly = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;

const videos = (changes: ValuesOf = () => ({})): RequestPlan => ({
  operation: 'listVideos',
  content: async (run) => ({ query: { customerId: customerOf(run), ...(await changes(run)) } }),
});

const continuous = (changes: ValuesOf = () => ({})): RequestPlan => ({
  operation: 'listContinuous',
  content: async (run) => {
    const { truckId = await truckOf(run), ...others } = await changes(run);
    return { query: { customerId: customerOf(run), truckId, ...rangeOf(run), ...others } };
  },
});

/** All pages of a list, one request each. */
const reading = (list: ReadList, isSmall: boolean): RequestPlan => ({
  operation: list === 'videos' ? 'listVideos' : 'listContinuous',
  content: async (run, page) => {
    const query = async () => ({ ...(await scopeOf(run, list, isSmall)), page: String(page) });
    return (list === 'videos' ? videos(query) : continuous(query)).content(run, page);
  },
});

/** A request that is refused for another reason needs no known truck; a server may look for the truck first. */
const ofAnyTruck = continuous(async (run) => ({
  truckId: await truckOf(run).catch((error: unknown) => {
    if (error instanceof UnprovenError) return UNKNOWN;
    throw error;
  }),
}));

/** The first element of the list of an earlier request. */
async function firstOf(run: Exchanges, name: ListName): Promise<Readonly<Record<string, unknown>>> {
  const exchange = await run.exchange(name);
  const [first] = elementsOf(exchange);
  if (!isJsonObject(first)) throw withoutElements(name, exchange);
  return first;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const fieldsOfFirst =
  (list: ListName, ...names: string[]): ValuesOf =>
  async (run) => {
    const first = await firstOf(run, list);
    return Object.fromEntries(names.map((name) => [name, text(first[name])]));
  };

/** The truck of the list, which is known also where the list has no recordings. */
async function knownTruck(run: Exchanges): Promise<Values> {
  const { status, request } = await run.exchange('continuous');
  if (status !== 200) throw new UnprovenError('no truck is known: the list of recordings is not answered with 200');
  return { truckId: new URL(request.url).searchParams.get('truckId') ?? undefined };
}

const nowhere =
  (known: ValuesOf): ValuesOf =>
  async (run) => ({ ...(await known(run)), ...NOWHERE });

const requestOf = (which: 'first' | 'last'): RequestPlan => ({
  operation: 'requestVideo',
  writes: true,
  content: async (run) => ({ body: { customerId: customerOf(run), ...(await clipOf(run, which)) } }),
});

const request = requestOf('first');

/** A camera of a recording, at a time of which nobody has footage. */
const requestNowhere: RequestPlan = {
  operation: 'requestVideo',
  writes: true,
  content: async (run) => ({ body: { customerId: customerOf(run), ...(await clipOf(run, 'first')), ...NOWHERE } }),
};

/** The list of clips by the id of a request, until its clip is listed or has failed. */
const clipFrom = (name: string): RequestPlan => ({
  ...videos(async (run) => {
    const requestId = ownField((await run.exchange(name)).json, 'requestId');
    if (typeof requestId !== 'string') throw new UnprovenError('the answer of the request has no requestId');
    return { requestId };
  }),
  writes: true,
  until: (exchange) => exchange.status !== 200 || listOf(exchange) === undefined || isDecided(exchange),
});

/** Where the kit may request clips, those of this run are in the list. */
const videosWithClips: RequestPlan = {
  operation: 'listVideos',
  content: async (run, page) => {
    for (const name of run.fixtures.truckId === undefined ? [] : ['clip', 'secondClip']) {
      await run.exchange(name).catch((error: unknown) => {
        if (!(error instanceof UnprovenError)) throw error;
      });
    }
    return videos().content(run, page);
  },
};

const download = (
  list: ListName,
  changes: (run: Exchanges) => Partial<Content> | Promise<Partial<Content>> = () => ({}),
) => ({
  operation: 'download',
  credentials: 'none' as const,
  content: async (run: Exchanges): Promise<Content> => {
    const url = text((await firstOf(run, list))['downloadUrl']);
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UnprovenError('the first downloadUrl is not an address');
    const { headers, ...others } = await changes(run);
    return { url, headers: { Accept: '*/*', ...headers }, ...others };
  },
});

/** As the platform goes on after an interruption: from a byte that it lacks, if the file is the same. */
async function resumed(run: Exchanges): Promise<Partial<Content>> {
  const { answer } = await run.exchange('download');
  const validator = strongValidator(answer?.headers ?? {});
  const headers = { Range: `bytes=${resumedFrom(answer?.body.length ?? 0)}-` };
  return { headers: validator === undefined ? headers : { ...headers, 'If-Range': validator } };
}

/** Requests that store nothing. */
const PLAIN: Readonly<Record<string, RequestPlan>> = {
  listVideos: videos(),
  listContinuous: ofAnyTruck,
  requestVideo: { operation: 'requestVideo', content: () => ({ body: {} }) },
};

const plain = (operation: string): RequestPlan => PLAIN[operation] ?? request;

/** A camera is looked for in a known truck. */
function valid(operation: string, { field, value }: RefusedRequest): RequestPlan {
  if (operation === 'requestVideo') return request;
  if (field === 'cameraId')
    return operation === 'listVideos' ? videos(async (run) => ({ truckId: await truckOf(run) })) : continuous();
  return operation === 'listVideos' && typeof value === 'function' ? videos(rangeOf) : plain(operation);
}

export const PLANS: Readonly<Record<string, RequestPlan>> = {
  videos: videosWithClips,
  videosOfTruck: videos(fieldsOfFirst('videos', 'truckId')),
  videosOfCamera: videos(fieldsOfFirst('videos', 'truckId', 'cameraId')),
  videosInRange: videos(async (run) => rangeIn(await firstOf(run, 'videos'))),
  videosNowhere: videos(nowhere(fieldsOfFirst('videos', 'truckId'))),
  videosNowhereOfCamera: videos(nowhere(fieldsOfFirst('videos', 'truckId', 'cameraId'))),
  videosOfUnknownRequest: videos(async (run) => ({ ...(await fieldsOfFirst('videos')(run)), requestId: UNKNOWN })),
  videosAll: reading('videos', true),
  videosRepeat: reading('videos', true),
  videosAgain: reading('videos', false),
  videosInside: videos(async (run) => ({ ...(await insideOf(run, 'videos')).range, pageSize: '100' })),
  videosPage1: videos(() => ({ page: '1', pageSize: '1' })),
  videosPage2: videos(() => ({ page: '2', pageSize: '1' })),
  videosFullPage: videos(() => ({ pageSize: '100' })),
  videosLargePage: videos(() => ({ pageSize: '101' })),
  continuous: continuous(),
  continuousOfCamera: continuous(fieldsOfFirst('continuous', 'cameraId')),
  continuousOfGivenCamera: continuous(({ fixtures: { cameraId } }) => ({ cameraId })),
  continuousNowhere: continuous(nowhere(knownTruck)),
  continuousNowhereOfCamera: continuous(nowhere(fieldsOfFirst('continuous', 'truckId', 'cameraId'))),
  continuousAll: reading('continuous', true),
  continuousRepeat: reading('continuous', true),
  continuousAgain: reading('continuous', false),
  continuousInside: continuous(async (run) => ({ ...(await insideOf(run, 'continuous')).range, pageSize: '100' })),
  continuousPage1: continuous(() => ({ page: '1', pageSize: '1' })),
  continuousPage2: continuous(() => ({ page: '2', pageSize: '1' })),
  continuousFullPage: continuous(() => ({ pageSize: '100' })),
  continuousLargePage: continuous(() => ({ pageSize: '101' })),
  download: download('continuous'),
  downloadPart: download('continuous', () => ({ headers: { Range: PART }, peekBytes: PEEK_BYTES })),
  resumed: download('continuous', resumed),
  request,
  secondRequest: requestOf('last'),
  requestNowhere,
  clip: clipFrom('request'),
  clipAgain: { ...clipFrom('request'), until: undefined, pauseMs: CLIP_AGAIN_MS },
  secondClip: clipFrom('secondRequest'),
  'VISION-076': failing(plain('listVideos')),
  'VISION-179': failing(plain('listContinuous')),
  'VISION-258': failing(plain('requestVideo')),
  ...refusalPlans(VISION_REFUSED, plain, valid),
  ...refusedBodyPlans('requestVideo'),
  clipDownload: { ...download('clip'), writes: true },
};

/** Whether the clip is listed, or its request has failed. */
function isDecided(exchange: Exchange): boolean {
  return elementsOf(exchange).length > 0 || valueAt(exchange.json, 'data.request.status') === 'failed';
}
