import { isJsonObject } from '../../contracts/common/json.js';
import { SITE_API } from '../../contracts/site/site.api.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import {
  type Call,
  commonFault,
  json,
  jsonOf,
  type Peer,
  type PeerAnswer,
  type Received,
  refusal,
  soleHeader,
  withoutScenario,
} from './call.js';
import { fileAnswer, linkOf, linkPath } from './partner-files.js';

const { requestVideo, listVideos, listContinuous } = VISION_API.routes;
const PATHS: Readonly<Record<string, string>> = {
  [`GET ${SITE_API.prefix}${SITE_API.routes.getSites.path}`]: 'getSites',
  [`POST ${VISION_API.prefix}${requestVideo.path}`]: 'requestVideo',
  [`GET ${VISION_API.prefix}${listVideos.path}`]: 'listVideos',
  [`GET ${VISION_API.prefix}${listContinuous.path}`]: 'listContinuous',
};
const REDIRECTED = '/kit-redirected';

/** The fault of each call of an operation, or of each new video request, in order. Later calls have none. */
export const PARTNER_FAULTS = {
  getSites: ['none', 'too-many-requests', 'unavailable', 'server-error', 'cut-answer', 'redirect', 'unauthorized'],
  requestVideo: ['slow-clip', 'too-many-requests', 'server-error', 'failed-clip', 'link-expired', 'invalid'],
  listContinuous: ['server-error'],
} as const satisfies Record<string, readonly string[]>;

const LINK_MS = 3_600_000;
/** Chunks of constant duration; 24 hours of them need more than one page of 100. */
const CHUNK_MS = 840_000;
const MAX_CHUNKS = 500;
/** The maximum time of a `Date`. */
const MAX_TIME = 8.64e15;
/** The first poll that lists a slow clip. */
const SLOW_POLLS = 3;

const SITE_ID = '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10';
const SITE_DATA = {
  sites: [{ id: SITE_ID, name: 'Conformance site', active: true, updatedAt: '2026-01-31T08:30:00Z' }],
  kiosks: [],
  materials: [
    {
      id: '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21',
      siteId: SITE_ID,
      materialType: 'Mixed construction debris',
      measureUnit: 'Ton',
      active: true,
      updatedAt: '2026-01-31T08:30:00Z',
    },
  ],
};

interface Clip {
  readonly requestId: string;
  readonly scenario: string;
  readonly fields: Readonly<Record<string, string>>;
  polls: number;
}

interface Element {
  readonly id: string;
  readonly startTime: string;
  readonly endTime: string;
}

/** The Site and Vision server that a platform calls. It gives valid answers, except for the planned faults. */
export class PartnerPeer implements Peer {
  private readonly counts = { getSites: 0, requestVideo: 0, listContinuous: 0 };
  private readonly clips: Clip[] = [];
  private hasShifted = false;

  constructor(
    private readonly url: string,
    private readonly apiKey: string,
  ) {}

  operationOf(method: string, path: string): string {
    if (method === 'GET' && linkOf(path) !== undefined) return 'download';
    return path === REDIRECTED ? 'redirected' : (PATHS[`${method} ${path}`] ?? '');
  }

  answer(call: Received, earlier: readonly Call[]): PeerAnswer {
    const { operation, path } = call;
    if (operation === 'download') return this.file(call, earlier);
    if (operation === '' || operation === 'redirected')
      return refusal(404, 'NOT_FOUND', `no route for ${call.method} ${path}`);
    if (soleHeader(call, SITE_API.keyHeader) !== this.apiKey)
      return refusal(401, 'UNAUTHORIZED', 'the API key is missing or wrong');
    if (operation === 'getSites') return this.sites();
    if (operation === 'requestVideo') return this.request(call, earlier);
    return operation === 'listVideos' ? this.videos(call, earlier) : this.continuous(call);
  }

  private nextFault(operation: keyof typeof PARTNER_FAULTS): string {
    return PARTNER_FAULTS[operation][this.counts[operation]++] ?? 'none';
  }

  private sites(): PeerAnswer {
    const scenario = this.nextFault('getSites');
    if (scenario === 'redirect')
      return { status: 302, headers: { Location: `${this.url}${REDIRECTED}` }, body: Buffer.alloc(0), scenario };
    const answer = json(200, { success: true, data: SITE_DATA }, { scenario });
    return scenario === 'cut-answer' ? { ...answer, cutAfter: 20 } : (commonFault(scenario) ?? answer);
  }

  private request(call: Received, earlier: readonly Call[]): PeerAnswer {
    const before = earlier.find(({ operation, body }) => operation === 'requestVideo' && body.equals(call.body));
    if (before?.answer.scenario === 'invalid') return withoutScenario(before.answer);
    const scenario = before === undefined ? this.nextFault('requestVideo') : 'none';
    const fault = commonFault(scenario);
    if (fault !== undefined) return fault;
    const { value } = jsonOf(call);
    const fields = isJsonObject(value) ? (value as Record<string, string>) : {};
    const requestId = `kit-request-${this.clips.length + 1}`;
    this.clips.push({ requestId, scenario, fields, polls: 0 });
    return json(202, { success: true, requestId, status: 'processing' }, { scenario });
  }

