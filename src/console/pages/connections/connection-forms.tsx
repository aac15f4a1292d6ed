import { useState } from 'preact/hooks';
import type { Connection } from '../../../contracts/admin/connections.routes.js';
import { change, type PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import type { BodyOf } from '../../client/contract.js';
import { useHaulers } from '../../client/haulers.js';
import { bodyOf, Form, Input, Select } from '../../parts/forms.js';
import { ErrorBox } from '../../parts/states.js';

type ConnectionPath = `/connections/${string}`;

export const INTERFACES = [
  ['site', 'Site: disposal sites'],
  ['vision', 'Vision: videos of the trucks'],
] as const;

export function NewConnection({ query, onCreated }: PageProps & { onCreated: (id: string) => void }) {
  const { choices, error, isLoaded } = useHaulers();
  const [kind, setKind] = useState<string>(query.get('interface') ?? 'site');
  const create = async (values: FormData) => {
    const body = bodyOf<BodyOf<'POST', '/connections'>>(values, { intervalSeconds: Number });
    onCreated((await send('POST', '/connections', body)).id);
  };
  return (
    <>
      {error !== undefined && <ErrorBox error={error} />}
      {isLoaded && choices.length === 0 && (
        <p class="notice">
          A connection belongs to a hauler: <a href={linkTo('haulers', { new: 1 })}>create the hauler first</a>.
        </p>
      )}
      <Form
        title="New connection"
        submit="Create and check the connection"
        work={create}
        onCancel={() => change({ new: undefined })}
      >
        <Select
          name="haulerId"
          label="Hauler"
          isRequired
          choices={choices}
          value={query.get('haulerId') ?? undefined}
        />
        <fieldset class="choice">
          <legend>Interface that the partner hosts</legend>
          {INTERFACES.map(([value, label]) => (
            <label key={value}>
              <input
                type="radio"
                name="interface"
                value={value}
                checked={kind === value}
                onChange={() => setKind(value)}
              />{' '}
              {label}
            </label>
          ))}
        </fieldset>
        <Input
          name="baseUrl"
          label="Address of the partner"
          type="url"
          isRequired
          hint="such as https://partner.example"
        />
        <Input
          name="apiKey"
          label="Key that the partner issued"
          type="password"
          isRequired
          hint="it is never shown again"
        />
        {kind === 'vision' && (
          <Input name="customerId" label="Customer, as the partner names it" hint="empty: the hauler's id" />
        )}
        <Input name="intervalSeconds" label="Seconds between two calls" type="number" hint="empty: the default" />
      </Form>
    </>
  );
}

interface EditFormProps {
  readonly connection: Connection;
  readonly path: ConnectionPath;
  readonly onClose: () => void;
}

/** A key belongs to the origin that it was saved with: another one needs its own key. */
export function EditForm({ connection, path, onClose }: EditFormProps) {
  const [address, setAddress] = useState(connection.baseUrl);
  const isMoved = originOf(address) !== originOf(connection.baseUrl);
  const store = async (values: FormData) => {
    // Empty: the customer is the hauler.
    const emptied = { customerId: connection.haulerId };
    await send('PATCH', path, {
      ...(connection.interface === 'vision' ? emptied : {}),
      ...bodyOf<BodyOf<'PATCH', ConnectionPath>>(values, { intervalSeconds: Number }),
    });
    onClose();
  };
  return (
    <Form title="Change the connection" submit="Store the changes" work={store} onCancel={onClose}>
      <Input
        name="baseUrl"
        label="Address of the partner"
        type="url"
        isRequired
        value={connection.baseUrl}
        onInput={setAddress}
      />
      <Input
        name="apiKey"
        label={isMoved ? 'Key for this address' : 'Another key'}
        type="password"
        isRequired={isMoved}
        hint={isMoved ? 'the stored key belongs to the former address' : 'empty: the stored key stays'}
      />
      <Input
        name="nextApiKey"
        label="Next key of the partner"
        type="password"
        hint="used from when the partner refuses the current key"
      />
      {connection.interface === 'vision' && (
        <Input
          name="customerId"
          label="Customer"
          value={connection.customerId ?? ''}
          hint="empty: the id of the hauler"
        />
      )}
      <Input
        name="intervalSeconds"
        label="Seconds between two calls"
        type="number"
        isRequired
        value={connection.intervalSeconds}
      />
    </Form>
  );
}

const originOf = (address: string): string => (URL.canParse(address) ? new URL(address).origin : address);
