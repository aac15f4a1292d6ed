import { useState } from 'preact/hooks';
import type { ApiKey, IssueApiKeyRequest, IssuedApiKey } from '../../contracts/admin/api-key.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { change, linkTo, type PageProps } from '../client/address.js';
import { send } from '../client/api.js';
import { useLoad } from '../client/load.js';
import { Filters, HaulerFilter, pick } from '../parts/filters.js';
import { ActionButton, fieldText, Form, Input, Select } from '../parts/forms.js';
import { type Column, Listing } from '../parts/listing.js';
import { Badge, Empty } from '../parts/states.js';
import { CopyButton, Time, useHaulerName, useHaulers } from '../parts/values.js';
import { RotationPicture } from './rotation-picture.js';

const INTERFACES = ['scale', 'account', 'site', 'vision'] as const;
const SOON_MS = 14 * 86_400_000;

export function KeysPage({ query }: PageProps) {
  const [issued, setIssued] = useState<Pick<NewKeyProps, 'issued' | 'isRotation'>>();
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
      <KeyList query={query} onRotated={(key) => setIssued({ issued: key, isRotation: true })} />
    </>
  );
}

function KeyList({ query, onRotated }: PageProps & { onRotated: (key: IssuedApiKey) => void }) {
  const filters = pick(query, 'haulerId', 'page');
  const list = useLoad<List<ApiKey>>('/api-keys', filters);
  const haulerName = useHaulerName();
  const columns: readonly Column<ApiKey>[] = [
    {
      title: 'Key',
      cell: ({ prefix, name }) => (
        <>
          <code>{prefix}…</code> {name}
        </>
      ),
    },
    { title: 'State', cell: (key) => <Badge value={stateOf(key)} /> },
    { title: 'Interfaces', cell: ({ interfaces }) => interfaces.join(', ') },
    { title: 'Hauler', cell: ({ haulerId }) => haulerName(haulerId) },
    { title: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : <Time value={lastUsedAt} />) },
    { title: 'Expires', cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time value={expiresAt} />) },
    { title: 'Actions', cell: (key) => <KeyActions apiKey={key} onRotated={onRotated} /> },
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

function stateOf({ revokedAt, expiresAt }: ApiKey): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  const left = new Date(expiresAt).getTime() - Date.now();
  return left <= 0 ? 'expired' : left < SOON_MS ? 'expiring' : 'active';
}

function KeyActions({ apiKey, onRotated }: { apiKey: ApiKey; onRotated: (key: IssuedApiKey) => void }) {
  const state = stateOf(apiKey);
  if (state === 'revoked' || state === 'expired') return <span class="muted">none</span>;
  const rotate = async () => {
    onRotated(await send<IssuedApiKey>('POST', `/api-keys/${apiKey.id}/rotate`, {}));
    scrollTo({ top: 0 });
  };
  return (
    <span class="actions">
      <ActionButton label="Rotate" work={rotate} />
      <ActionButton
        label="Revoke"
        kind="danger"
        confirm="Calls with this key fail within 5 s."
        work={() => send('DELETE', `/api-keys/${apiKey.id}`)}
      />
    </span>
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

function IssueForm({ onIssued }: { onIssued: (key: IssuedApiKey) => void }) {
  const { data: haulers } = useHaulers();
  const choices = [
    ['', 'All haulers (site and vision only)'] as const,
    ...(haulers?.data ?? []).map(({ id, name }) => [id, name] as const),
  ];
  const issue = async (values: FormData) => {
    const expires = fieldText(values, 'expiresAt');
    const body: Omit<IssueApiKeyRequest, 'expiresAt'> & { expiresAt?: string | undefined } = {
      ...optional('haulerId', fieldText(values, 'haulerId')),
      ...optional('customerId', fieldText(values, 'customerId')),
      ...optional('name', fieldText(values, 'name')),
      interfaces: INTERFACES.filter((each) => values.getAll('interfaces').includes(each)),
      expiresAt: expires === undefined ? undefined : new Date(expires).toISOString(),
    };
    onIssued(await send<IssuedApiKey>('POST', '/api-keys', body));
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
      <Select name="haulerId" label="Hauler" choices={choices} />
      <Input name="customerId" label="Customer (limits a vision key)" />
      <Input name="expiresAt" label="Expires" type="datetime-local" hint="empty: never" />
    </Form>
  );
}

const optional = <Name extends string>(name: Name, value: string | undefined) =>
  (value === undefined ? {} : { [name]: value }) as Partial<Record<Name, string>>;
