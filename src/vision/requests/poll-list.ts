import { Injectable } from '@nestjs/common';
import { Breather } from '../../chunked-work/breather.js';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { ListVideosQuery, Video } from '../../contracts/vision/vision.dto.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { Finding } from '../client/finding.js';
import { pageOrEnd } from '../client/past-the-end.js';
import { isLastPage } from '../client/read-pages.js';
import { VisionFindings } from '../findings.js';
import { VisionClient } from '../vision.client.js';
import { covers } from './covers.js';
import { Matching } from './match-video.js';
import { type Part, PartsStore } from './parts.store.js';
import { isUnknown } from './poll-failures.js';
import type { Asking, Learnt, Listed } from './poll-round.js';

/** What reading the pages has come to, beside the clips. */
type Listing = Pick<Listed, 'pages' | 'nextPage' | 'failure'> & { readonly findings: readonly Finding[] };

/** Asks for the parts of one customer by the customer's list. */
@Injectable()
export class PollList {
  constructor(
    private readonly client: VisionClient,
    private readonly findings: VisionFindings,
    private readonly parts: PartsStore,
  ) {}

  async ask(parts: readonly Part[], asking: Asking): Promise<Listed> {
    const matching = new Matching(parts);
    const breather = new Breather();
    const { pages, nextPage, findings, failure } = await this.listing(parts, asking, matching, breather);
    if (pages === 0 && failure !== undefined && isUnknown(failure)) {
      return { learnt: unknownAll(parts, failure), pages: 1, nextPage: 1, failure: undefined };
    }
    await this.findings.record(asking.connection, [...findings, ...matching.disbelieved()]);
    const { found } = matching;
    const learnt = new Map<Part, Learnt>();
    for (const [part, clips] of found) {
      learnt.set(part, { kind: kindOf(part, clips), clips, reason: undefined });
      if (breather.isDue) await breather.rest();
    }
    // The page that failed may be there no more.
    const isAnew = failure !== undefined || found.size === parts.length;
    return { learnt, pages, nextPage: isAnew ? 1 : nextPage, failure };
  }

  /** At most a page more than the parts would fill: what else the customer has is read on in the next round. */
  private async listing(
    parts: readonly Part[],
    asking: Asking,
    matching: Matching<Part>,
    breather: Breather,
  ): Promise<Listing> {
    const most = Math.ceil(parts.length / MAX_PAGE_SIZE) + 1;
    const findings: Finding[] = [];
    const taken = new Set<string>();
    const fingerprints = new Set<string>();
    const query = { ...listQuery(parts), pageSize: MAX_PAGE_SIZE };
    const fetchPage = (n: number) => this.client.listVideos({ ...query, page: n }, asking);
    let page = asking.page;
    let pages = 0;
    try {
      while (pages < most) {
        const { page: read } = await pageOrEnd(fetchPage, page);
        pages++;
        findings.push(...read.findings);
        for (const id of await this.takenIn(read.items, parts)) taken.add(id);
        for (const video of read.items) {
          matching.take(video, taken);
          if (breather.isDue) await breather.rest();
        }
        // A partner that ignores `page` sends the same one for ever.
        const before = fingerprints.size;
        for (const fingerprint of read.fingerprints) fingerprints.add(fingerprint);
        const last = fingerprints.size === before || isLastPage(read, page);
        const isWhole = last && (page === 1 || asking.page === 1);
        page = last ? 1 : page + 1;
        if (isWhole || matching.found.size === parts.length || page === asking.page) break;
      }
    } catch (error) {
      if (!(error instanceof PartnerFailure)) throw error;
      return { pages, nextPage: page, findings, failure: error };
    }
    return { pages, nextPage: page, findings, failure: undefined };
  }

  /** The clips' ids that are known of other parts than these. Asked for only where a part might take them for its own. */
  private async takenIn(videos: readonly Video[], parts: readonly Part[]): Promise<readonly string[]> {
    const nameless = parts.find(({ partnerRequestId }) => partnerRequestId === null);
    if (nameless === undefined) return [];
    const ours = new Set(parts.map(({ partnerRequestId }) => partnerRequestId));
    const ids = videos.map(({ requestId }) => requestId).filter((id) => id !== undefined && !ours.has(id));
    return ids.length === 0 ? [] : this.parts.knownRequests(nameless, ids);
  }
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

/**
 * The list has no state, and may go on: clips that leave something out may not be all, nor those of a part that was said to
 * come in several. What is recognised by its range shows all of it.
 */
const kindOf = (part: Part, clips: readonly Video[]): 'some' | 'clips' =>
  part.hasClips || !covers(clips, part) ? 'some' : 'clips';

const unknownAll = (parts: readonly Part[], { message: reason }: PartnerFailure): Map<Part, Learnt> =>
  new Map(parts.map((part) => [part, { kind: 'unknown', reason }]));
