import type { Exchange } from '../../contracts/admin/exchange.dto.js';
import { Badge } from '../parts/states.js';

/** The response of an exchange, and its reason. */
export function ResponseBadge({ exchange }: { exchange: Exchange }) {
  const { status, failure, errorCode, result, scenario } = exchange;
  const tone = status === null || status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good';
  return (
    <>
      <Badge value={status === null ? 'no response' : String(status)} tone={tone} />{' '}
      <span class="hint">
        {failure ?? errorCode ?? result}
        {scenario !== undefined && ` (scenario ${scenario})`}
      </span>
    </>
  );
}
