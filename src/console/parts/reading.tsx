import { LONGEST_MS } from '../client/api.js';
import { type Loaded, useNow } from '../client/load.js';

/** An answer of a page that is read every ten seconds is no older, unless one is late. */
const LIVE_MS = 12_000;

/** `live`: just read. `old`: the next answer is late. `stale`: it is so late that nobody knows. `failed`: the last reading failed. */
export type Freshness = 'live' | 'old' | 'stale' | 'failed';

export interface ReadingState {
  readonly freshness: Freshness;
  /** When it was last read, in milliseconds since the epoch. */
  readonly at: number | undefined;
  readonly isKnown: boolean;
}

/** How far what is shown can be trusted; it follows the clock. */
export function useReading({ error, readAt }: Pick<Loaded<unknown>, 'error' | 'readAt'>): ReadingState {
  const age = useNow(1_000) - (readAt.current ?? 0);
  const freshness = error !== undefined ? 'failed' : age < LIVE_MS ? 'live' : age < LONGEST_MS ? 'old' : 'stale';
  return { freshness, at: readAt.current, isKnown: freshness === 'live' || freshness === 'old' };
}

/** The same in words. */
export function Reading({ of }: { of: Pick<Loaded<unknown>, 'error' | 'readAt'> }) {
  const { freshness, at, isKnown } = useReading(of);
  if (at === undefined) return null;
  const age = Math.round((Date.now() - at) / 1_000);
  return (
    <span class={`reading ${freshness}`}>
      {isKnown ? (
        freshness === 'live' ? (
          'Live'
        ) : (
          `${age} s old`
        )
      ) : (
        <NotKnown since={at} hasFailed={freshness === 'failed'} />
      )}
    </span>
  );
}

/** In place of everything that was well at that time. */
export const NotKnown = ({ since, hasFailed }: { since: number | undefined; hasFailed: boolean }) => (
  <>
    {hasFailed ? 'Failed: not known' : 'Not known'}
    {since !== undefined && (
      <>
        {' '}
        since <Clock at={since} />
      </>
    )}
  </>
);

const CLOCK = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** A time of today: `16:04:12`. */
export const Clock = ({ at }: { at: number }) => <time dateTime={new Date(at).toISOString()}>{CLOCK.format(at)}</time>;
