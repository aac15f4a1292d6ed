import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { ListVideosQuery, Video } from '../../contracts/vision/vision.dto.js';
import { inCallContext } from '../../outbound/outbound-log.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { VisionFindings } from '../client/findings.repository.js';
import { type Finding, type ListedPage, MAX_FINDINGS, type ReadRequestState } from '../client/read-list.rules.js';
import { readAllPages, UnstableListError } from '../client/read-pages.js';
import { sizeFindings, VisionClient } from '../client/vision.client.js';
import { MAX_CLIPS_PER_PART } from '../recordings/recording.rules.js';
import { ClipMatcher } from './clip-matching.rules.js';
import {
  endsIndividualPolls,
  individualResult,
  isIndividualPollDue,
  isUnknown,
  listResult,
  MAX_FOLLOW_UPS,
  MAX_LIST_PAGES,
  type PartList,
  type PollContext,
  type PollResult,
  PollRound,
} from './clip-poll.rules.js';
import { ClipsRepository, type Part } from './clips.repository.js';

/** Polls a partner for the parts of one customer (decision 41). */
@Injectable()
export class ClipPollClient {
  constructor(
    private readonly client: VisionClient,
    private readonly findings: VisionFindings,
    private readonly clips: ClipsRepository,
  ) {}

  poll(parts: readonly Part[], context: PollContext): Promise<PollRound> {
    const references = parts.map(({ requestId }) => ({ kind: 'videoRequestId', value: requestId }) as const);
    return inCallContext({ references }, () => this.pollRound(parts, context));
  }

  /**
   * Polls each part alone for which that is due, first, the oldest one before the others, because a list that always fails must not prevent it; then the others
   * by one reading of the customer's list; and alone those whose first clips it has, because the list does not say whether
   * more follow. A failure of the whole partner ends the round.
   */
  private async pollRound(parts: readonly Part[], context: PollContext): Promise<PollRound> {
    const round = new PollRound();
    const due = parts
      .filter((part) => isIndividualPollDue(part, context.now))
      .sort((one, other) => lastAlone(one) - lastAlone(other));
    await this.pollIndividually(due, context, round);
    const rest = parts.filter((part) => !round.polledIndividually.has(part));
    if (rest.length === 0 || round.isOver) return round;
    const isSingle = rest.length === 1 && round.failure === undefined;
    const alone = isSingle ? rest : await this.pollList(rest, context, round);
    if (round.failure === undefined) await this.pollIndividually(alone, context, round);
    return round;
  }

  private async pollIndividually(parts: readonly Part[], context: PollContext, round: PollRound): Promise<void> {
    for (const part of parts) {
      const { result, failure } = await this.pollPart(part, context);
      if (result !== undefined) {
        round.results.push([part, result]);
        round.polled.add(part);
        round.polledIndividually.set(part, result);
      }
      if (!(failure instanceof PartnerFailure) || !endsIndividualPolls(failure)) continue;
      round.failure = failure;
      return;
    }
  }

  private async pollPart(
    part: Part,
    context: PollContext,
  ): Promise<{ result: PollResult | undefined; failure: PartList['failure'] }> {
    const list = await this.readPart(part, context);
    const matcher = new ClipMatcher([part], await this.clips.cameraNames([part]));
    // A list that names the request has the clips of that request, also where they carry no id.
    const listed = list.request === undefined ? {} : { requestId: list.request.requestId };
    const otherRequests = new Set(await this.otherRequestsIn(list.videos, [part]));
    for (const video of list.videos) matcher.add({ ...listed, ...video }, otherRequests);
    const mismatches = matcher.findings();
    await this.findings.record(context.connection, [...list.findings, ...mismatches]);
    const clips = matcher.found.get(part);
    const mismatch = mismatches[0]?.reason;
    return { result: individualResult(part, list, clips, mismatch), failure: list.failure };
  }

