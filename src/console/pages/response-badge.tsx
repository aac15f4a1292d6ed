import type { Exchange } from '../../contracts/admin/exchange.dto.js';
import { Badge } from '../parts/states.js';

/** The status of a response; null without a response. */
export const StatusBadge = ({ value }: { value: number | null }) => (
  <Badge
    value={value === null ? 'no response' : String(value)}
    tone={value === null || value >= 500 ? 'bad' : value >= 400 ? 'warn' : 'good'}
  />
);

/** The response of an exchange: its status, and what the service decided or why it failed. */
export const ResponseBadge = ({
  exchange: { status, failure, errorCode, result, scenario },
}: {
  exchange: Exchange;
}) => (
  <>
    <StatusBadge value={status} />{' '}
    <span class="hint">
      {failure ?? errorCode ?? result}
      {scenario !== undefined && ` (scenario ${scenario})`}
    </span>
  </>
);
