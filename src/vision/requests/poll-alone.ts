import { Injectable } from '@nestjs/common';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { Video } from '../../contracts/vision/vision.dto.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import type { Finding } from '../client/finding.js';
import type { ListedPage, ReadRequestState } from '../client/read-list.js';
import { readWhole, UnstableList } from '../client/read-pages.js';
import { VisionFindings } from '../findings.js';
import { comparableName } from '../spelling.js';
import { VisionClient } from '../vision.client.js';
import { Matching, MOST_CLIPS } from './match-video.js';
import type { Part } from './parts.store.js';
import { concernsQuestion, isUnknown } from './poll-failures.js';
import type { Asking, Learnt } from './poll-round.js';

/** What the question for one part has brought: one of the two at least. */
export interface Answered {
  readonly learnt?: Learnt;
  readonly failure?: PartnerFailure;
}

/** What the pages have brought, as far as they were read. */
interface Listing {
  readonly videos: readonly Video[];
  /** As it stood before the last reading: what says `ready` then lists all. */
  readonly request: ReadRequestState | undefined;
  readonly findings: readonly Finding[];
  /** Why there may be more. */
  readonly failure: PartnerFailure | UnstableList | undefined;
}

/** Asks for one part by its own id, for all pages of its clips. */
@Injectable()
export class PollAlone {
  constructor(
    private readonly client: VisionClient,
    private readonly findings: VisionFindings,
  ) {}

  /** A failure that speaks of the part alone is what was learnt of it, unless clips had come before. */
  async ask(part: Part, asking: Asking): Promise<Answered> {
    const { videos, request, findings, failure } = await this.listing(part, asking);
    const matching = new Matching([part]);
    for (const video of videos) matching.take(video);
    const strange = matching.disbelieved();
    await this.findings.record(asking.connection, [...findings, ...strange]);
    const clips = matching.found.get(part);
    const learnt =
      failure === undefined
        ? learntFrom(clips ?? known(part, request), request, strange[0]?.reason)
        : learntBefore(failure, clips, strange[0]?.reason);
    return { ...(learnt === undefined ? {} : { learnt }), ...(failure instanceof PartnerFailure ? { failure } : {}) };
  }

  private async listing(part: Part, asking: Asking): Promise<Listing> {
    const query = { customerId: part.customerId, requestId: part.partnerRequestId ?? '', pageSize: MAX_PAGE_SIZE };
    const videos = new Map<string, Video>();
    const findings: Finding[] = [];
    let request: ReadRequestState | undefined;
    let failure: PartnerFailure | UnstableList | undefined;
    const fetchPage = async (page: number): Promise<ListedPage<Video>> => {
      const read = await this.client.listVideos({ ...query, page }, asking);
      if (page === 1) request = read.request?.requestId === part.partnerRequestId ? read.request : undefined;
      return { ...read, fingerprints: fingerprintsOf(read) };
    };
    const onPage = async (page: ListedPage<Video>): Promise<void> => {
      for (const video of page.items) videos.set(keyOf(video), video);
      findings.push(...page.findings);
    };
    // One more tells that there are more.
    const isEnough = () => videos.size > MOST_CLIPS || request?.status === 'failed';
    try {
      await readWhole(fetchPage, onPage, isEnough);
    } catch (error) {
      if (!(error instanceof PartnerFailure) && !(error instanceof UnstableList)) throw error;
      failure = error;
    }
    return { videos: [...videos.values()], request, findings, failure };
  }
}

/** Whose clips came while it was prepared: these are all, where the partner lists none any more and says that it is ready. */
const known = ({ hasClips }: Part, request: ReadRequestState | undefined): readonly Video[] | undefined =>
  hasClips && request?.status === 'ready' ? [] : undefined;

/** From a list that was read to its end. */
function learntFrom(
  clips: readonly Video[] | undefined,
  request: ReadRequestState | undefined,
  strange: string | undefined,
): Learnt {
  const { status, guessed, message } = request ?? {};
  if (status === 'failed') return { kind: 'failed', reason: message };
  if (clips === undefined) return { kind: 'open', reason: strange };
  if (status === 'processing' && guessed !== true) return { kind: 'some', clips, reason: message };
  return { kind: 'clips', clips, reason: message };
}

/** From one that was not. */
function learntBefore(
  failure: PartnerFailure | UnstableList,
  clips: readonly Video[] | undefined,
  strange: string | undefined,
): Learnt | undefined {
  const { message: reason } = failure;
  if (clips !== undefined) return { kind: 'some', clips, reason };
  if (failure instanceof UnstableList) return { kind: 'open', reason: strange ?? reason };
  if (!concernsQuestion(failure)) return undefined;
  return { kind: isUnknown(failure) ? 'unknown' : 'open', reason };
}

/** Of one request, so without the clip's id, which partners make anew for each listing. */
const keyOf = ({ truckId, cameraId, startTime, endTime }: Video): string =>
  JSON.stringify([comparableName(truckId), comparableName(cameraId), startTime, endTime]);

/** Malformed elements have no other than their own. */
const fingerprintsOf = ({ items, received, fingerprints }: ListedPage<Video>): readonly string[] =>
  items.length === received ? items.map(keyOf) : fingerprints;
