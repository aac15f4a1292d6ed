import { useState } from 'preact/hooks';
import type {
  IssuedWebhookEndpoint,
  WebhookDelivery,
  WebhookEndpoint,
} from '../../../contracts/admin/webhooks.routes.js';
import { DELIVERY_REASONS, DELIVERY_STATUSES } from '../../../contracts/webhooks/delivery.values.js';
import { change, open, type PageProps } from '../../client/address.js';
import { send } from '../../client/api.js';
import { byChoice } from '../../parts/filters.js';
import { ActionButton, NewLink } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Detail, DetailHead, Empty, State } from '../../parts/states.js';
import { Facts, Id, KeyPrefix, Time } from '../../parts/values.js';
import { linkTo, linkToFilter } from '../../client/links.js';
import { useHaulerName } from '../../client/haulers.js';
import { EndpointForm, NewSecret } from './webhook-forms.js';

const LIVE_MS = 5_000;
const FILTERS = [byChoice('status', 'State', DELIVERY_STATUSES)];

/** What was delivered to one endpoint or to all, live. */
function DeliveryList({ query }: PageProps) {
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
function LastAnswer({ delivery: { lastResponse, reason } }: { delivery: WebhookDelivery }) {
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

const DISABLED = {
  gone: 'the receiver answered 410',
  failing: 'failed for five days',
  'key-ended': 'the key of the partner ended',
} as const;

/** Endpoints, their secrets, and what was delivered. */
export function WebhooksPage({ query }: PageProps) {
  const [issued, setIssued] = useState<IssuedWebhookEndpoint>();
  const id = query.get('endpoint');
  const show = (secret: IssuedWebhookEndpoint | undefined) => {
    setIssued(secret);
    if (query.has('new')) open(linkTo('webhooks', { endpoint: secret?.id }));
    scrollTo({ top: 0 });
  };
  return (
    <>
      {issued !== undefined && <NewSecret issued={issued} onClose={() => setIssued(undefined)} />}
      {id === null ? (
        <>
          {query.has('new') ? (
            <EndpointForm onSaved={show} onCancel={() => change({ new: undefined })} />
          ) : (
            <NewLink href={linkTo('webhooks', { new: 1 })} label="New endpoint">
              <a href="/docs/guides/webhooks" target="_blank">
                How to receive webhooks
              </a>
            </NewLink>
          )}
          <EndpointList query={query} />
          <DeliveryList query={query} />
        </>
      ) : (
        <Detail path={`/webhook-endpoints/${encodeURIComponent(id)}`} list="All endpoints">
          {(data) => (
            <>
              <EndpointDetails endpoint={data} onIssued={show} />
              <DeliveryList query={query} />
            </>
          )}
        </Detail>
      )}
    </>
  );
}

function EndpointList({ query }: PageProps) {
  const haulerName = useHaulerName();
  const columns: readonly Column<WebhookEndpoint>[] = [
    { title: 'Endpoint', cell: ({ id, url }) => <a href={linkToFilter('webhooks', query, { endpoint: id })}>{url}</a> },
    { title: 'State', cell: (endpoint) => <EndpointState of={endpoint} /> },
    { title: 'Topics', cell: ({ topics }) => topics.join(', ') },
    { title: 'Format', cell: ({ format }) => format },
    { title: 'Hauler', cell: ({ haulerId }) => (haulerId === undefined ? 'all' : haulerName(haulerId)) },
  ];
  return (
    <ListPage
      path="/webhook-endpoints"
      query={query}
      name="endpoints"
      label="Webhook endpoints"
      columns={columns}
      empty={
        <Empty title="No endpoint yet.">Choose “New endpoint” to get what happens instead of asking for it.</Empty>
      }
    />
  );
}

const stateOf = ({ enabled, failingSince, disabledReason }: WebhookEndpoint): string => {
  if (enabled) return failingSince === null ? 'enabled' : 'failing';
  return disabledReason === null ? 'paused' : 'disabled';
};

const EndpointState = ({ of }: { of: WebhookEndpoint }) => (
  <>
    <State value={stateOf(of)} reason={of.disabledReason && DISABLED[of.disabledReason]} />
    {of.failingSince !== null && (
      <div class="hint">
        since <Time value={of.failingSince} />
      </div>
    )}
  </>
);

interface EndpointProps {
  readonly endpoint: WebhookEndpoint;
  readonly onIssued: (issued: IssuedWebhookEndpoint) => void;
}

function EndpointDetails({ endpoint, onIssued }: EndpointProps) {
  const [tested, setTested] = useState<WebhookDelivery>();
  const [isChanging, setChanging] = useState(false);
  const haulerName = useHaulerName();
  const { id, url, format, topics, keyPrefix, haulerId, dropped, disabledReason, failingSince } = endpoint;
  return (
    <>
      <DetailHead
        title={url}
        label="Endpoint"
        badge={<Badge value={stateOf(endpoint)} />}
        facts={{
          Topics: topics.join(', '),
          'Failing since': failingSince !== null && <Time value={failingSince} />,
          Disabled: disabledReason !== null && DISABLED[disabledReason],
        }}
      >
        <Facts
          of={{
            Format: format,
            Hauler: haulerId === undefined ? 'all' : haulerName(haulerId),
            'Key of the partner': keyPrefix !== undefined && <KeyPrefix value={keyPrefix} />,
            'Deleted, because too many waited': dropped > 0 && dropped,
            Id: <Id value={id} />,
          }}
        />
        {tested !== undefined && (
          <p class="notice" role="status">
            The test was {tested.status === 'delivered' ? 'delivered' : 'not delivered'}. Answer:{' '}
            <LastAnswer delivery={tested} />
          </p>
        )}
        <EndpointActions
          endpoint={endpoint}
          onIssued={onIssued}
          onTested={setTested}
          onChange={() => setChanging(true)}
        />
      </DetailHead>
      {isChanging && (
        <EndpointForm endpoint={endpoint} onSaved={() => setChanging(false)} onCancel={() => setChanging(false)} />
      )}
    </>
  );
}

interface EndpointActionsProps extends EndpointProps {
  readonly onTested: (delivery: WebhookDelivery) => void;
  readonly onChange: () => void;
}

function EndpointActions({ endpoint, onIssued, onTested, onChange }: EndpointActionsProps) {
  const { id, enabled, format } = endpoint;
  const path = `/webhook-endpoints/${id}` as const;
  return (
    <p class="actions">
      <ActionButton
        label="Test"
        busy="Testing …"
        needs="operator"
        work={async () => onTested(await send('POST', `${path}/test`))}
      />
      <button type="button" onClick={onChange}>
        Change
      </button>
      <ActionButton label={enabled ? 'Pause' : 'Enable'} work={() => send('PATCH', path, { enabled: !enabled })} />
      {format === 'standard' && (
        <ActionButton
          label="Rotate the secret"
          confirm="For 24 hours both secrets sign."
          work={async () => onIssued(await send('POST', `${path}/rotate-secret`, {}))}
        />
      )}
      <ActionButton
        label="Delete"
        kind="danger"
        confirm="Its deliveries are deleted too."
        work={async () => {
          await send('DELETE', path);
          open(linkTo('webhooks'));
        }}
      />
    </p>
  );
}
