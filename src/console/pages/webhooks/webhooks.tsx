import { useState } from 'preact/hooks';
import type { WebhookDelivery } from '../../../contracts/admin/webhook-delivery.dto.js';
import type { IssuedWebhookEndpoint, WebhookEndpoint } from '../../../contracts/admin/webhook-endpoint.dto.js';
import { change, linkTo, linkToFilter, type PageProps } from '../../client/address.js';
import { send } from '../../client/api.js';
import { useHaulerName } from '../../client/haulers.js';
import { ActionButton, NewLink } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Empty } from '../../parts/states.js';
import { KeyPrefix, Time } from '../../parts/values.js';
import { DeliveryList, LastAnswer } from './webhook-deliveries.js';
import { EndpointForm, NewSecret } from './webhook-forms.js';

const DISABLED = {
  gone: 'the receiver answered 410',
  failing: 'failed for five days',
  'key-ended': 'the key of the partner ended',
} as const;

/** Endpoints, their secrets, and what was delivered. */
export function WebhooksPage({ query }: PageProps) {
  const [issued, setIssued] = useState<IssuedWebhookEndpoint>();
  const [changed, setChanged] = useState<WebhookEndpoint>();
  const [tested, setTested] = useState<WebhookDelivery>();
  const show = (secret?: IssuedWebhookEndpoint) => {
    setIssued(secret);
    setChanged(undefined);
    change({ new: undefined });
    scrollTo({ top: 0 });
  };
  return (
    <>
      {issued !== undefined && <NewSecret issued={issued} onClose={() => setIssued(undefined)} />}
      {query.has('new') && <EndpointForm onSaved={show} onCancel={() => change({ new: undefined })} />}
      {changed !== undefined && (
        <EndpointForm key={changed.id} endpoint={changed} onSaved={show} onCancel={() => setChanged(undefined)} />
      )}
      {!query.has('new') && changed === undefined && (
        <p class="actions">
          <NewLink href={linkTo('webhooks', { new: 1 })} label="New endpoint" />
          <a href="/docs/guides/webhooks" target="_blank" rel="noopener">
            How to receive webhooks
          </a>
        </p>
      )}
      {tested !== undefined && (
        <p class="notice" role="status">
          The test was {tested.status === 'delivered' ? 'delivered' : 'not delivered'}. Answer:{' '}
          <LastAnswer delivery={tested} />
        </p>
      )}
      <EndpointList query={query} onIssued={show} onTested={setTested} onChange={setChanged} />
      <DeliveryList query={query} />
    </>
  );
}

interface EndpointListProps extends PageProps {
  readonly onIssued: (issued: IssuedWebhookEndpoint) => void;
  readonly onTested: (delivery: WebhookDelivery) => void;
  readonly onChange: (endpoint: WebhookEndpoint) => void;
}

function EndpointList({ query, onIssued, onTested, onChange }: EndpointListProps) {
  const haulerName = useHaulerName();
  const only = query.get('endpoint');
  const columns: readonly Column<WebhookEndpoint>[] = [
    {
      title: 'Endpoint',
      cell: ({ id, url, topics, keyPrefix }) => (
        <>
          <a href={linkToFilter('webhooks', query, { endpoint: id })} aria-current={only === id ? 'true' : undefined}>
            {url}
          </a>
          <div class="hint">
            {topics.join(', ')} {keyPrefix !== undefined && <KeyPrefix value={keyPrefix} />}
          </div>
        </>
      ),
    },
    { title: 'Format', cell: ({ format }) => format },
    {
      title: 'State',
      cell: ({ enabled, disabledReason, failingSince, dropped }) => (
        <>
          <Badge
            value={
              enabled
                ? failingSince === null
                  ? 'enabled'
                  : 'failing'
                : disabledReason === null
                  ? 'paused'
                  : 'disabled'
            }
          />
          {disabledReason !== null && <div class="hint">{DISABLED[disabledReason]}</div>}
          {failingSince !== null && (
            <div class="hint">
              failing since <Time value={failingSince} />
            </div>
          )}
          {dropped > 0 && <div class="hint">{dropped} too many were deleted</div>}
        </>
      ),
    },
    { title: 'Hauler', cell: ({ haulerId }) => (haulerId === undefined ? 'all' : haulerName(haulerId)) },
    {
      title: 'Actions',
      cell: (endpoint) => (
        <EndpointActions endpoint={endpoint} onIssued={onIssued} onTested={onTested} onChange={onChange} />
      ),
    },
  ];
  return (
    <>
      <ListPage
        path="/webhook-endpoints"
        query={query}
        name="endpoints"
        label="Webhook endpoints"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Empty title="No endpoint yet.">Choose “New endpoint” to get what happens instead of asking for it.</Empty>
        }
      />
      {only !== null && (
        <p>
          <a href={linkToFilter('webhooks', query, { endpoint: undefined })}>Deliveries of all endpoints</a>
        </p>
      )}
    </>
  );
}

interface EndpointActionsProps extends Omit<EndpointListProps, 'query'> {
  readonly endpoint: WebhookEndpoint;
}

function EndpointActions({ endpoint, onIssued, onTested, onChange }: EndpointActionsProps) {
  const { id, enabled, format } = endpoint;
  const path = `/webhook-endpoints/${id}` as const;
  return (
    <span class="actions">
      <ActionButton
        label="Test"
        busy="Testing …"
        needs="operator"
        work={async () => onTested(await send('POST', `${path}/test`))}
      />
      <button type="button" onClick={() => onChange(endpoint)}>
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
        work={() => send('DELETE', path)}
      />
    </span>
  );
}
