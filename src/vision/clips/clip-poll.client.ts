import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { MAX_PAGE_SIZE } from '../../contracts/common/pagination.dto.js';
import type { ListVideosQuery, Video } from '../../contracts/vision/vision.api.js';
import { inCallContext } from '../../core/outbound/outbound-log.js';
import { PartnerFailure } from '../../partner-client/partner-failure.js';
import { VisionFindings } from '../client/findings.repository.js';
import { type ListedPage, MAX_FINDINGS } from '../client/read-list.rules.js';
import { readAllPages, UnstableListError } from '../client/read-pages.js';
import { sizeFindings, VisionClient } from '../client/vision.client.js';
import { MAX_CLIPS_PER_PART } from '../recordings/recording.rules.js';
import { ClipMatcher } from './clip-matching.rules.js';
import {
  endsIndividualPolls,
  endsRound,
  individualResult,
  isIndividualPollDue,
  isUnknown,
  listResult,
  MAX_FOLLOW_UPS,
  MAX_LIST_PAGES,
  type PollContext,
  type PollResult,
  type PollRound,
  type ReadList,
} from './clip-poll.rules.js';
import { ClipsRepository, type Part } from './clips.repository.js';

/** How one list is read. */
interface ListReading {
  readonly onItems: (items: readonly Video[]) => void | Promise<void>;
  /** Whether no further page is needed. */
  readonly isEnough: (list: ReadList) => boolean;
  /** Some partners generate ids for each list of a request. */
  readonly hasStableIds: boolean;
}

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
    const round: PollRound = { polled: [], failure: undefined };
    const due = parts
      .filter((part) => isIndividualPollDue(part, context.now))
      .sort((one, other) => lastAlone(one) - lastAlone(other));
    await this.pollIndividually(due, context, round);
    const polled = new Set(round.polled.map(({ part }) => part));
    const rest = parts.filter((part) => !polled.has(part));
    if (rest.length === 0 || (round.failure !== undefined && endsRound(round.failure))) return round;
    const isSingle = rest.length === 1 && round.failure === undefined;
    const alone = isSingle ? rest : await this.pollList(rest, context, round);
    if (round.failure === undefined) await this.pollIndividually(alone, context, round);
    return round;
  }

  private async pollIndividually(parts: readonly Part[], context: PollContext, round: PollRound): Promise<void> {
    for (const part of parts) {
      const { result, failure } = await this.pollPart(part, context);
      if (result !== undefined) round.polled.push({ part, result, isIndividual: true });
      if (!(failure instanceof PartnerFailure) || !endsIndividualPolls(failure)) continue;
      round.failure = failure;
      return;
    }
  }

  private async pollPart(
    part: Part,
    context: PollContext,
  ): Promise<{ readonly result: PollResult | undefined; readonly failure: ReadList['failure'] }> {
    const { customerId, partnerRequestId: requestId } = part;
    const videos = new Map<string, Video>();
    const list = await this.readList(requestId === null ? rangeOf([part]) : { customerId, requestId }, context, {
      onItems(items) {
        for (const video of items) if (videos.size <= MAX_CLIPS_PER_PART) videos.set(rangeKey(video), video);
      },
      // One clip above the limit proves that there are too many.
      isEnough: ({ request }) => videos.size > MAX_CLIPS_PER_PART || request?.status === 'failed',
      hasStableIds: false,
    });
    const matcher = new ClipMatcher([part], await this.clips.cameraNames([part]));
    // A list that names the request has the clips of that request, also where they carry no id.
    const listed = list.request === undefined ? {} : { requestId: list.request.requestId };
    const otherRequests = new Set(await this.otherRequestsIn([...videos.values()], [part]));
    for (const video of videos.values()) matcher.add({ ...listed, ...video }, otherRequests);
    const mismatches = matcher.findings();
    await this.findings.record(context.connection, [...list.findings, ...mismatches]);
    const result = individualResult(part, list, matcher.found.get(part), mismatches[0]?.reason);
    return { result, failure: list.failure };
  }

  /** Returns the parts whose first clips are listed, and whose range these do not cover. */
  private async pollList(parts: readonly Part[], context: PollContext, round: PollRound): Promise<Part[]> {
    const matcher = new ClipMatcher(parts, await this.clips.cameraNames(parts));
    const otherRequests = new Set<string>();
    const { pages, failure, findings } = await this.readList(rangeOf(parts), context, {
      onItems: async (items) => {
        for (const id of await this.otherRequestsIn(items, parts)) otherRequests.add(id);
        for (const [i, video] of items.entries()) {
          matcher.add(video, otherRequests);
          if (i % 500 === 499) await yieldToEventLoop();
        }
      },
      isEnough: ({ pages: read }) => matcher.found.size === parts.length || read === MAX_LIST_PAGES,
      hasStableIds: true,
    });
    const add = (part: Part, result: PollResult) => round.polled.push({ part, result, isIndividual: false });
    if (pages === 0 && failure instanceof PartnerFailure && isUnknown(failure)) {
      for (const part of parts) add(part, { kind: 'unknown', reason: failure.message });
      return [];
    }
    await this.findings.record(context.connection, [...findings, ...matcher.findings()]);
    if (failure instanceof PartnerFailure) round.failure ??= failure;
    if (pages === 0) return [];
    const followed: Part[] = [];
    for (const part of parts) {
      const clips = matcher.found.get(part);
      const result = clips === undefined ? UNLISTED : listResult(part, clips);
      add(part, result);
      if (result.kind === 'some' && !part.hasClips && part.partnerRequestId !== null) followed.push(part);
    }
    return followed.slice(0, MAX_FOLLOW_UPS);
  }

  private async readList(
    query: ListVideosQuery,
    context: PollContext,
    { onItems, isEnough, hasStableIds }: ListReading,
  ): Promise<ReadList> {
    const list: ReadList = { request: undefined, findings: [], pages: 0, failure: undefined, isWhole: true };
    const { findings } = list;
    const fetchPage = async (page: number): Promise<ListedPage> => {
      const read = await this.client.listVideos({ ...query, page, pageSize: MAX_PAGE_SIZE }, context, onItems);
      const { request } = read;
      if (page === 1 && request !== undefined && request.requestId === query.requestId) list.request = request;
      return hasStableIds ? read : { ...read, fingerprints: read.ranges };
    };
    const onPage = async ({ findings: found }: ListedPage): Promise<void> => {
      list.pages++;
      // More are not recorded, and each has an element of up to 1 MiB.
      findings.push(...found.slice(0, Math.max(0, MAX_FINDINGS - findings.length)));
    };
    try {
      list.isWhole = await readAllPages(fetchPage, onPage, () => isEnough(list));
    } catch (error) {
      if (!(error instanceof PartnerFailure || error instanceof UnstableListError)) throw error;
      list.failure = error;
      findings.push(...sizeFindings(error));
    }
    return list;
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

const UNLISTED: PollResult = { kind: 'open', reason: undefined };

/** The part that was polled alone longest ago is the first: a poll that fails ends the others. */
const lastAlone = ({ polledIndividuallyAt, submittedAt }: Part): number =>
  (polledIndividuallyAt ?? submittedAt)?.getTime() ?? 0;

/** Without the clip's id, which some partners generate for each list. */
const rangeKey = ({ truckId, cameraId, startTime, endTime }: Video): string =>
  JSON.stringify([truckId, cameraId, startTime, endTime]);

/** As narrow as the parts allow: their common time range, and their truck if they have one in common. */
function rangeOf(parts: readonly Part[]): ListVideosQuery {
  const [first] = parts;
  const isOneTruck = parts.every(({ truckId }) => truckId === first?.truckId);
  return {
    customerId: first?.customerId ?? '',
    ...(isOneTruck && first !== undefined ? { truckId: first.truckId } : {}),
    startTime: parts.map(({ startTime }) => startTime).reduce((a, b) => (a < b ? a : b)),
    endTime: parts.map(({ endTime }) => endTime).reduce((a, b) => (a > b ? a : b)),
  };
}
