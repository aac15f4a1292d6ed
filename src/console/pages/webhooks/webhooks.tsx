import { useState } from 'preact/hooks';
import type { WebhookDelivery } from '../../../contracts/admin/webhook-delivery.dto.js';
import type { IssuedWebhookEndpoint, WebhookEndpoint } from '../../../contracts/admin/webhook-endpoint.dto.js';
import { change, open, type PageProps } from '../../client/address.js';
import { linkTo, linkToFilter } from '../../client/links.js';
import { send } from '../../client/api.js';
import { useHaulerName } from '../../client/haulers.js';
import { ActionButton, NewLink } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Detail, DetailHead, Empty, State } from '../../parts/states.js';
import { Facts, Id, KeyPrefix, Time } from '../../parts/values.js';
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
            <p class="actions">
              <NewLink href={linkTo('webhooks', { new: 1 })} label="New endpoint" />
              <a href="/docs/guides/webhooks" target="_blank" rel="noopener">
                How to receive webhooks
              </a>
            </p>
          )}
          <EndpointList query={query} />
          <DeliveryList query={query} />
        </>
      ) : (
        <Detail
          path={`/webhook-endpoints/${encodeURIComponent(id)}`}
          back={linkToFilter('webhooks', query, { endpoint: undefined })}
          list="All endpoints"
        >
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
      keyOf={({ id }) => id}
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
