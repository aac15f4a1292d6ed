import { useState } from 'preact/hooks';
import type { Change } from '../client/address.js';
import { send } from '../client/api.js';
import { ActionButton } from '../parts/forms.js';
import { formatCount } from '../parts/values.js';

interface Replayed {
  readonly matched: number;
  readonly replayed: number;
}

/** Repeats all exchanges of the filters: first it counts them. */
export function ReplayAll({ filters }: { filters: Change }) {
  const [counted, setCounted] = useState<Replayed>();
  const [done, setDone] = useState<Replayed>();
  const call = (dryRun: boolean) => send<Replayed>('POST', '/exchanges/replay', { ...filters, dryRun });
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
  return (
    <span class="confirm" role="group" aria-label="Replay all">
      {counted.matched === 0
        ? 'None of these exchanges can be replayed.'
        : `${formatCount(counted.matched)} exchanges match. Each is sent again as it was.`}
      {counted.matched > 0 && <ActionButton label="Replay all" work={async () => setDone(await call(false))} />}
      <button type="button" onClick={() => setCounted(undefined)}>
        Cancel
      </button>
    </span>
  );
}
