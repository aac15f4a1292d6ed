import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { ListVideosQuery, Video } from '../../contracts/vision/vision.dto.js';
import { inCallContext } from '../../outbound/outbound-log.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { VisionFindings } from '../client/findings.repository.js';
import type { Finding, ListedPage, ReadRequestState } from '../client/read-list.rules.js';
import { isLastPage, readAllPages, readPageOrEnd, UnstableListError } from '../client/read-pages.js';
import { VisionClient } from '../client/vision.client.js';
import { comparableName } from '../recordings/camera-names.rules.js';
import { MAX_CLIPS_PER_PART } from '../recordings/recording.rules.js';
import { ClipMatcher } from './clip-matching.rules.js';
import {
  type BatchPoll,
  batchResult,
  endsIndividualPolls,
  endsRound,
  incomplete,
  type IndividualPolls,
  individualResult,
  isUnknown,
  lastPolledIndividually,
  mustPollIndividually,
  type PartList,
  type PollContext,
  type PollResult,
  type PollRound,
  roundOf,
} from './clip-poll.rules.js';
import { ClipsRepository, type Part } from './clips.repository.js';

const NO_BATCH: BatchPoll = { results: new Map(), pages: 0, nextPage: 1, failure: undefined };
const NO_INDIVIDUAL: IndividualPolls = { results: new Map(), failure: undefined };

/** Polls a partner for the parts of one customer (decision 41). */
@Injectable()
export class ClipPollClient {
  constructor(
    private readonly client: VisionClient,
    private readonly findings: VisionFindings,
    private readonly clips: ClipsRepository,
  ) {}

  /**
   * A single part is polled by its id. Several parts are polled with the customer's list, and by their ids only when that
   * is due or where the list may not contain all of their clips. The first failure of the whole partner ends the round.
   */
  poll(parts: readonly Part[], context: PollContext): Promise<PollRound> {
    const references = parts.map(({ requestId }) => ({ kind: 'videoRequestId', value: requestId }) as const);
    return inCallContext({ references }, () => this.pollRound(parts, context));
  }

  private async pollRound(parts: readonly Part[], context: PollContext): Promise<PollRound> {
    const [first] = parts;
    if (parts.length === 1 && first?.partnerRequestId != null) {
      return roundOf(parts, NO_BATCH, await this.pollIndividually(parts, context));
    }
    const due = parts
      .filter((part) => part.partnerRequestId !== null && mustPollIndividually(part, context))
      .sort((one, other) => lastPolledIndividually(one) - lastPolledIndividually(other));
    return context.lastRoundFailed ? this.idsFirst(parts, due, context) : this.listFirst(parts, due, context);
  }

  private async listFirst(parts: readonly Part[], due: readonly Part[], context: PollContext): Promise<PollRound> {
    const batch = await this.pollList(parts, context);
    if (isOver(batch)) return roundOf(parts, batch, NO_INDIVIDUAL);
    const waiting = due.filter((part) => (batch.results.get(part)?.kind ?? 'some') === 'some');
    const rest = new Set([...waiting, ...incomplete(parts, batch)]);
    return roundOf(parts, batch, await this.pollIndividually(rest, context));
  }

  /** After a failed round: a list that always fails opens the circuit, and must not prevent the individual polls. */
  private async idsFirst(parts: readonly Part[], due: readonly Part[], context: PollContext): Promise<PollRound> {
    const individual = await this.pollIndividually(due, context);
    const rest = parts.filter((part) => !individual.results.has(part));
    if (rest.length === 0 || isOver(individual)) return roundOf(parts, NO_BATCH, individual);
    const batch = await this.pollList(rest, context);
    if (individual.failure !== undefined || isOver(batch)) return roundOf(parts, batch, individual);
    const { results, failure } = await this.pollIndividually(incomplete(rest, batch), context);
    return roundOf(parts, batch, { results: new Map([...individual.results, ...results]), failure });
  }

  private async pollIndividually(parts: Iterable<Part>, context: PollContext): Promise<IndividualPolls> {
    const results = new Map<Part, PollResult>();
    for (const part of parts) {
      const { result, failure } = await this.pollPart(part, context);
      if (result !== undefined) results.set(part, result);
      if (failure instanceof PartnerFailure && endsIndividualPolls(failure)) return { results, failure };
    }
    return { results, failure: undefined };
  }

  /** Reads all pages of one part's clips. */
  private async pollPart(
    part: Part,
    context: PollContext,
  ): Promise<{ result: PollResult | undefined; failure: PartList['failure'] }> {
    const list = await this.readPart(part, context);
    const matcher = new ClipMatcher([part], await this.clips.cameraNames([part]));
    // A list that names the request has the clips of that request, also where they carry no id.
    const listed = list.request === undefined ? {} : { requestId: list.request.requestId };
    for (const video of list.videos) matcher.add({ ...listed, ...video });
    const mismatches = matcher.findings();
    await this.findings.record(context.connection, [...list.findings, ...mismatches]);
    const clips = matcher.found.get(part);
    const mismatch = mismatches[0]?.reason;
    return { result: individualResult(part, list, clips, mismatch), failure: list.failure };
  }

