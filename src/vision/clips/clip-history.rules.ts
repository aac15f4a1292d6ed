import type { HistoryEntry } from '../../contracts/admin/history.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { timeOfUuidv7 } from '../../database/uuid.js';
import { callOf, exchangeEntry } from '../../exchanges/exchange-history.service.js';
import type { NamedExchangeRow } from '../../exchanges/exchanges.repository.js';

/** A step of a part that changed something. */
export interface ClipEvent {
  /** Contains the time. */
  readonly id: string;
  /** Number of the part; null in a request with one part. */
  readonly part: number | null;
  readonly recordingId: string | null;
  readonly kind: 'submitted' | 'poll' | 'download' | 'link-replaced' | 'state';
  readonly text: string;
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
export function clipEntries(events: readonly ClipEvent[], calls: readonly NamedExchangeRow[]): HistoryEntry[] {
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
