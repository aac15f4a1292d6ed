import { Injectable } from '@nestjs/common';
import type { ListVideosQuery, Video } from '../../contracts/vision/vision.dto.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { Finding } from '../client/finding.js';
import { VisionFindings } from '../findings.js';
import { VisionClient } from '../vision.client.js';
import type { VisionConnection } from '../vision-connections.js';
import { matchVideos } from './match-video.js';
import type { Part } from './parts.store.js';
import { asksAlone } from './poll-schedule.js';

/** What a round has learnt of one part. */
export type Learnt =
  | { readonly kind: 'clips'; readonly clips: readonly Video[]; readonly message?: string }
  | { readonly kind: 'failed'; readonly message?: string }
  | { readonly kind: 'unknown'; readonly reason: string }
  | { readonly kind: 'open' };

export interface Round {
  readonly learnt: ReadonlyMap<Part, Learnt>;
  /** Parts that were asked for by their own id. */
  readonly alone: ReadonlySet<Part>;
  /** Of the customer's list: where the next round goes on. */
  readonly nextPage: number;
}

export interface Asking {
  readonly connection: VisionConnection;
  readonly signal: AbortSignal;
  readonly page: number;
  /** The database's. */
  readonly now: Date;
}

const PAGE_SIZE = 100;

/** Asks a partner how the parts of one customer stand (decision 41). */
@Injectable()
export class PollAsking {
  constructor(
    private readonly client: VisionClient,
    private readonly findings: VisionFindings,
  ) {}

  /** One part is asked for by its id; several by the customer's list, and by their ids only when it is time. */
  async ask(parts: readonly Part[], asking: Asking): Promise<Round> {
    const [only] = parts;
    const learnt = new Map<Part, Learnt>();
    let nextPage = 1;
    const single = parts.length === 1 && only?.partnerRequestId != null;
    if (!single) nextPage = await this.askList(parts, asking, learnt);
    const alone = new Set(
      parts.filter(
        (part) => !learnt.has(part) && part.partnerRequestId !== null && (single || isTime(part, asking.now.getTime())),
      ),
    );
    for (const part of alone) learnt.set(part, await this.askAlone(part, asking));
    return { learnt, alone, nextPage };
  }

  private async askAlone(part: Part, { connection, signal }: Asking): Promise<Learnt> {
    const query = { customerId: part.customerId, requestId: part.partnerRequestId ?? '', pageSize: PAGE_SIZE };
    try {
      const { read } = await this.client.listVideos(query, { connection, signal });
      await this.findings.record(connection, read.findings);
      const clips = matchVideos([part], read.items).get(part);
      const { status, message } = read.request?.requestId === part.partnerRequestId ? (read.request ?? {}) : {};
      const said = message === undefined ? {} : { message };
      if (status === 'failed') return { kind: 'failed', ...said };
      return clips === undefined ? { kind: 'open' } : { kind: 'clips', clips, ...said };
    } catch (error) {
      return notFoundOr(error);
    }
  }

  /** At most a page more than the parts would fill: what else the customer has is read on in the next round. */
  private async askList(parts: readonly Part[], asking: Asking, learnt: Map<Part, Learnt>): Promise<number> {
    const most = Math.ceil(parts.length / PAGE_SIZE) + 1;
    const videos: Video[] = [];
    const findings: Finding[] = [];
    let page = asking.page;
    try {
      for (let pages = 0; pages < most; pages++) {
        const { read } = await this.client.listVideos({ ...listQuery(parts), page, pageSize: PAGE_SIZE }, asking);
        videos.push(...read.items);
        findings.push(...read.findings);
        const { totalPages, pageSize = PAGE_SIZE } = read.pagination;
        const last = read.received === 0 || (totalPages === undefined ? read.received < pageSize : page >= totalPages);
        page = last ? 1 : page + 1;
        if (last && asking.page === 1) break;
        if (matchVideos(parts, videos).size === parts.length || page === asking.page) break;
      }
    } catch (error) {
      const unknown = notFoundOr(error);
      for (const part of parts) learnt.set(part, unknown);
      return 1;
    }
    await this.findings.record(asking.connection, findings);
    const found = matchVideos(parts, videos);
    for (const [part, clips] of found) learnt.set(part, { kind: 'clips', clips });
    return found.size === parts.length ? 1 : page;
  }
}

function isTime({ askedAloneAt, submittedAt, polls }: Part, now: number): boolean {
  const since = (askedAloneAt ?? submittedAt)?.getTime() ?? 0;
  const openMs = now - (submittedAt?.getTime() ?? 0);
  return asksAlone(now - since, { asked: polls + 1, openMs });
}

/** As narrow as the parts allow: what overlaps their time, of their truck where they have one in common. */
function listQuery(parts: readonly Part[]): ListVideosQuery {
  const [first] = parts;
  const sameTruck = parts.every(({ truckId }) => truckId === first?.truckId);
  return {
    customerId: first?.customerId ?? '',
    ...(sameTruck && first !== undefined ? { truckId: first.truckId } : {}),
    startTime: parts.map(({ startTime }) => startTime).reduce((a, b) => (a < b ? a : b)),
    endTime: parts.map(({ endTime }) => endTime).reduce((a, b) => (a > b ? a : b)),
  };
}

function notFoundOr(error: unknown): Learnt {
  if (error instanceof PartnerFailure && error.status === 404) return { kind: 'unknown', reason: error.message };
  throw error;
}