  private async readPart(part: Part, context: PollContext): Promise<PartList> {
    const query = { customerId: part.customerId, requestId: part.partnerRequestId ?? '', pageSize: MAX_PAGE_SIZE };
    const videos = new Map<string, Video>();
    const findings: Finding[] = [];
    let request: ReadRequestState | undefined;
    let failure: PartList['failure'];
    let isWhole = true;
    const fetchPage = async (page: number): Promise<ListedPage<Video>> => {
      const read = await this.client.listVideos({ ...query, page }, context);
      if (page === 1) request = read.request?.requestId === part.partnerRequestId ? read.request : undefined;
      return { ...read, fingerprints: fingerprintsOf(read) };
    };
    const onPage = async (page: ListedPage<Video>): Promise<void> => {
      for (const video of page.items) videos.set(rangeKey(video), video);
      findings.push(...page.findings);
    };
    // One clip above the limit proves that there are too many.
    const isEnough = () => videos.size > MAX_CLIPS_PER_PART || request?.status === 'failed';
    try {
      isWhole = await readAllPages(fetchPage, onPage, isEnough);
    } catch (error) {
      if (!(error instanceof PartnerFailure) && !(error instanceof UnstableListError)) throw error;
      failure = error;
    }
    return { videos: [...videos.values()], request, findings, failure, isWhole };
  }

  private async pollList(parts: readonly Part[], context: PollContext): Promise<BatchPoll> {
    const matcher = new ClipMatcher(parts, await this.clips.cameraNames(parts));
    const findings: Finding[] = [];
    const { pages, nextPage, failure } = await this.readList(parts, context, matcher, findings);
    if (pages === 0 && failure !== undefined && isUnknown(failure)) {
      const unknown = { kind: 'unknown', reason: failure.message } as const;
      return { results: new Map(parts.map((part) => [part, unknown])), pages: 1, nextPage: 1, failure: undefined };
    }
    await this.findings.record(context.connection, [...findings, ...matcher.findings()]);
    const results = new Map([...matcher.found].map(([part, clips]) => [part, batchResult(part, clips)]));
    // After a failure the page may no longer exist.
    const restart = failure !== undefined || matcher.found.size === parts.length;
    return { results, pages, nextPage: restart ? 1 : nextPage, failure };
  }

  /** Reads at most one page more than the parts would fill. The next round continues with the rest of the list. */
  private async readList(
    parts: readonly Part[],
    context: PollContext,
    matcher: ClipMatcher<Part>,
    findings: Finding[],
  ): Promise<Pick<BatchPoll, 'pages' | 'nextPage' | 'failure'>> {
    const maxPages = Math.ceil(parts.length / MAX_PAGE_SIZE) + 1;
    const otherRequests = new Set<string>();
    const fingerprints = new Set<string>();
    const query = { ...listQuery(parts), pageSize: MAX_PAGE_SIZE };
    const fetchPage = (page: number) => this.client.listVideos({ ...query, page }, context);
    let page = context.page;
    let pages = 0;
    try {
      while (pages < maxPages) {
        const { page: read } = await readPageOrEnd(fetchPage, page);
        pages++;
        findings.push(...read.findings);
        for (const id of await this.otherRequestsIn(read.items, parts)) otherRequests.add(id);
        for (const [i, video] of read.items.entries()) {
          matcher.add(video, otherRequests);
          if (i % 500 === 499) await yieldToEventLoop();
        }
        // A partner that ignores `page` returns the same page each time.
        const before = fingerprints.size;
        for (const fingerprint of read.fingerprints) fingerprints.add(fingerprint);
        const isLast = fingerprints.size === before || isLastPage(read, page);
        const isWhole = isLast && (page === 1 || context.page === 1);
        page = isLast ? 1 : page + 1;
        if (isWhole || matcher.found.size === parts.length || page === context.page) break;
      }
    } catch (error) {
      if (!(error instanceof PartnerFailure)) throw error;
      return { pages, nextPage: page, failure: error };
    }
    return { pages, nextPage: page, failure: undefined };
  }

  /** The request ids of `videos` that belong to other parts of ours. Only a part without an id could match them. */
  private async otherRequestsIn(videos: readonly Video[], parts: readonly Part[]): Promise<readonly string[]> {
    const withoutId = parts.find(({ partnerRequestId }) => partnerRequestId === null);
    if (withoutId === undefined) return [];
    const polled = new Set(parts.map(({ partnerRequestId }) => partnerRequestId));
    const ids = videos.map(({ requestId }) => requestId).filter((id) => id !== undefined && !polled.has(id));
    return ids.length === 0 ? [] : this.clips.knownRequests(withoutId, ids);
  }
}

const isOver = ({ failure }: IndividualPolls): boolean => failure !== undefined && endsRound(failure);

/** Without the clip's id, which some partners generate for each list. */
const rangeKey = ({ truckId, cameraId, startTime, endTime }: Video): string =>
  JSON.stringify([comparableName(truckId), comparableName(cameraId), startTime, endTime]);

const fingerprintsOf = ({ items, received, fingerprints }: ListedPage<Video>): readonly string[] =>
  items.length === received ? items.map(rangeKey) : fingerprints;

/** As narrow as the parts allow: their common time range, and their truck if they have one in common. */
function listQuery(parts: readonly Part[]): ListVideosQuery {
  const [first] = parts;
  const isOneTruck = parts.every(({ truckId }) => truckId === first?.truckId);
  return {
    customerId: first?.customerId ?? '',
    ...(isOneTruck && first !== undefined ? { truckId: first.truckId } : {}),
    startTime: parts.map(({ startTime }) => startTime).reduce((a, b) => (a < b ? a : b)),
    endTime: parts.map(({ endTime }) => endTime).reduce((a, b) => (a > b ? a : b)),
  };
}