  private async readPart(part: Part, context: PollContext): Promise<PartList> {
    const { customerId, partnerRequestId: requestId } = part;
    const query = { ...(requestId === null ? listQuery([part]) : { customerId, requestId }), pageSize: MAX_PAGE_SIZE };
    const videos = new Map<string, Video>();
    const findings: Finding[] = [];
    let request: ReadRequestState | undefined;
    let failure: PartList['failure'];
    let isWhole = true;
    const onItems = (items: readonly Video[]): void => {
      for (const video of items) if (videos.size <= MAX_CLIPS_PER_PART) videos.set(rangeKey(video), video);
    };
    const fetchPage = async (page: number): Promise<ListedPage> => {
      const read = await this.client.listVideos({ ...query, page }, context, onItems);
      if (page === 1) request = read.request?.requestId === requestId ? read.request : undefined;
      // Some partners generate ids for each list.
      return { ...read, fingerprints: read.ranges };
    };
    const onPage = async (page: ListedPage): Promise<void> => keepFirst(findings, page.findings);
    // One clip above the limit proves that there are too many.
    const isEnough = () => videos.size > MAX_CLIPS_PER_PART || request?.status === 'failed';
    try {
      isWhole = await readAllPages(fetchPage, onPage, isEnough);
    } catch (error) {
      failure = listFailure(error);
      findings.push(...sizeFindings(error));
    }
    return { videos: [...videos.values()], request, findings, failure, isWhole };
  }

  /** Returns the parts whose first clips are listed, and whose range these do not cover. */
  private async pollList(parts: readonly Part[], context: PollContext, round: PollRound): Promise<Part[]> {
    const matcher = new ClipMatcher(parts, await this.clips.cameraNames(parts));
    const findings: Finding[] = [];
    const { pages, failure } = await this.readList(parts, context, matcher, findings);
    if (pages === 0 && failure instanceof PartnerFailure && isUnknown(failure)) {
      for (const part of parts) round.results.push([part, { kind: 'unknown', reason: failure.message }]);
      for (const part of parts) round.polled.add(part);
      return [];
    }
    await this.findings.record(context.connection, [...findings, ...matcher.findings()]);
    if (failure instanceof PartnerFailure) round.failure ??= failure;
    if (pages > 0) for (const part of parts) round.polled.add(part);
    const results = [...matcher.found].map(([part, clips]) => [part, listResult(part, clips)] as const);
    round.results.push(...results);
    return results
      .filter(([part, { kind }]) => kind === 'some' && !part.hasClips && part.partnerRequestId !== null)
      .map(([part]) => part)
      .slice(0, MAX_FOLLOW_UPS);
  }

  private async readList(
    parts: readonly Part[],
    context: PollContext,
    matcher: ClipMatcher<Part>,
    findings: Finding[],
  ): Promise<{ readonly pages: number; readonly failure: PartList['failure'] }> {
    const otherRequests = new Set<string>();
    const query = { ...listQuery(parts), pageSize: MAX_PAGE_SIZE };
    let pages = 0;
    const onPage = async ({ findings: found }: ListedPage): Promise<void> => {
      pages++;
      keepFirst(findings, found);
    };
    const onItems = async (items: readonly Video[]): Promise<void> => {
      for (const id of await this.otherRequestsIn(items, parts)) otherRequests.add(id);
      for (const [i, video] of items.entries()) {
        matcher.add(video, otherRequests);
        if (i % 500 === 499) await yieldToEventLoop();
      }
    };
    const isEnough = () => matcher.found.size === parts.length || pages === MAX_LIST_PAGES;
    const fetchPage = (page: number) => this.client.listVideos({ ...query, page }, context, onItems);
    try {
      await readAllPages(fetchPage, onPage, isEnough);
      return { pages, failure: undefined };
    } catch (error) {
      findings.push(...sizeFindings(error));
      return { pages, failure: listFailure(error) };
    }
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

/** The part that was polled alone longest ago is the first: a poll that fails ends the others. */
const lastAlone = ({ polledIndividuallyAt, submittedAt }: Part): number =>
  (polledIndividuallyAt ?? submittedAt)?.getTime() ?? 0;

/** More are not recorded, and each has an element of up to 1 MiB. */
const keepFirst = (kept: Finding[], found: readonly Finding[]): void =>
  void kept.push(...found.slice(0, Math.max(0, MAX_FINDINGS - kept.length)));

function listFailure(error: unknown): PartnerFailure | UnstableListError {
  if (error instanceof PartnerFailure || error instanceof UnstableListError) return error;
  throw error;
}

/** Without the clip's id, which some partners generate for each list. */
const rangeKey = ({ truckId, cameraId, startTime, endTime }: Video): string =>
  JSON.stringify([truckId, cameraId, startTime, endTime]);

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