  private videos(call: Received, earlier: readonly Call[]): PeerAnswer {
    const requestId = call.query.get('requestId');
    const customerId = call.query.get('customerId');
    const clips = this.clips.filter(
      (clip) => clip.fields['customerId'] === customerId && (requestId === null || clip.requestId === requestId),
    );
    for (const clip of clips) clip.polls++;
    const ready = clips.filter(isReady);
    const elements = ready.map((clip) =>
      this.element(`clip-${clip.requestId}`, { ...clip.fields, ...times(clip) }, earlier),
    );
    const listed = elements.map((element, i) => ({ ...element, requestId: ready[i]?.requestId }));
    const [clip] = requestId === null ? [] : clips;
    const request = clip && { requestId, ...stateOf(clip) };
    return json(200, { success: true, data: { ...pageOf('videos', listed, call.query), request } });
  }

  private continuous(call: Received): PeerAnswer {
    const fault = commonFault(this.nextFault('listContinuous'));
    if (fault !== undefined) return fault;
    const { query } = call;
    const [from, to] = ['startTime', 'endTime'].map((name) => Date.parse(query.get(name) ?? ''));
    const names = {
      customerId: query.get('customerId'),
      truckId: query.get('truckId'),
      cameraId: query.get('cameraId') ?? 'front',
    };
    const elements = chunksOf(from, to).map((chunk) => this.element(chunk.id, { ...names, ...chunk }, []));
    const page = pageOf('recordings', elements, query);
    return json(200, { success: true, data: this.hasShifted ? page : this.shifted(page, elements, query) });
  }

  /** Shifts the second page once, as if a chunk had been added before it: it begins with the last element of the first page. */
  private shifted(page: Page, elements: readonly Element[], query: URLSearchParams): Page {
    if (Number(query.get('page') ?? 1) !== 2) return page;
    this.hasShifted = true;
    const { pagination } = page;
    const repeated = elements[pagination.pageSize - 1];
    return {
      ...page,
      recordings: [repeated, ...(page['recordings'] as unknown[])],
      pagination: { ...pagination, totalItems: pagination.totalItems + 1 },
    };
  }

  private element(
    id: string,
    fields: Readonly<Record<string, string | null>> & Omit<Element, 'id'>,
    earlier: readonly Call[],
  ) {
    const refused = earlier.filter(({ path, answer }) => linkOf(path)?.id === id && answer.scenario === 'link-expired');
    const seconds = (Date.parse(fields.endTime) - Date.parse(fields.startTime)) / 1_000;
    return {
      ...fields,
      id,
      durationSeconds: Math.round(seconds),
      downloadUrl: `${this.url}${linkPath(id, refused.length + 1)}`,
      expiresAt: new Date(Date.now() + LINK_MS).toISOString(),
    };
  }

  private file(call: Received, earlier: readonly Call[]): PeerAnswer {
    const { id = '', number = 0 } = linkOf(call.path) ?? {};
    const scenario = this.clips.find(({ requestId }) => id === `clip-${requestId}`)?.scenario;
    const isRefused = scenario === 'link-expired' && number === 1;
    return fileAnswer(call, id, earlier, { isRefused, isCut: scenario === 'slow-clip' });
  }
}

const times = ({ fields }: Clip) => ({ startTime: fields['startTime'] ?? '', endTime: fields['endTime'] ?? '' });

const isReady = ({ scenario, polls }: Clip): boolean =>
  scenario !== 'failed-clip' && (scenario !== 'slow-clip' || polls >= SLOW_POLLS);

function stateOf(clip: Clip) {
  if (clip.scenario === 'failed-clip') return { status: 'failed', message: 'the camera was switched off' };
  return { status: isReady(clip) ? 'ready' : 'processing' };
}

/** Limits a time so that the chunk around it has valid dates. */
const bounded = (time = NaN): number => Math.max(CHUNK_MS - MAX_TIME, Math.min(time, MAX_TIME - CHUNK_MS));

/** The chunks that overlap a range; each has the same id in every list. */
function chunksOf(from: number | undefined, to: number | undefined): Element[] {
  const chunks: Element[] = [];
  const [start = NaN, end = NaN] = [from, to].map(bounded);
  for (let at = Math.floor(start / CHUNK_MS) * CHUNK_MS; at < end && chunks.length < MAX_CHUNKS; at += CHUNK_MS) {
    const [startTime, endTime] = [at, at + CHUNK_MS].map((ms) => new Date(ms).toISOString());
    chunks.push({ id: `chunk-${at / CHUNK_MS}`, startTime: startTime ?? '', endTime: endTime ?? '' });
  }
  return chunks;
}

interface Page extends Readonly<Record<string, unknown>> {
  readonly pagination: {
    readonly page: number;
    readonly pageSize: number;
    readonly totalItems: number;
    readonly totalPages: number;
  };
}

function pageOf(name: string, elements: readonly unknown[], query: URLSearchParams): Page {
  const [page, pageSize] = [Number(query.get('page') ?? 1), Number(query.get('pageSize') ?? 20)];
  const totalItems = elements.length;
  return {
    [name]: elements.slice((page - 1) * pageSize, page * pageSize),
    pagination: { page, pageSize, totalItems, totalPages: Math.ceil(totalItems / pageSize) },
  };
}
