import { useState } from 'preact/hooks';
import type { ApiKey, IssueApiKeyRequest, IssuedApiKey } from '../../contracts/admin/access.dto.js';
import { change, linkTo, type PageProps } from '../client/address.js';
import { send } from '../client/api.js';
import { useConnections, useHaulerName, useHaulers } from '../client/haulers.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { Filters, HaulerFilter, localInput, pick } from '../parts/filters.js';
import { ActionButton, fieldText, Form, Input, Select } from '../parts/forms.js';
import { type Column, Listing } from '../parts/listing.js';
import { Badge, Empty } from '../parts/states.js';
import { CopyButton, KeyPrefix, Time } from '../parts/values.js';
import { keyState } from './home.rules.js';
import { RotationPicture } from './rotation-picture.js';

const INTERFACES = ['scale', 'account', 'site', 'vision'] as const;

export function KeysPage({ query }: PageProps) {
  const [issued, setIssued] = useState<Pick<NewKeyProps, 'issued' | 'isRotation'>>();
  const [rotated, setRotated] = useState<ApiKey>();
  const isNew = query.has('new');
  return (
    <>
      {issued !== undefined && <NewKey {...issued} onClose={() => setIssued(undefined)} />}
      {isNew ? (
        <IssueForm
          onIssued={(key) => {
            setIssued({ issued: key, isRotation: false });
            change({ new: undefined });
          }}
        />
      ) : (
        <p class="actions">
          <a class="button primary" href={linkTo('keys', { new: 1 })}>
            New key
          </a>
        </p>
      )}
      {rotated !== undefined && (
        <RotateForm
          key={rotated.id}
          apiKey={rotated}
          onRotated={(key) => {
            setIssued({ issued: key, isRotation: true });
            setRotated(undefined);
            scrollTo({ top: 0 });
          }}
          onCancel={() => setRotated(undefined)}
        />
      )}
      <KeyList
        query={query}
        onRotate={(key) => {
          setRotated(key);
          scrollTo({ top: 0 });
        }}
      />
    </>
  );
}

function KeyList({ query, onRotate }: PageProps & { onRotate: (key: ApiKey) => void }) {
  const filters = pick(query, 'haulerId', 'page', 'cursor');
  const list = useLoad('/api-keys', filters);
  const haulerName = useHaulerName();
  const columns: readonly Column<ApiKey>[] = [
    {
      title: 'Key',
      cell: ({ prefix, name, interfaces, customerId, allCustomers, connectionId }) => (
        <>
          <KeyPrefix value={prefix} /> {name}
          <div class="hint">
            {interfaces.join(', ')}
            {connectionId !== null && <a href={linkTo('connections', { id: connectionId })}>partner of a connection</a>}
            {allCustomers ? ', all customers' : customerId !== null && `, customer ${customerId}`}
          </div>
        </>
      ),
    },
    {
      title: 'State',
      cell: (key) => (
        <>
          <Badge value={keyState(key, Date.now())} />
          <HandOver successor={key} all={list.data?.data ?? []} />
        </>
      ),
    },
    { title: 'Hauler', cell: ({ haulerId }) => haulerName(haulerId) },
    { title: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time value={lastUsedAt} />) },
    { title: 'Expires', cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time value={expiresAt} />) },
    { title: 'Actions', cell: (key) => <KeyActions apiKey={key} onRotate={onRotate} /> },
  ];
  return (
    <>
      <Filters>
        <HaulerFilter query={query} />
      </Filters>
      <Listing
        label="API keys"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        empty={<Empty title="No key here.">Partners need a key for their first call: choose “New key”.</Empty>}
      />
    </>
  );
}

/** How far a rotation is: the new key was issued and is with its user, it was used, the old key has ended. */
function HandOver({ successor, all }: { successor: ApiKey; all: readonly ApiKey[] }) {
  const { replacesId, activatedAt, revokedAt } = successor;
  if (replacesId === null || revokedAt !== null) return null;
  const old = all.find(({ id }) => id === replacesId);
  const end = old?.revokedAt ?? old?.expiresAt ?? null;
  const hasEnded = end !== null && Date.parse(end) <= Date.now();
  return (
    <ol class="hand-over hint" aria-label={`Rotation of ${old?.prefix ?? 'a key'}`}>
      <li class="done">issued</li>
      <li class={activatedAt === null ? '' : 'done'}>
        {activatedAt === null ? (
          'not used yet: send it'
        ) : (
          <>
            first used <Time value={activatedAt} />
          </>
        )}
      </li>
      <li class={hasEnded ? 'done' : ''}>
        {activatedAt === null || end === null ? (
          'the old key still works'
        ) : (
          <>
            the old key {hasEnded ? 'ended' : 'ends'} <Time value={end} />
          </>
        )}
      </li>
    </ol>
  );
}

function KeyActions({ apiKey, onRotate }: { apiKey: ApiKey; onRotate: (key: ApiKey) => void }) {
  const { canWrite } = useSession();
  const state = keyState(apiKey, Date.now());
  if (state === 'revoked' || state === 'expired') return null;
  return (
    <span class="actions">
      <button type="button" disabled={!canWrite} onClick={() => onRotate(apiKey)}>
        Rotate
      </button>
      <ActionButton
        label="Revoke"
        kind="danger"
        confirm="Calls with this key fail within 5 s."
        work={() => send('DELETE', `/api-keys/${apiKey.id}`)}
      />
    </span>
  );
}

