import { useState } from 'preact/hooks';
import type { ApiKey, IssuedApiKey, KeyRemoval } from '../../../contracts/admin/api-keys.routes.js';
import { INTERFACES } from '../../../contracts/common/interfaces.values.js';
import { change, open, type PageProps } from '../../client/address.js';
import { send } from '../../client/api.js';
import type { BodyOf } from '../../client/contract.js';
import { useConnectionChoices, useConnectionName, useHaulerName, useHaulers } from '../../client/haulers.js';
import {
  ActionButton,
  bodyOf,
  FieldErrorOf,
  Form,
  Input,
  instantOf,
  Needing,
  NewLink,
  Select,
} from '../../parts/forms.js';
import { BY_HAULER, localInput } from '../../parts/filters.js';
import { Facts, formatCount, Id, KeyPrefix, Secret, Time } from '../../parts/values.js';
import { wholeTime } from '../../parts/zone.rules.js';
import { NextStep } from '../haulers/hauler-setup.js';
import { Badge, Card, Detail, DetailHead, Empty, keyState, State } from '../../parts/states.js';
import { linkTo, linkWith } from '../../client/links.js';
import { useLoad } from '../../client/load.js';
import { useSession } from '../../client/session.js';
import { type Column, ListPage } from '../../parts/listing.js';

const YEAR_MS = 365 * 86_400_000;
const OVERLAPS = [
  ['86400', '24 hours'],
  ['3600', '1 hour'],
  ['604800', '7 days'],
  ['0', 'none: the old key ends at the first use of the new one'],
] as const;

const ROTATION =
  'The old key works until the new one is first used, and for the overlap after that. The new key works at once.';

interface RotateFormProps {
  readonly apiKey: ApiKey;
  readonly onRotated: (key: IssuedApiKey) => void;
  readonly onCancel: () => void;
}

