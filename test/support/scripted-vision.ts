import { createHash, randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { type FileHost, serveFile, startFileHost } from './file-host.js';
import {
  type AskedRequest,
  json,
  type ScriptedPartner,
  type ScriptedReply,
  startScriptedPartner,
} from './scripted-partner.js';

export const POST = 'POST /video-platform/v1/videos/requests';
export const VIDEOS = 'GET /video-platform/v1/videos';
export const CONTINUOUS = 'GET /video-platform/v1/videos/continuous';

export interface VisionPartner extends ScriptedPartner {
  readonly files: FileHost;
  /** A link to a file that the host serves from now on; each call another one. */
  link(body: Buffer, listener?: RequestListener): string;
  /** Heads and paths of the requests for files. */
  readonly fetched: string[];
}

/** A partner of Vision on the loopback interface, and the host of its files. */
export async function startVisionPartner(): Promise<VisionPartner> {
  const partner = await startScriptedPartner();
  const files = await startFileHost();
  const served = new Map<string, RequestListener>();
  const fetched: string[] = [];
  files.answer((req, res) => {
    const name = req.url ?? '';
    fetched.push(name);
    const listener = served.get(name);
    if (listener === undefined) res.writeHead(404).end();
    else listener(req, res);
  });
  return {
    ...partner,
    files,
    fetched,
    link(body, listener = serveFile(body, { etag: `"${createHash('sha256').update(body).digest('hex')}"` })) {
      const url = new URL(`/${randomUUID()}.mp4?sig=secret`, files.link);
      served.set(url.pathname + url.search, listener);
      return url.href;
    },
    reset() {
      partner.reset();
      fetched.length = 0;
    },
    async stop() {
      await partner.stop();
      await files.stop();
    },
  };
}

export const sha256 = (body: Buffer): string => createHash('sha256').update(body).digest('hex');

/** As the service writes it, which leaves out a fraction of zero. */
export const inHours = (hours: number): string =>
  new Date(Date.now() + hours * 3_600_000).toISOString().replace('.000Z', 'Z');

export type Element = Record<string, unknown>;

let counter = 0;

/** A listed clip or chunk; by default five minutes of yesterday morning. */
export function element(fields: Element = {}): Element {
  return {
    id: `partner-${++counter}`,
    customerId: 'customer-1',
    truckId: 'TRUCK-7',
    cameraId: 'front',
    startTime: '2026-01-31T08:30:00Z',
    endTime: '2026-01-31T08:35:00Z',
    durationSeconds: 300,
    expiresAt: inHours(8),
    ...fields,
  };
}

const page = (name: string, items: readonly Element[], request: AskedRequest) => {
  const number = Number(request.query.get('page') ?? 1);
  const pageSize = Number(request.query.get('pageSize') ?? 20);
  const totalItems = items.length;
  return {
    [name]: items.slice((number - 1) * pageSize, number * pageSize),
    pagination: { page: number, pageSize, totalItems, totalPages: Math.ceil(totalItems / pageSize) },
  };
};

/** Lists as the contract says; what is asked by `requestId` is filtered by it. */
export const lists =
  (name: 'videos' | 'recordings', items: () => readonly Element[], more: Element = {}): ScriptedReply =>
  (response, request) => {
    const requestId = request.query.get('requestId');
    const found = items().filter((item) => requestId === null || item['requestId'] === requestId);
    json({ success: true, data: { ...page(name, found, request), ...more } })(response, request);
  };

/** Lists the recordings that overlap the requested window. */
export const within =
  (all: readonly Element[]): ScriptedReply =>
  (response, request) => {
    const [from = 0, to = 0] = ['startTime', 'endTime'].map((name) => Date.parse(request.query.get(name) ?? ''));
    const overlaps = ({ startTime, endTime }: Element) =>
      Date.parse(String(startTime)) < to && Date.parse(String(endTime)) > from;
    lists('recordings', () => all.filter(overlaps))(response, request);
  };

/** Accepts requests, each under an id of its own. */
export const accepts =
  (fields: Element = {}): ScriptedReply =>
  (response, request) =>
    json({ success: true, requestId: `req-${++counter}`, status: 'processing', ...fields }, { status: 202 })(
      response,
      request,
    );
