import { useState } from 'preact/hooks';
import type { ExchangeDetail } from '../../contracts/admin/exchange.dto.js';
import type { ReplayedExchange } from '../../contracts/admin/replay.dto.js';
import { linkTo } from '../client/address.js';
import { send } from '../client/api.js';
import { ActionButton } from '../parts/forms.js';
import { Badge } from '../parts/states.js';
import { useHaulers } from '../parts/values.js';
import { statusTone } from './response-badge.js';

/** Sends the request of an exchange again. A push may be sent for another hauler, such as one of the sandbox. */
export function ReplayOne({ exchange }: { exchange: ExchangeDetail }) {
  const [haulerId, setHaulerId] = useState('');
  const [result, setResult] = useState<ReplayedExchange>();
  const { data: haulers } = useHaulers();
  const { direction, method, route } = exchange;
  const isPush = direction === 'inbound' && method === 'POST';
  if (!isPush && (direction === 'inbound' || method !== 'GET' || route === 'download')) {
    return <p class="hint">Only pushes to this service and GET calls to a partner can be replayed.</p>;
  }
  const replay = async () =>
    setResult(
      await send<ReplayedExchange>('POST', `/exchanges/${exchange.id}/replay`, haulerId === '' ? {} : { haulerId }),
    );
  return (
    <div class="replay">
      <div class="actions">
        <ActionButton
          label="Replay"
          confirm={isPush ? 'The push is processed again, as it was received.' : 'The same call is made again.'}
          work={replay}
        />
        {isPush && (
          <label class="inline">
            for{' '}
            <select value={haulerId} onChange={(event) => setHaulerId(event.currentTarget.value)}>
              <option value="">the same hauler</option>
              {(haulers?.data ?? [])
                .filter(({ id }) => id !== exchange.haulerId)
                .map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
            </select>
          </label>
        )}
      </div>
      {result !== undefined && (
        <p role="status">
          It was sent again. The response was <Status value={result.earlier.status} /> and is now{' '}
          <Status value={result.status} />:{' '}
          <a href={linkTo('exchanges', { id: result.exchangeId })}>open the new exchange</a>
        </p>
      )}
    </div>
  );
}

const Status = ({ value }: { value: number | null }) => (
  <Badge value={value === null ? 'no response' : String(value)} tone={statusTone(value)} />
);
