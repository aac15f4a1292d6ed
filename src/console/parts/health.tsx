import { LONGEST_MS } from '../client/api.js';
import { type Loaded, useNow } from '../client/load.js';
import type { Connection } from '../../contracts/admin/connections.routes.js';
import { linkTo } from '../client/links.js';
import { Badge, type Tone } from './states.js';
import { formatCount, Time } from './values.js';
import { wholeTime } from './zone.rules.js';

type Answer = Pick<Loaded<unknown>, 'error' | 'readAt'>;

/** A page is read every ten seconds: an older answer means that the next one is late. */
const LIVE_MS = 12_000;

/** How far what is shown can be trusted, by the second; `old` is late, and after `stale` nobody knows. */
export function useReading({ error, readAt: { current: at } }: Answer) {
  const age = useNow(1_000) - (at ?? 0);
  const state = error !== undefined ? 'failed' : age < LIVE_MS ? 'live' : age < LONGEST_MS ? 'old' : 'stale';
  return { state, at, age, isKnown: state === 'live' || state === 'old' } as const;
}

/** The same as a mark with a word. */
export function Reading({ of }: { of: Answer }) {
  const { state, at, age } = useReading(of);
  if (at === undefined) return null;
  const words = { live: 'Live', old: `${Math.round(age / 1_000)} s old`, stale: 'No answer', failed: 'Failed' };
  return <span class={`reading ${state}`}>{words[state]}</span>;
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
] as const;

/** How long ago, or how long until: `3 h`; the time itself on hover. */
export function Age({ at }: { at: string }) {
  const ms = Math.abs(useNow(10_000) - Date.parse(at));
  const [unit, size] = UNITS.find(([, each]) => ms >= 2 * each) ?? (['s', 1_000] as const);
  return (
    <time dateTime={at} title={wholeTime(at)}>
      {Math.floor(ms / size)} {unit}
    </time>
  );
}

type State = NonNullable<Connection['health']>['state'];

const TONES: Readonly<Record<State, Tone>> = { working: 'good', failing: 'bad', paused: 'warn', unknown: 'plain' };

/** By what the partner answered last: a connection that is switched on may be refused at each call. */
export const HealthState = ({ of: { health } }: { of: Connection }) =>
  health === undefined ? null : (
    <Badge value={health.state === 'unknown' ? 'not called yet' : health.state} tone={TONES[health.state]} />
  );

/** When a call failed last, with its exchange, and why while the connection fails. */
export function LastFailure({ of: { health } }: { of: Connection }) {
  const { state, lastFailureAt = null, lastFailureId, lastFailure } = health ?? {};
  if (lastFailureAt === null) return <span class="muted">{state === 'failing' ? lastFailure : 'none'}</span>;
  return (
    <>
      <a href={linkTo('exchanges', { id: lastFailureId })}>
        <Time value={lastFailureAt} />
      </a>
      {state === 'failing' && <div class="hint clamp">{lastFailure}</div>}
    </>
  );
}

/** Of the calls of the last 24 hours. */
export function FailedShare({ of: { health } }: { of: Connection }) {
  const { calls = 0, failedCalls = 0 } = health ?? {};
  if (calls === 0) return <span class="muted">no call</span>;
  const percent = Math.round((failedCalls / calls) * 100);
  return (
    <span class={failedCalls === 0 ? 'muted' : ''} title={`${formatCount(failedCalls)} of ${formatCount(calls)} calls`}>
      {failedCalls > 0 && percent === 0 ? '< 1' : percent} % of {formatCount(calls)}
    </span>
  );
}
