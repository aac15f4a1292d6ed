import { isJsonObject, ownField } from '../../contracts/common/json.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { valueAt } from '../checks.js';
import { type Exchange, UnprovenError } from '../exchange.js';
import { failing, refusalPlans, type RequestRow } from '../refusals.js';
import type { Exchanges, RequestPlan } from '../rule.js';
import { elementsOf, listOf } from './vision-facts.js';
import { VISION_REFUSED } from './vision-table.js';

/** The requests of the role `vision-server`. */

const DAY_MS = 86_400_000;
const DEFAULT_RANGE_DAYS = 30;
const MAX_CLIP_MS = 60_000;
/** The start of a file is enough to see that it is an MP4. */
const PEEK_BYTES = 4_096;
const ANY_TRUCK = 'conformance-kit-unknown';

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

function rangeOf({ fixtures: { from, to } }: Exchanges): { startTime: string; endTime: string } {
  const end = to ?? secondsOnly(new Date());
  return { startTime: from ?? secondsOnly(new Date(Date.parse(end) - DEFAULT_RANGE_DAYS * DAY_MS)), endTime: end };
}

const secondsOnly = (date: Date) => `${date.toISOString().slice(0, 19)}Z`;

const videos = (changes: ValuesOf = () => ({})): RequestPlan => ({
  operation: 'listVideos',
  draft: async (run) => ({ query: { customerId: customerOf(run), ...(await changes(run)) } }),
});

const continuous = (changes: ValuesOf = () => ({})): RequestPlan => ({
  operation: 'listContinuous',
  draft: async (run) => {
    const { truckId = await truckOf(run), ...others } = await changes(run);
    return { query: { customerId: customerOf(run), truckId, ...rangeOf(run), ...others } };
  },
});

/** A request that is refused for another reason needs no known truck; a server may look for the truck first. */
const ofAnyTruck = continuous(async (run) => ({
  truckId: await truckOf(run).catch((error: unknown) => {
    if (error instanceof UnprovenError) return ANY_TRUCK;
    throw error;
  }),
}));

/** The first element of the list of an earlier request. */
async function firstOf(run: Exchanges, name: string): Promise<Readonly<Record<string, unknown>>> {
  const [first] = elementsOf(await run.exchange(name));
  if (!isJsonObject(first)) throw new UnprovenError(`the list of the request "${name}" is empty`);
  return first;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

const fieldsOfFirst =
  (list: string, ...names: string[]): ValuesOf =>
  async (run) => {
    const first = await firstOf(run, list);
    return Object.fromEntries(names.map((name) => [name, text(first[name])]));
  };

/** A body for a clip of at most a minute, at the start of the first recording. */
async function clipOf(run: Exchanges) {
  const customerId = customerOf(run);
  const { startTime, endTime, truckId, cameraId } = await firstOf(run, 'continuous');
  const start = Date.parse(text(startTime));
  const end = Math.min(Date.parse(text(endTime)), start + MAX_CLIP_MS);
  if (!(end > start)) throw new UnprovenError('the first recording has no valid range');
  return {
    customerId,
    truckId: text(truckId),
    cameraId: run.fixtures.cameraId ?? text(cameraId),
    startTime: new Date(start).toISOString(),
    endTime: new Date(end).toISOString(),
  };
}

const request: RequestPlan = {
  operation: 'requestVideo',
  writes: true,
  draft: async (run) => ({ body: await clipOf(run) }),
};

async function requestIdOf(run: Exchanges): Promise<Values> {
  const requestId = ownField((await run.exchange('request')).json, 'requestId');
  if (typeof requestId !== 'string') throw new UnprovenError('the answer of the request has no requestId');
  return { requestId };
}

const download = (list: string, headers: Record<string, string> = {}): RequestPlan => ({
  operation: 'download',
  credentials: 'none',
  draft: async (run) => {
    const url = text((await firstOf(run, list))['downloadUrl']);
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      throw new UnprovenError('the first downloadUrl is not an address');
    return { url, peekBytes: PEEK_BYTES, headers: { Accept: '*/*', ...headers } };
  },
});

/** Requests that store nothing. */
const PLAIN: Readonly<Record<string, RequestPlan>> = {
  listVideos: videos(),
  listContinuous: ofAnyTruck,
  requestVideo: { operation: 'requestVideo', draft: () => ({ body: {} }) },
};

const plain = (operation: string): RequestPlan => PLAIN[operation] ?? request;

/** A camera is looked for in a known truck. */
function valid(operation: string, [, field, , value]: RequestRow): RequestPlan {
  if (operation === 'requestVideo') return request;
  if (field === 'cameraId')
    return operation === 'listVideos' ? videos(async (run) => ({ truckId: await truckOf(run) })) : continuous();
  return operation === 'listVideos' && typeof value === 'function' ? videos(rangeOf) : plain(operation);
}

export const PLANS: Readonly<Record<string, RequestPlan>> = {
  videos: videos(),
  videosOfTruck: videos(fieldsOfFirst('videos', 'truckId')),
  videosOfCamera: videos(fieldsOfFirst('videos', 'truckId', 'cameraId')),
  videosInRange: videos(fieldsOfFirst('videos', 'startTime', 'endTime')),
  videosPage1: videos(() => ({ page: '1', pageSize: '1' })),
  videosPage2: videos(() => ({ page: '2', pageSize: '1' })),
  videosFullPage: videos(() => ({ pageSize: '100' })),
  videosLargePage: videos(() => ({ pageSize: '101' })),
  continuous: continuous(),
  continuousOfCamera: continuous(fieldsOfFirst('continuous', 'cameraId')),
  continuousPage1: continuous(() => ({ page: '1', pageSize: '1' })),
  continuousPage2: continuous(() => ({ page: '2', pageSize: '1' })),
  continuousFullPage: continuous(() => ({ pageSize: '100' })),
  continuousLargePage: continuous(() => ({ pageSize: '101' })),
  download: download('continuous'),
  downloadPart: download('continuous', { Range: 'bytes=0-99' }),
  request,
  clip: {
    ...videos(requestIdOf),
    writes: true,
    until: (exchange) => exchange.status !== 200 || listOf(exchange) === undefined || isDecided(exchange),
  },
  'VISION-076': failing(plain('listVideos')),
  'VISION-179': failing(plain('listContinuous')),
  'VISION-258': failing(plain('requestVideo')),
  ...refusalPlans(VISION_REFUSED, plain, valid),
  clipDownload: { ...download('clip'), writes: true },
};

/** Whether the clip is listed, or its request has failed. */
function isDecided(exchange: Exchange): boolean {
  return elementsOf(exchange).length > 0 || valueAt(exchange.json, 'data.request.status') === 'failed';
}
