import { Injectable } from '@nestjs/common';
import type { HistoryEntry } from '../../contracts/admin/history.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import type { PageQuery } from '../../contracts/common/pagination.dto.js';
import { timeOfUuidv7 } from '../../database/uuid.js';
import { callOf, exchangeEntry, ExchangeHistory, historyPage } from '../../exchanges/exchange-history.service.js';
import type { NamedExchangeRow } from '../../exchanges/exchanges.repository.js';
import { type ClipEvent, ClipsRepository } from './clips.repository.js';
import { VideoRequests } from './video-requests.service.js';

/** How a video request was submitted, polled and downloaded. */
@Injectable()
export class ClipHistory {
  constructor(
    private readonly requests: VideoRequests,
    private readonly clips: ClipsRepository,
    private readonly exchanges: ExchangeHistory,
  ) {}

  /** Newest first. Steps are retained without limit, calls until their exchanges are deleted. */
  async list(id: string, query: PageQuery): Promise<List<HistoryEntry>> {
    const { haulerId, recordingIds, createdAt } = await this.requests.get(id);
    const calls = await this.exchanges.find(haulerId, [
      { kind: 'videoRequestId', value: id },
      ...recordingIds.map((value) => ({ kind: 'recordingId', value }) as const),
    ]);
    const order: HistoryEntry = { at: createdAt, event: 'state', text: 'The video was requested.' };
    return historyPage([...clipEntries(await this.clips.events(haulerId, id), calls), order], query);
  }
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
function clipEntries(events: readonly ClipEvent[], calls: readonly NamedExchangeRow[]): HistoryEntry[] {
  const used = new Set<string>();
  const steps = events.map((event): HistoryEntry => {
    const call = calls.find((each) => ledTo(each, event));
    if (call !== undefined) used.add(call.id);
    return {
      at: formatInstant(new Date(timeOfUuidv7(event.id))),
      event: event.kind,
      text: event.part === null ? event.text : `Part ${event.part}: ${event.text}`,
      ...(call === undefined ? {} : callOf(call)),
    };
  });
  const others = calls.filter((call) => !used.has(call.id) && !isQuietPoll(call));
  return [...steps, ...others.map((call) => exchangeEntry(call, call.route === 'download' ? 'download' : 'call'))];
}

function ledTo(call: NamedExchangeRow, { id, kind, recordingId }: ClipEvent): boolean {
  if (call.route !== ROUTES[kind] || call.id > id || timeOfUuidv7(id) - endOf(call) > MAX_DELAY_MS) return false;
  return recordingId === null || call.refs?.includes(`{"kind":"recordingId","value":"${recordingId}"}`) === true;
}

const endOf = ({ id, duration_ms: durationMs }: NamedExchangeRow): number => timeOfUuidv7(id) + durationMs;

const isQuietPoll = ({ route, status, failure }: NamedExchangeRow): boolean =>
  route === 'listVideos' && status === 200 && failure === null;
