import { useState } from 'preact/hooks';
import type { ExchangeDetail } from '../../../contracts/admin/exchange.dto.js';
import type { ReplayedExchange, ReplayedExchanges } from '../../../contracts/admin/replay.dto.js';
import { type Change, linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import { ActionButton } from '../../parts/forms.js';
import { StatusBadge } from '../../parts/states.js';
import { formatCount } from '../../parts/values.js';

/** Sends the request of an exchange again, as it was. */
export function ReplayOne({ exchange: { id, direction, method, route } }: { exchange: ExchangeDetail }) {
  const [result, setResult] = useState<ReplayedExchange>();
  const isPush = direction === 'inbound' && method === 'POST';
  if (!isPush && (direction === 'inbound' || method !== 'GET' || route === 'download')) {
    return <p class="hint">Only pushes to this service and GET calls to a partner can be replayed.</p>;
  }
  return (
    <>
      <p class="actions">
        <ActionButton
          label={isPush ? 'Replay this push' : 'Replay this call'}
          confirm={isPush ? 'The push is processed again, as it was received.' : 'The same call is made again.'}
          work={async () => setResult(await send('POST', `/exchanges/${id}/replay`, {}))}
        />
      </p>
      {result !== undefined && (
        <p role="status">
          It was sent again. The response was <StatusBadge value={result.earlier.status} /> and is now{' '}
          <StatusBadge value={result.status} />:{' '}
          <a href={linkTo('exchanges', { id: result.exchangeId })}>open the new exchange</a>
        </p>
      )}
    </>
  );
}

/** Sends the requests of all exchanges of the filters again, after their number. */
export function ReplayAll({ filters }: { filters: Change }) {
  const [done, setDone] = useState<ReplayedExchanges>();
  const call = (dryRun: boolean) => send('POST', '/exchanges/replay', { ...filters, dryRun });
  const count = async () => {
    const { matched, skipped } = await call(true);
    const reasons = [...new Set(skipped.map(({ reason }) => reason))].slice(0, 3).join('; ');
    const sent = `${formatCount(matched - skipped.length)} of ${formatCount(matched)} exchanges are sent again as they were.`;
    return reasons === '' ? sent : `${sent} Skipped: ${reasons}.`;
  };
  return (
    <p class="actions">
      <ActionButton label="Replay these exchanges" confirm={count} work={async () => setDone(await call(false))} />
      {done !== undefined && <span role="status">{doneText(done)}</span>}
    </p>
  );
}

function doneText({ replayed, matched, failed }: ReplayedExchanges): string {
  const text = `${formatCount(replayed)} of ${formatCount(matched)} exchanges were replayed.`;
  const failures = [...new Set(failed.map(({ message }) => message))].slice(0, 3).join('; ');
  return failures === '' ? text : `${text} ${formatCount(failed.length)} could not be sent: ${failures}`;
}
