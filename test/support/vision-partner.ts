import { createHash, randomUUID } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { formatInstant } from '../../src/contracts/common/instant.js';
import { sealKey } from '../../src/partner-client/connection-keys.service.js';
import { WorkService } from '../../src/work/work.service.js';
import { expect } from '@jest/globals';
import type { TestApp } from './app.js';
import { eventually } from './eventually.js';
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

/** A hauler with one vision connection, as the admin API would store it. */
export async function connectVision(app: TestApp, baseUrl: string): Promise<{ haulerId: string; id: string }> {
  const [haulerId, id] = [randomUUID(), randomUUID()];
  await app.dataSource.query('INSERT INTO haulers (id, name) VALUES ($1, $2)', [haulerId, 'Test']);
  await app.dataSource.query(
    `INSERT INTO connections (hauler_id, id, interface, base_url, sealed_key, customer_id, interval_seconds, enabled,
       created_at, updated_at)
     VALUES ($1, $2, 'vision', $3, $4, 'customer-1', 300, true, now(), now())`,
    [haulerId, id, baseUrl, sealKey(app.env.SECRETS_KEY, id, 'the-partners-key')],
  );
  return { haulerId, id };
}

/** As the service writes it, which leaves out a fraction of zero. */
export const inHours = (hours: number): string => formatInstant(new Date(Date.now() + hours * 3_600_000));

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

/** Accepts requests, each under an id of its own. */
export const accepts =
  (fields: Element = {}): ScriptedReply =>
  (response, request) =>
    json({ success: true, requestId: `req-${++counter}`, status: 'processing', ...fields }, { status: 202 })(
      response,
      request,
    );

/** Makes everything due that waits for a time, and has it claimed at once. */
export async function hurry(app: TestApp): Promise<void> {
  await app.dataSource.query('UPDATE video_request_parts SET next_poll_at = now() WHERE next_poll_at IS NOT NULL');
  for (const table of ['video_request_parts', 'video_polls', 'video_subscriptions', 'video_windows', 'recordings']) {
    await app.dataSource.query(`UPDATE ${table} SET due_at = now() WHERE due_at IS NOT NULL AND started_at IS NULL`);
  }
  const jobs = app.app.get(WorkService);
  for (const kind of ['submit', 'poll', 'crawl', 'windows', 'downloads']) jobs.runDue(`vision ${kind}`);
}

/**
 * Between two tests: forgets all video, and what the partner was asked, also of work that was under way. That ends with
 * its row, and could till then still ask the partner, and write what it found.
 */
export async function resetVision(app: TestApp, partner: VisionPartner): Promise<void> {
  await deleteVideoRows(app);
  await eventually(() => expect(atWork(app)).toEqual([]));
  await deleteVideoRows(app);
  partner.reset();
}

/**
 * Deletes the sources of recordings first, so that running work cannot write any more. TRUNCATE would deadlock with
 * running work.
 */
async function deleteVideoRows(app: TestApp): Promise<void> {
  const sources = ['video_windows', 'video_subscriptions', 'video_polls'];
  for (const table of [...sources, 'recordings', 'video_request_parts', 'video_requests', 'vision_findings']) {
    await app.dataSource.query(`DELETE FROM ${table}`);
  }
}

/** Kinds of Vision work that this instance is running. */
function atWork(app: TestApp): string[] {
  const running = [...app.app.get(WorkService).running()].filter(([, rows]) => rows > 0);
  return running.map(([kind]) => kind).filter((kind) => kind.startsWith('vision '));
}