const YEAR_MS = 365 * 86_400_000;
const OVERLAPS = [
  ['86400', '24 hours'],
  ['3600', '1 hour'],
  ['604800', '7 days'],
  ['0', 'none: the old key ends at the first use of the new one'],
] as const;

interface RotateFormProps {
  readonly apiKey: ApiKey;
  readonly onRotated: (key: IssuedApiKey) => void;
  readonly onCancel: () => void;
}

function RotateForm({ apiKey, onRotated, onCancel }: RotateFormProps) {
  const rotate = async (values: FormData) => {
    const overlapSeconds = Number(fieldText(values, 'overlapSeconds') ?? OVERLAPS[0][0]);
    const expires = fieldText(values, 'expiresAt');
    const expiresAt = expires === undefined ? {} : { expiresAt: new Date(expires).toISOString() };
    onRotated(await send('POST', `/api-keys/${apiKey.id}/rotate`, { overlapSeconds, ...expiresAt }));
  };
  return (
    <Form
      title={`Rotate ${apiKey.prefix}… ${apiKey.name ?? ''}`}
      submit="Rotate the key"
      work={rotate}
      onCancel={onCancel}
    >
      <RotationPicture kind="issued" />
      {apiKey.expiresAt !== null && (
        <Input
          name="expiresAt"
          label="The new key expires"
          type="datetime-local"
          value={localInput(new Date(Date.now() + YEAR_MS))}
          isRequired
          hint={`the old key expires ${new Date(apiKey.expiresAt).toLocaleString()}`}
        />
      )}
      <Select name="overlapSeconds" label="Overlap after the first use of the new key" choices={OVERLAPS} />
    </Form>
  );
}

interface NewKeyProps {
  readonly issued: IssuedApiKey;
  readonly isRotation: boolean;
  readonly onClose: () => void;
}

/** The only place that shows a key. */
function NewKey({ issued, isRotation, onClose }: NewKeyProps) {
  return (
    <section class="card highlight" aria-label="New key">
      <h2>{isRotation ? 'The key is rotated' : 'The key is issued'}</h2>
      <p>
        <strong>Copy the key now: it is never shown again.</strong>
      </p>
      <p class="secret">
        <code>{issued.key}</code> <CopyButton text={issued.key} label="Copy the key" />
      </p>
      {isRotation && <RotationPicture kind="issued" />}
      <button type="button" onClick={onClose}>
        I have stored the key
      </button>
    </section>
  );
}

const NO_CONNECTION = ['', 'None: the key opens the interfaces above'] as const;
const ALL_HAULERS = ['', 'All haulers (site and vision only)'] as const;

function IssueForm({ onIssued }: { onIssued: (key: IssuedApiKey) => void }) {
  const { choices } = useHaulers();
  const connections = useConnections() ?? [];
  const haulerName = useHaulerName();
  const issue = async (values: FormData) => {
    const expires = fieldText(values, 'expiresAt');
    const connectionId = fieldText(values, 'connectionId');
    const interfaces = INTERFACES.filter((each) => values.getAll('interfaces').includes(each));
    const body: Omit<IssueApiKeyRequest, 'expiresAt'> & { expiresAt?: string | undefined } = {
      ...optional('connectionId', connectionId),
      ...optional('haulerId', fieldText(values, 'haulerId')),
      ...optional('customerId', fieldText(values, 'customerId')),
      ...optional('name', fieldText(values, 'name')),
      ...(values.has('allCustomers') ? { allCustomers: true } : {}),
      ...(connectionId !== undefined && interfaces.length === 0 ? {} : { interfaces }),
      expiresAt: expires === undefined ? undefined : new Date(expires).toISOString(),
    };
    onIssued(await send('POST', '/api-keys', body));
  };
  return (
    <Form title="New key" submit="Issue the key" work={issue} onCancel={() => change({ new: undefined })}>
      <Input name="name" label="Name" hint="who uses it, such as “Weighbridge north”" />
      <fieldset class="choice">
        <legend>Interfaces</legend>
        {INTERFACES.map((each) => (
          <label key={each}>
            <input type="checkbox" name="interfaces" value={each} /> {each}
          </label>
        ))}
      </fieldset>
      <Select name="haulerId" label="Hauler" choices={[ALL_HAULERS, ...choices]} />
      <Input name="customerId" label="Customer" hint="the only one that a vision key reads" />
      <label class="field">
        <input type="checkbox" name="allCustomers" value="true" /> A vision key for all customers
      </label>
      <Select
        name="connectionId"
        label="For a partner who hosts: this connection only"
        choices={[
          NO_CONNECTION,
          ...connections.map(({ id, haulerId, interface: kind }) => [id, `${haulerName(haulerId)}, ${kind}`] as const),
        ]}
      />
      <Input name="expiresAt" label="Expires" type="datetime-local" hint="empty: never" />
    </Form>
  );
}

const optional = <Name extends string>(name: Name, value: string | undefined) =>
  (value === undefined ? {} : { [name]: value }) as Partial<Record<Name, string>>;
