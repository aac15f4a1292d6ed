import { useState } from 'preact/hooks';
import type { ExchangeDetail } from '../../contracts/admin/exchange.dto.js';
import { linkTo } from '../client/address.js';
import { send } from '../client/api.js';
import { ActionButton } from '../parts/forms.js';
import { Badge } from '../parts/states.js';
import { useHaulers } from '../parts/values.js';
import { statusTone } from './response-badge.js';

interface Replayed {
  readonly exchangeId: string;
  readonly status: number | null;
}

/** Sends the request of an exchange again. A push may be sent for another hauler, such as one of the sandbox. */
export function ReplayOne({ exchange }: { exchange: ExchangeDetail }) {
  const [haulerId, setHaulerId] = useState('');
  const [result, setResult] = useState<Replayed>();
  const { data: haulers } = useHaulers();
  const isPush = exchange.direction === 'inbound' && exchange.method === 'POST';
  if (exchange.direction === 'outbound' && exchange.method !== 'GET') {
    return <p class="hint">A call that changes something at the partner is never sent again.</p>;
  }
  const replay = async () =>
    setResult(await send<Replayed>('POST', `/exchanges/${exchange.id}/replay`, haulerId === '' ? {} : { haulerId }));
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
          It was sent again. The response was {name(exchange.status)} and is now{' '}
          <Badge value={name(result.status)} tone={statusTone(result.status)} />:{' '}
          <a href={linkTo('exchanges', { id: result.exchangeId })}>open the new exchange</a>
        </p>
      )}
    </div>
  );
}

const name = (status: number | null): string => (status === null ? 'no response' : String(status));