function RotateForm({ apiKey, onRotated, onCancel }: RotateFormProps) {
  const rotate = async (values: FormData) => {
    const body = bodyOf<BodyOf<'POST', `/api-keys/${string}/rotate`>>(values, {
      overlapSeconds: Number,
      expiresAt: instantOf,
    });
    onRotated(await send('POST', `/api-keys/${apiKey.id}/rotate`, body));
  };
  return (
    <Form
      title={`Rotate ${apiKey.prefix}… ${apiKey.name ?? ''}`}
      submit="Rotate the key"
      work={rotate}
      onCancel={onCancel}
    >
      <p class="hint">{ROTATION}</p>
      {apiKey.expiresAt !== null && (
        <Input
          name="expiresAt"
          label="The new key expires"
          type="datetime-local"
          value={localInput(new Date(Date.now() + YEAR_MS))}
          isRequired
          hint={`the old key expires ${wholeTime(apiKey.expiresAt)}`}
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

const NewKey = ({ issued, isRotation, onClose }: NewKeyProps) => (
  <Card title={isRotation ? 'The key is rotated' : 'The key is issued'} label="New key" kind="highlight">
    {isRotation && <p class="hint">{ROTATION}</p>}
    {!isRotation && issued.haulerId !== null && <NextStep haulerId={issued.haulerId} />}
    <Secret of="key" value={issued.key} onClose={onClose} />
  </Card>
);

const NO_CONNECTION = ['', 'None: the key opens the interfaces above'] as const;
const ALL_HAULERS = ['', 'All haulers (site and vision only)'] as const;

function IssueForm({ query, onIssued }: PageProps & { onIssued: (key: IssuedApiKey) => void }) {
  const { choices } = useHaulers();
  const connections = useConnectionChoices() ?? [];
  const [chosen, setChosen] = useState((query.get('interfaces') ?? '').split(','));
  const cancel = () => change({ new: undefined, interfaces: undefined });
  const issue = async (values: FormData) => {
    const body = bodyOf<BodyOf<'POST', '/api-keys'>>(values, {
      interfaces: (_, all) => INTERFACES.filter((each) => all.includes(each)),
      allCustomers: () => true,
      expiresAt: instantOf,
    });
    onIssued(await send('POST', '/api-keys', body));
  };
  return (
    <Form title="New key" submit="Issue the key" work={issue} onCancel={cancel}>
      <Input name="name" label="Name" hint="who uses it, such as “Weighbridge north”" />
      <fieldset class="choice">
        <legend>Interfaces</legend>
        {INTERFACES.map((each) => (
          <label key={each}>
            <input
              type="checkbox"
              name="interfaces"
              value={each}
              checked={chosen.includes(each)}
              onChange={({ currentTarget: { checked } }) =>
                setChosen(checked ? [...chosen, each] : chosen.filter((other) => other !== each))
              }
            />{' '}
            {each}
          </label>
        ))}
        <FieldErrorOf name="interfaces" />
      </fieldset>
      <Select
        name="haulerId"
        label="Hauler"
        choices={[ALL_HAULERS, ...choices]}
        value={query.get('haulerId') ?? undefined}
      />
      {chosen.includes('vision') && (
        <>
          <Input name="customerId" label="Customer" hint="the only one whose videos the key reads" />
          <label class="field">
            <input type="checkbox" name="allCustomers" value="true" /> The key reads the videos of all customers
          </label>
        </>
      )}
      <Select
        name="connectionId"
        label="For a partner who hosts: this connection only"
        value={query.get('connectionId') ?? undefined}
        choices={[NO_CONNECTION, ...connections]}
      />
      <Input name="expiresAt" label="Expires" type="datetime-local" hint="empty: never" />
    </Form>
  );
}

const FILTERS = [BY_HAULER];
const UNUSED = 'not used yet: send it';

export function KeysPage({ query }: PageProps) {
  const [issued, setIssued] = useState<Pick<NewKeyProps, 'issued' | 'isRotation'>>();
  const id = query.get('id');
  const show = (key: IssuedApiKey, isRotation: boolean) => {
    setIssued({ issued: key, isRotation });
    open(linkTo('keys', { id: key.id }));
    scrollTo({ top: 0 });
  };
  return (
    <>
      {issued !== undefined && <NewKey {...issued} onClose={() => setIssued(undefined)} />}
      {id !== null ? (
        <Detail path={`/api-keys/${encodeURIComponent(id)}`} list="All keys">
          {(data) => <KeyDetails apiKey={data} onRotated={(key) => show(key, true)} />}
        </Detail>
      ) : (
        <Needing isOfAllHaulers>
          {query.has('new') ? (
            <IssueForm query={query} onIssued={(key) => show(key, false)} />
          ) : (
            <>
              <NewLink href={linkTo('keys', { new: 1 })} label="New key" />
              <KeyList query={query} />
            </>
          )}
        </Needing>
      )}
    </>
  );
}

/** What a key opens. */
function useOpened(): (key: ApiKey) => string {
  const haulerName = useHaulerName();
  const nameOf = useConnectionName();
  // A customer is a hauler unless the partner has a name of its own for it.
  const customerName = (id: string) => (haulerName(id) === id ? id : haulerName(id));
  return ({ interfaces, connectionId, allCustomers, customerId }) =>
    [
      ...interfaces,
      ...(connectionId === null ? [] : [`partner of ${nameOf(connectionId)}`]),
      ...(allCustomers ? ['all customers'] : customerId === null ? [] : [`customer ${customerName(customerId)}`]),
    ].join(', ');
}

function KeyList({ query }: PageProps) {
  const haulerName = useHaulerName();
  const opened = useOpened();
  const columns: readonly Column<ApiKey>[] = [
    {
      title: 'Key',
      cell: ({ id, prefix, name }) => (
        <a href={linkWith('keys', query, { id })}>
          <KeyPrefix value={prefix} /> {name}
        </a>
      ),
    },
    { title: 'Opens', cell: opened },
    {
      title: 'State',
      cell: (key) => <State value={keyState(key, Date.now())} reason={isWaiting(key) ? UNUSED : null} />,
    },
    { title: 'Hauler', cell: ({ haulerId }) => haulerName(haulerId) },
    { title: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time value={lastUsedAt} />) },
    { title: 'Expires', cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time value={expiresAt} />) },
  ];
  return (
    <ListPage
      path="/api-keys"
      query={query}
      filters={FILTERS}
      label="API keys"
      columns={columns}
      empty={<Empty title="No key yet.">Partners need a key for their first call: choose “New key”.</Empty>}
    />
  );
}

/** The successor of a key that nobody has used. */
const isWaiting = ({ replacesId, activatedAt, revokedAt }: ApiKey): boolean =>
  replacesId !== null && activatedAt === null && revokedAt === null;

function KeyDetails({ apiKey, onRotated }: { apiKey: ApiKey; onRotated: (key: IssuedApiKey) => void }) {
  const [isRotating, setRotating] = useState(false);
  const haulerName = useHaulerName();
  const opened = useOpened();
  const { id, prefix, name, haulerId, lastUsedAt, expiresAt, revokedAt, activatedAt } = apiKey;
  const isSuccessor = apiKey.replacesId !== null;
  return (
    <>
      <DetailHead
        title={name ?? `${prefix}…`}
        label="Key"
        badge={<Badge value={keyState(apiKey, Date.now())} />}
        facts={{
          'Last used': lastUsedAt === null ? 'never' : <Time value={lastUsedAt} />,
          [revokedAt === null ? 'Expires' : 'Revoked']:
            (revokedAt ?? expiresAt) === null ? 'never' : <Time value={revokedAt ?? expiresAt} />,
        }}
      >
        <Facts
          of={{
            Key: <KeyPrefix value={prefix} />,
            Opens: opened(apiKey),
            Hauler: haulerName(haulerId),
            Exchanges: <a href={linkTo('exchanges', { apiKeyId: id })}>calls with this key</a>,
            Issued: <Time value={apiKey.createdAt} />,
            'First used': isSuccessor && (isWaiting(apiKey) ? UNUSED : <Time value={activatedAt} />),
            Replaces: isSuccessor && <OldKey successor={apiKey} />,
            Id: <Id value={id} />,
          }}
        />
        <KeyActions apiKey={apiKey} onRotate={() => setRotating(true)} />
      </DetailHead>
      {isRotating && <RotateForm apiKey={apiKey} onRotated={onRotated} onCancel={() => setRotating(false)} />}
    </>
  );
}

/** From the first use of a successor on, the key that it replaces has an end. */
function OldKey({ successor: { replacesId, activatedAt } }: { successor: ApiKey }) {
  const { data: old } = useLoad(`/api-keys/${replacesId ?? ''}`);
  const end = old?.revokedAt ?? old?.expiresAt ?? null;
  const hasEnded = end !== null && Date.parse(end) <= Date.now();
  if (end === null || !(hasEnded || activatedAt !== null)) return <>the old key still works</>;
  return (
    <>
      the old key {hasEnded ? 'ended' : 'ends'} <Time value={end} />
    </>
  );
}

function usesText(ending: KeyRemoval | undefined): string {
  const lastUsedAt = ending?.lastUsedAt ?? null;
  const sessions = ending?.sessions ?? 0;
  const use = lastUsedAt === null ? 'It was never used.' : `It was last used ${wholeTime(lastUsedAt)}.`;
  return sessions === 0 ? use : `${use} It ends ${formatCount(sessions)} sessions of the console.`;
}

function KeyActions({ apiKey, onRotate }: { apiKey: ApiKey; onRotate: () => void }) {
  const { canWrite } = useSession();
  const state = keyState(apiKey, Date.now());
  if (state === 'revoked' || state === 'expired') return null;
  return (
    <p class="actions">
      <button type="button" disabled={!canWrite} onClick={onRotate}>
        Rotate this key
      </button>
      <ActionButton
        label="Revoke this key"
        kind="danger"
        confirm={async () => {
          const ending = await send('DELETE', `/api-keys/${apiKey.id}?dryRun=true`);
          return `Calls with ${apiKey.prefix}… (${apiKey.name ?? 'without a name'}) fail within 5 s. ${usesText(ending)}`;
        }}
        work={() => send('DELETE', `/api-keys/${apiKey.id}`)}
      />
    </p>
  );
}
