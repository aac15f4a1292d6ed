import type { Exchange } from '../../contracts/admin/exchange.dto.js';
import { Badge } from '../parts/states.js';

/** The colour of a status; null without a response. */
export const statusTone = (status: number | null) =>
  status === null || status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good';

/** The response of an exchange, and its reason. */
export function ResponseBadge({ exchange }: { exchange: Exchange }) {
  const { status, failure, errorCode, result, scenario } = exchange;
  return (
    <>
      <Badge value={status === null ? 'no response' : String(status)} tone={statusTone(status)} />{' '}
      <span class="hint">
        {failure ?? errorCode ?? result}
        {scenario !== undefined && ` (scenario ${scenario})`}
      </span>
    </>
  );
}
