import { useState } from 'preact/hooks';
import type { ExchangeDetail } from '../../../contracts/admin/exchange.dto.js';
import type { ReplayedExchange, ReplayedExchanges } from '../../../contracts/admin/replay.dto.js';
import { type Change, linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import { useHaulerName, useHaulers } from '../../client/haulers.js';
import { ActionButton, Options } from '../../parts/forms.js';
import { StatusBadge } from '../../parts/states.js';
import { formatCount } from '../../parts/values.js';

/** Sends the request of an exchange again. A push may be sent for another hauler, such as one of the sandbox. */
export function ReplayOne({ exchange }: { exchange: ExchangeDetail }) {
  const [haulerId, setHaulerId] = useState('');
  const [result, setResult] = useState<ReplayedExchange>();
  const { choices } = useHaulers();
  const haulerName = useHaulerName();
  const { direction, method, route } = exchange;
  const isPush = direction === 'inbound' && method === 'POST';
  if (!isPush && (direction === 'inbound' || method !== 'GET' || route === 'download')) {
    return <p class="hint">Only pushes to this service and GET calls to a partner can be replayed.</p>;
  }
  const replay = async () =>
    setResult(await send('POST', `/exchanges/${exchange.id}/replay`, haulerId === '' ? {} : { haulerId }));
  return (
    <div class="replay">
      <div class="actions">
        <ActionButton
          label={isPush ? 'Replay this push' : 'Replay this call'}
          confirm={
            isPush
              ? `The push is processed again, as it was received, for ${haulerName(haulerId === '' ? exchange.haulerId : haulerId)}.`
              : 'The same call is made again.'
          }
          work={replay}
        />
        {isPush && (
          <label class="inline">
            for{' '}
            <select value={haulerId} onChange={(event) => setHaulerId(event.currentTarget.value)}>
              <option value="">the same hauler</option>
              <Options choices={choices.filter(([id]) => id !== exchange.haulerId)} />
            </select>
          </label>
        )}
      </div>
      {result !== undefined && (
        <p role="status">
          It was sent again. The response was <StatusBadge value={result.earlier.status} /> and is now{' '}
          <StatusBadge value={result.status} />:{' '}
          <a href={linkTo('exchanges', { id: result.exchangeId })}>open the new exchange</a>
        </p>
      )}
    </div>
  );
}

/** Counts the exchanges of the filters, and sends their requests again after a confirmation. */
export function ReplayAll({ filters }: { filters: Change }) {
  const [counted, setCounted] = useState<ReplayedExchanges>();
  const [done, setDone] = useState<ReplayedExchanges>();
  const call = (dryRun: boolean) => send('POST', '/exchanges/replay', { ...filters, dryRun });
  if (done !== undefined) {
    const failures = [...new Set(done.failed.map(({ message }) => message))];
    return (
      <span role="status">
        {formatCount(done.replayed)} of {formatCount(done.matched)} exchanges were replayed.
        {failures.length > 0 && (
          <span class="hint">
            {' '}
            {formatCount(done.failed.length)} could not be sent: {failures.slice(0, 3).join('; ')}
          </span>
        )}
      </span>
    );
  }
  if (counted === undefined) {
    return <ActionButton label="Count what can be replayed" work={async () => setCounted(await call(true))} />;
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
      {count > 0 && (
        <ActionButton
          label={`Replay ${formatCount(count)} ${count === 1 ? 'exchange' : 'exchanges'} again`}
          work={async () => setDone(await call(false))}
        />
      )}
      <button type="button" onClick={() => setCounted(undefined)}>
        Cancel
      </button>
    </span>
  );
}
