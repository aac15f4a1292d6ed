import { Inject, Injectable } from '@nestjs/common';
import { ENV, type ResolvedEnv } from '../../core/config/env.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { HistoryEntry } from '../../contracts/admin/history.dto.js';
import type { List, ListQuery } from '../../contracts/admin/list.dto.js';
import {
  type OrderedVideoRequest,
  type OrderVideoRequest,
  VideoRequest,
  VideoRequestPart,
  type VideoRequestQuery,
} from '../../contracts/admin/video-requests.routes.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { present } from '../../contracts/common/present.js';
import type { Sql } from '../../core/database/sql.js';
import { timeOfUuidv7, uuidv7 } from '../../core/database/uuid.js';
import { apiError, invalid } from '../../core/errors/app-error.js';
import { callOf, exchangeEntry, ExchangeHistory, historyPage } from '../../exchanges/exchange-history.service.js';
import type { NamedExchangeRow } from '../../exchanges/exchanges.repository.js';
import { WorkService } from '../../core/work/work.service.js';
import {
  SUBMIT_CLIPS,
  unknownConnection,
  type VisionConnection,
  VisionConnections,
} from '../client/vision-connections.repository.js';
import { rangeViolations, splitRange } from './clip-requests.rules.js';
import { type ClipEvent, type PartRow, type RequestRow, VideoRequestsRepository } from './video-requests.repository.js';

/** A clip of one camera of a truck. */
type CameraClip = Pick<OrderVideoRequest, 'cameraId' | 'startTime' | 'endTime'>;

/** On-demand video (section 1, workflow 4): the requests of admins, their states and their history. */
@Injectable()
export class VideoRequests {
  constructor(
    private readonly requests: VideoRequestsRepository,
    private readonly connections: VisionConnections,
    private readonly work: WorkService,
    private readonly exchanges: ExchangeHistory,
    @Inject(ENV) private readonly env: ResolvedEnv,
  ) {}

  /** Stores the request with all its parts; a job sends them to the partner. `by` as the action log names the caller. 400 with every violation. */
  async order(request: OrderVideoRequest, by: string): Promise<OrderedVideoRequest> {
    const violations = rangeViolations(request, this.env.VISION_MAX_CLIP_MINUTES, Date.now());
    const connection = await this.connections.find(request.connectionId);
    if (connection === undefined) violations.push(unknownConnection());
    if (violations.length > 0 || connection === undefined) throw invalid(violations);
    await this.refuseErased(connection.haulerId, request);
    const id = await this.requests.inTransaction((transaction) => this.insert(transaction, connection, request, by));
    this.work.runDue(SUBMIT_CLIPS);
    return { id, status: 'submitting' };
  }

  /** Stores the requests for the clips that `clipsOf` returns, in its transaction. 400 for a deleted connection. */
  async orderAll(
    { connectionId, truckId }: Pick<OrderVideoRequest, 'connectionId' | 'truckId'>,
    by: string,
    clipsOf: (transaction: Sql) => Promise<readonly CameraClip[]>,
  ): Promise<void> {
    const connection = await this.connections.find(connectionId);
    if (connection === undefined) throw invalid([unknownConnection()]);
    await this.requests.inTransaction(async (transaction) => {
      for (const clip of await clipsOf(transaction)) {
        const request = { connectionId, truckId, ...clip };
        // The coverage says that its range was erased.
        if ((await this.requests.erasureOf(connection.haulerId, request, transaction)) !== undefined) continue;
        await this.insert(transaction, connection, request, by);
      }
    });
    this.work.runDue(SUBMIT_CLIPS);
  }

  /** Newest first. */
  async list(query: VideoRequestQuery): Promise<List<VideoRequest>> {
    const { rows, pagination } = await this.requests.page(query);
    return { data: await this.find(rows.map(({ id }) => id)), pagination };
  }

  async get(id: string): Promise<VideoRequest> {
    const [request] = await this.find([id]);
    if (request === undefined) throw apiError(ADMIN_API, 'notFound', `there is no video request ${id}`);
    return request;
  }

