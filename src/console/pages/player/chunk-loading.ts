import { useState } from 'preact/hooks';
import type { StoredRecording } from '../../../contracts/admin/recording.dto.js';
import { useAll } from '../../client/load.js';
import { overlapsOf } from '../../parts/filters.js';

/** Loaded before and after the moment that is played. */
export const AROUND_MS = 30 * 60_000;

export interface LoadedRecordings {
  readonly recordings: readonly StoredRecording[];
  readonly isLoaded: boolean;
  /** The time that is loaded, for a call. */
  readonly range: Readonly<Record<'from' | 'to', string>>;
  /** Loads more before the clock reaches the end of what is loaded. */
  readonly follow: (time: number) => void;
}

/** The stored recordings of a truck around the moment that is played. */
export function useRecordingsAround({ connectionId, truckId }: StoredRecording, moment: number): LoadedRecordings {
  const [center, setCenter] = useState(moment);
  const iso = (time: number) => new Date(time).toISOString();
  const range = { from: iso(center - AROUND_MS), to: iso(center + AROUND_MS) };
  const within = { connectionId, truckId, status: 'stored', overlaps: overlapsOf(range.from, range.to) };
  const { data, error } = useAll('/recordings', within);
  // By the latest centre: a picture that plays calls the `follow` of its start, ten times a second.
  const follow = (time: number) => setCenter((now) => (Math.abs(time - now) > AROUND_MS / 2 ? time : now));
  // Without an answer it plays what is loaded; the page reads the recording itself again and shows the error.
  return { recordings: data ?? [], isLoaded: (data ?? error) !== undefined, range, follow };
}
