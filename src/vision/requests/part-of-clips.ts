import type { RecordingState } from '../downloads/recording-states.js';
import type { RequestState } from './request-states.js';

export interface Clip {
  readonly status: RecordingState;
  readonly reason: string | null;
}

/** A part as its clips make it. `said` is what the partner said of it, such as what is missing. */
export function partStateOf(
  clips: readonly Clip[],
  said: string | null,
): { status: RequestState; reason: string | null } {
  if (clips.some(({ status }) => status === 'downloading')) return { status: 'downloading', reason: said };
  if (clips.some(({ status }) => status === 'available')) return { status: 'ready', reason: said };
  const lost = clips.find(({ status }) => status === 'failed') ?? clips.find(({ status }) => status === 'expired');
  if (lost === undefined) return { status: 'stored', reason: said };
  return { status: lost.status === 'failed' ? 'failed' : 'expired', reason: lost.reason };
}
