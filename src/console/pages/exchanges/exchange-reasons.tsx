import type { ExchangeReason } from '../../../contracts/admin/exchange-reason.dto.js';
import type { PageProps } from '../../client/address.js';
import { type Change, linkToFilter } from '../../client/links.js';
import { useLoad } from '../../client/load.js';
import { Card, ErrorBox } from '../../parts/states.js';
import { formatCount, Prose } from '../../parts/values.js';

const LIVE_MS = 15_000;
const MAX_SHOWN = 5;

/** How many exchanges of a filter failed for each reason; each leads to its own list. */
export function ReasonCounts({ filters, query }: PageProps & { filters: Readonly<Record<string, string>> }) {
  // Also those that the list leaves out for its reason.
  const others: Change = { ...filters, reason: undefined, failed: undefined };
  const { data, error, reload } = useLoad('/exchanges/reasons', others, LIVE_MS);
  const chosen = query.get('reason');
  if (error !== undefined) return <ErrorBox error={error} onRetry={reload} />;
  if (data === undefined || data.data.length === 0) return null;
  const items = data.data.map((each) => <Reason key={each.direction + each.reason} each={each} query={query} />);
  const total = data.data.reduce((sum, { count }) => sum + count, 0);
  return (
    <Card title={`${formatCount(total)} ${total === 1 ? 'exchange' : 'exchanges'} failed`} label="Reasons">
      <ul class="groups">{items.slice(0, MAX_SHOWN)}</ul>
      {items.length > MAX_SHOWN && (
        <details>
          <summary>{items.length - MAX_SHOWN} more reasons</summary>
          <ul class="groups">{items.slice(MAX_SHOWN)}</ul>
        </details>
      )}
      {chosen !== null && (
        <p>
          <a href={linkToFilter('exchanges', query, { reason: undefined })}>Show all reasons</a>
        </p>
      )}
    </Card>
  );
}

function Reason({ each, query }: PageProps & { each: ExchangeReason }) {
  const { direction, reason, sentence, count } = each;
  const isChosen = query.get('reason') === reason;
  return (
    <li class={isChosen ? 'chosen' : ''}>
      <a
        href={linkToFilter('exchanges', query, { reason, direction, failed: undefined })}
        aria-current={isChosen ? 'true' : undefined}
      >
        {formatCount(count)} × {reason}
      </a>{' '}
      <span class="hint">{direction}</span>
      <p class="hint">
        <Prose text={sentence} />
      </p>
    </li>
  );
}
