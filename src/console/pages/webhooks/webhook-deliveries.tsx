import { useState } from 'preact/hooks';
import type { WebhookDelivery } from '../../../contracts/admin/webhook-delivery.dto.js';
import { DELIVERY_REASONS, DELIVERY_STATUSES } from '../../../contracts/webhooks/delivery.values.js';
import type { PageProps } from '../../client/address.js';
import { send } from '../../client/api.js';
import { byChoice } from '../../parts/filters.js';
import { ActionButton } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Empty } from '../../parts/states.js';
import { Time } from '../../parts/values.js';

const LIVE_MS = 5_000;
const FILTERS = [byChoice('status', 'State', DELIVERY_STATUSES)];

/** What was delivered to one endpoint or to all, live. */
export function DeliveryList({ query }: PageProps) {
  const endpointId = query.get('endpoint') ?? undefined;
  return (
    <section aria-label="Deliveries">
      <h2>Deliveries</h2>
      <ListPage
        path="/webhook-deliveries"
        query={query}
        name="deliveries"
        filters={FILTERS}
        filtersLabel="Filters of deliveries"
        fixed={{ endpointId }}
        everyMs={LIVE_MS}
        label="Deliveries of webhooks"
        columns={COLUMNS}
        keyOf={({ id }) => id}
        empty={<Empty title="Nothing was delivered yet.">Test an endpoint, or wait for the first event.</Empty>}
      >
        {endpointId !== undefined && <RetryFailed key={endpointId} endpointId={endpointId} />}
      </ListPage>
    </section>
  );
}

const DAYS = 14;

/** All that failed in the last days are delivered again. */
function RetryFailed({ endpointId }: { endpointId: string }) {
  const [matched, setMatched] = useState<number>();
  const retry = async () => {
    const from = new Date(Date.now() - DAYS * 86_400_000).toISOString();
    const to = new Date(Date.now() + 1_000).toISOString();
    setMatched((await send('POST', '/webhook-deliveries/retry', { endpointId, from, to })).matched);
  };
  return (
    <p class="actions">
      <ActionButton label="Deliver the failed ones again" needs="operator" work={retry} />
      {matched !== undefined && (
        <span role="status">{matched === 0 ? `None failed in ${DAYS} days.` : `${matched} are delivered again.`}</span>
      )}
    </p>
  );
}

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  {
    title: 'Event',
    cell: ({ topic, body }) => (
      <details>
        <summary>{topic}</summary>
        <pre class="wrap">{body}</pre>
      </details>
    ),
  },
  { title: 'When', cell: ({ createdAt }) => <Time value={createdAt} /> },
  { title: 'State', cell: ({ status }) => <Badge value={status} /> },
  { title: 'Last answer', cell: (delivery) => <LastAnswer delivery={delivery} /> },
  {
    title: 'Tries',
    cell: ({ attempts, nextAt }) => (
      <>
        {attempts}
        {nextAt !== null && (
          <div class="hint">
            next <Time value={nextAt} />
          </div>
        )}
      </>
    ),
  },
  {
    title: 'Actions',
    cell: ({ id }) => (
      <ActionButton
        label="Deliver again"
        needs="operator"
        work={() => send('POST', `/webhook-deliveries/${id}/retry`)}
      />
    ),
  },
];

/** The status and the beginning of the body, or why there is none. */
export function LastAnswer({ delivery: { lastResponse, reason } }: { delivery: WebhookDelivery }) {
  if (lastResponse === null && reason === null) return <span class="hint">none yet</span>;
  return (
    <>
      {lastResponse !== null && <strong>{lastResponse.status}</strong>} {reason !== null && DELIVERY_REASONS[reason]}
      {lastResponse !== null && lastResponse.body !== '' && (
        <div class="hint wrap">{lastResponse.body.slice(0, 200)}</div>
      )}
    </>
  );
}