  /**
   * How a request was submitted, polled and downloaded, newest first. Steps are retained without limit, calls until their
   * exchanges are deleted.
   */
  async history(id: string, query: ListQuery): Promise<List<HistoryEntry>> {
    const { haulerId, recordingIds, createdAt, parts } = await this.get(id);
    const calls = await this.exchanges.find(haulerId, [
      { kind: 'videoRequestId', value: id },
      ...recordingIds.map((value) => ({ kind: 'recordingId', value }) as const),
    ]);
    const order: HistoryEntry = { at: createdAt, event: 'state', text: 'The video was requested.' };
    const events = await this.requests.events(haulerId, id);
    return historyPage(id, [...historyEntries(events, calls, parts.length > 1), order], query);
  }

  /** Returns the id of the request. */
  private async insert(
    transaction: Sql,
    { haulerId, customerId }: VisionConnection,
    request: OrderVideoRequest,
    createdBy: string,
  ): Promise<string> {
    const [id, deadlineMs] = [uuidv7(), this.env.VISION_REQUEST_DEADLINE];
    const ranges = splitRange(request, this.env.VISION_MAX_CLIP_MINUTES);
    await this.requests.insert(transaction, { ...request, id, haulerId, customerId, deadlineMs, createdBy }, ranges);
    return id;
  }

  /** The partner would make a clip that is not stored. */
  private async refuseErased(haulerId: string, request: OrderVideoRequest): Promise<void> {
    const id = await this.requests.erasureOf(haulerId, request);
    if (id === undefined) return;
    throw apiError(ADMIN_API, 'conflict', `footage of this range was erased (erasure ${id}), and is not fetched again`);
  }

  /** Newest first. */
  async find(ids: readonly string[]): Promise<VideoRequest[]> {
    const rows = await this.requests.find(ids);
    const parts = Map.groupBy(await this.requests.partsOf(rows), ({ request_id }) => request_id);
    return rows.map((row) => toVideoRequestDto(row, parts.get(row.id) ?? []));
  }
}

function toVideoRequestDto(row: RequestRow, parts: readonly PartRow[]): VideoRequest {
  const [only] = parts.length === 1 ? parts : [];
  return present(VideoRequest, {
    ...row,
    reasonCode: row.status === 'expired' ? parts.find(({ reason_code }) => reason_code !== null)?.reason_code : null,
    partnerRequestId: only?.partner_request_id,
    parts: parts.map((part) => present(VideoRequestPart, part)),
    recordingIds: parts.flatMap(({ recording_ids }) => recording_ids),
  });
}

/** The operation whose call leads to a step. */
const ROUTES: Readonly<Record<ClipEvent['kind'], string | undefined>> = {
  submitted: 'requestVideo',
  poll: 'listVideos',
  'link-replaced': 'listVideos',
  download: 'download',
  state: undefined,
};

/** A step follows its call at once, unless the database is slow. */
const MAX_DELAY_MS = 60_000;

/**
 * The entries of a history: each step with the call that led to it, and the calls without a step, except polls that
 * succeeded and changed nothing. Both lists are newest first.
 */
function historyEntries(
  events: readonly ClipEvent[],
  calls: readonly NamedExchangeRow[],
  hasParts: boolean,
): HistoryEntry[] {
  const used = new Set<string>();
  const steps = events.map((event): HistoryEntry => {
    const call = calls.find((each) => ledTo(each, event));
    if (call !== undefined) used.add(call.id);
    return {
      at: formatInstant(new Date(timeOfUuidv7(event.id))),
      event: event.kind,
      text: hasParts ? `Part ${event.part}: ${event.text}` : event.text,
      ...(call === undefined ? {} : callOf(call)),
    };
  });
  const others = calls.filter((call) => !used.has(call.id) && !isQuietPoll(call));
  return [...steps, ...others.map((call) => exchangeEntry(call, call.route === 'download' ? 'download' : 'call'))];
}

function ledTo(call: NamedExchangeRow, { id, kind, recordingId }: ClipEvent): boolean {
  if (call.route !== ROUTES[kind] || call.id > id || timeOfUuidv7(id) - endOf(call) > MAX_DELAY_MS) return false;
  return recordingId === null || call.refs?.includes(`recordingId:${recordingId}`) === true;
}

const endOf = ({ id, duration_ms: durationMs }: NamedExchangeRow): number => timeOfUuidv7(id) + durationMs;

const isQuietPoll = ({ route, status, failure }: NamedExchangeRow): boolean =>
  route === 'listVideos' && status === 200 && failure === null;
