import { useState } from 'preact/hooks';
import type { ReplayedExchanges } from '../../contracts/admin/replay.dto.js';
import type { Change } from '../client/address.js';
import { send } from '../client/api.js';
import { ActionButton } from '../parts/forms.js';
import { formatCount } from '../parts/values.js';

/** Repeats all exchanges of the filters: first it counts them. */
export function ReplayAll({ filters }: { filters: Change }) {
  const [counted, setCounted] = useState<ReplayedExchanges>();
  const [done, setDone] = useState<ReplayedExchanges>();
  const call = (dryRun: boolean) => send<ReplayedExchanges>('POST', '/exchanges/replay', { ...filters, dryRun });
  if (done !== undefined) {
    return (
      <span role="status">
        {formatCount(done.replayed)} of {formatCount(done.matched)} exchanges were replayed.
      </span>
    );
  }
  if (counted === undefined) {
    return <ActionButton label="Replay all of these …" work={async () => setCounted(await call(true))} />;
  }
  const count = counted.matched - counted.skipped.length;
  const reasons = [...new Set(counted.skipped.map(({ reason }) => reason))];
  return (
    <span class="confirm" role="group" aria-label="Replay all">
      <span>
        {count === 0
          ? 'None of these exchanges can be replayed.'
          : `${formatCount(count)} of ${formatCount(counted.matched)} exchanges are sent again as they were.`}
        {reasons.length > 0 && <span class="hint"> Skipped: {reasons.slice(0, 3).join('; ')}.</span>}
      </span>
      {count > 0 && <ActionButton label="Replay all" work={async () => setDone(await call(false))} />}
      <button type="button" onClick={() => setCounted(undefined)}>
        Cancel
      </button>
    </span>
  );
}
