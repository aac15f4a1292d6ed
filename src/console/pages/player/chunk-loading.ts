import { useEffect, useState } from 'preact/hooks';
import type { StoredRecording } from '../../../contracts/admin/recording.dto.js';
import { get } from '../../client/api.js';
import { overlapsOf } from '../../parts/filters.js';

/** Loaded before and after the moment that is played. */
export const AROUND_MS = 30 * 60_000;
const MAX_PAGES = 20;

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
  const [byId, setById] = useState<ReadonlyMap<string, StoredRecording>>(new Map());
  const [isLoaded, setLoaded] = useState(false);
  const [from, to] = [center - AROUND_MS, center + AROUND_MS].map((time) => new Date(time).toISOString()) as [
    string,
    string,
  ];
  useEffect(() => {
    let isCurrent = true;
    const load = async () => {
      for (let page = 1, pages = 1; page <= Math.min(pages, MAX_PAGES) && isCurrent; page++) {
        const list = await get('/recordings', {
          connectionId,
          truckId,
          status: 'stored',
          overlaps: overlapsOf(from, to),
          pageSize: 100,
          page,
        });
        pages = list.pagination.totalPages;
        setById((known) => new Map([...known, ...list.data.map((each) => [each.id, each] as const)]));
      }
      setLoaded(true);
    };
    // Without an answer it plays what is loaded; the page reads the recording itself again and shows the error.
    void load().catch(() => setLoaded(true));
    return () => {
      isCurrent = false;
    };
  }, [connectionId, truckId, center]);
  // By the latest centre: a picture that plays calls the `follow` of its start, ten times a second.
  const follow = (time: number) => setCenter((now) => (Math.abs(time - now) > AROUND_MS / 2 ? time : now));
  return { recordings: [...byId.values()], isLoaded, range: { from, to }, follow };
}
