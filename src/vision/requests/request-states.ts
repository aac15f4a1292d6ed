import { defineStates, type StateOf } from '../../jobs/states.js';
import type { RecordingState } from '../downloads/recording-states.js';

/** How a video request and each of its parts moves (decisions 39 to 42). */
export const REQUEST_STATES = defineStates('a video request', {
  submitting: ['processing', 'ready', 'failed', 'expired'],
  processing: ['ready', 'failed', 'expired'],
  ready: ['downloading', 'stored', 'failed', 'expired'],
  downloading: ['ready', 'stored', 'failed', 'expired'],
  stored: [],
  failed: [],
  expired: [],
});

export type RequestState = StateOf<typeof REQUEST_STATES>;

export interface PartState {
  readonly number: number;
  readonly status: RequestState;
  readonly reason: string | null;
}

/** The order in which open parts move on; the request stands where its last part does. */
const COURSE: readonly RequestState[] = ['submitting', 'processing', 'ready', 'downloading'];

/** A request as its parts make it (decision 42): open while one is, then `failed`, `expired` or `stored`. */
export function requestStateOf(parts: readonly PartState[]): { status: RequestState; reason: string | null } {
  const open = COURSE.find((state) => parts.some(({ status }) => status === state));
  const ended = (['failed', 'expired'] as const).find((state) => parts.some(({ status }) => status === state));
  return { status: open ?? ended ?? 'stored', reason: reasonOf(parts) };
}

function reasonOf(parts: readonly PartState[]): string | null {
  const [first, ...others] = parts.filter(({ reason }) => reason !== null);
  if (first === undefined || parts.length === 1) return first?.reason ?? null;
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return `Part ${first.number} of ${parts.length}: ${first.reason}${more}`;
}

export interface ClipState {
  readonly status: RecordingState;
  readonly reason: string | null;
}

/** A part as its clips make it. `said` is what the partner said of it, such as what is missing. */
export function partStateOf(
  clips: readonly ClipState[],
  said: string | null,
): { status: RequestState; reason: string | null } {
  if (clips.some(({ status }) => status === 'downloading')) return { status: 'downloading', reason: said };
  if (clips.some(({ status }) => status === 'available')) return { status: 'ready', reason: said };
  const lost = clips.find(({ status }) => status === 'failed') ?? clips.find(({ status }) => status === 'expired');
  if (lost === undefined) return { status: 'stored', reason: said };
  return { status: lost.status === 'failed' ? 'failed' : 'expired', reason: lost.reason };
}
