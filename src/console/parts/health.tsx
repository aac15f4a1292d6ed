import type { Connection } from '../../contracts/admin/connection.dto.js';
import { linkTo } from '../client/links.js';
import { Badge, type Tone } from './states.js';
import { formatCount, Time } from './values.js';

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
