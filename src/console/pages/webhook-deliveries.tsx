import { useState } from 'preact/hooks';
import type { WebhookDelivery } from '../../contracts/admin/webhook-delivery.dto.js';
import { DELIVERY_REASONS, DELIVERY_STATUSES } from '../../contracts/webhooks/delivery.values.js';
import type { PageProps } from '../client/address.js';
import { send } from '../client/api.js';
import { useLoad } from '../client/load.js';
import { Filters, pick, SelectFilter } from '../parts/filters.js';
import { ActionButton } from '../parts/forms.js';
import { type Column, Listing } from '../parts/listing.js';
import { Badge, Empty } from '../parts/states.js';
import { Time } from '../parts/values.js';

const LIVE_MS = 5_000;
const PLACE = { page: 'deliveries', cursor: 'after' };

/** What was delivered to one endpoint or to all, live. */
export function DeliveryList({ query }: PageProps) {
  const endpointId = query.get('endpoint') ?? undefined;
  const { deliveries: page, after: cursor, ...filters } = pick(query, 'status', PLACE.page, PLACE.cursor);
  const list = useLoad('/webhook-deliveries', { ...filters, endpointId, page, cursor, pageSize: 20 }, LIVE_MS);
  return (
    <section aria-label="Deliveries">
      <h2>Deliveries</h2>
      <Filters label="Filters of deliveries">
        <SelectFilter name="status" label="State" query={query} choices={DELIVERY_STATUSES} />
      </Filters>
      {endpointId !== undefined && <RetryFailed key={endpointId} endpointId={endpointId} />}
      <Listing
        label="Deliveries of webhooks"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        filters={filters}
        place={PLACE}
        empty={<Empty title="Nothing was delivered yet.">Test an endpoint, or wait for the first event.</Empty>}
      />
    </section>
  );
}

const RANGES = [
  ['1', 'the last hour'],
  ['24', 'the last 24 hours'],
  ['336', 'the last 14 days'],
] as const;
const HOUR_MS = 3_600_000;

/** All that failed within a time are delivered again. */
function RetryFailed({ endpointId }: { endpointId: string }) {
  const [hours, setHours] = useState<string>('24');
  const [matched, setMatched] = useState<number>();
  const retry = async () => {
    const to = Date.now() + 1_000;
    const [start, end] = [to - Number(hours) * HOUR_MS, to].map((time) => new Date(time).toISOString());
    const done = await send('POST', '/webhook-deliveries/retry', { endpointId, from: start, to: end });
    setMatched(done.matched);
  };
  return (
    <div class="actions">
      <label class="field">
        <span>Failed deliveries of</span>
        <select value={hours} onChange={(event) => setHours(event.currentTarget.value)}>
          {RANGES.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      <ActionButton label="Deliver the failed ones again" needs="operator" work={retry} />
      {matched !== undefined && (
        <p role="status">{matched === 0 ? 'None failed in this time.' : `${matched} are delivered again.`}</p>
      )}
    </div>
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
