import { useState } from 'preact/hooks';
import type { Connection, CreateConnectionRequest } from '../../contracts/admin/connection.dto.js';
import { change, linkTo, open, type PageProps } from '../client/address.js';
import { send } from '../client/api.js';
import { useHaulerName, useHaulers } from '../client/haulers.js';
import { useLoad } from '../client/load.js';
import { Filters, HaulerFilter, pick, SelectFilter } from '../parts/filters.js';
import { fieldText, Form, Input, Select } from '../parts/forms.js';
import { type Column, Listing } from '../parts/listing.js';
import { BackLink, Empty, ErrorBox, Loadable } from '../parts/states.js';
import { Time } from '../parts/values.js';
import { ConnectionDetails, ConnectionState } from './connection-details.js';

const LIVE_MS = 5_000;
const INTERFACES = [
  ['site', 'Site'],
  ['vision', 'Vision'],
] as const;

export function ConnectionsPage({ query }: PageProps) {
  const id = query.get('id');
  if (id !== null) return <ConnectionPage id={id} />;
  return query.has('new') ? <NewConnection /> : <ConnectionList query={query} />;
}

function ConnectionList({ query }: PageProps) {
  const filters = pick(query, 'haulerId', 'interface', 'page', 'cursor');
  const list = useLoad('/connections', filters, LIVE_MS);
  const haulerName = useHaulerName();
  const columns: readonly Column<Connection>[] = [
    {
      title: 'Connection',
      cell: ({ id, haulerId, interface: kind }) => (
        <a href={linkTo('connections', { id })}>
          {haulerName(haulerId)}, {kind}
        </a>
      ),
    },
    { title: 'State', cell: (connection) => <ConnectionState connection={connection} /> },
    { title: 'Address', cell: ({ baseUrl }) => <code>{baseUrl}</code> },
    { title: 'Next call', cell: ({ nextRunAt }) => <Time value={nextRunAt} /> },
  ];
  return (
    <>
      <p class="actions">
        <a class="button primary" href={linkTo('connections', { new: 1 })}>
          New connection
        </a>
      </p>
      <Filters>
        <HaulerFilter query={query} />
        <SelectFilter name="interface" label="Interface" query={query} choices={INTERFACES} />
      </Filters>
      <Listing
        label="Connections"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        filters={filters}
        empty={
          <Empty title="No connection yet.">
            A connection links a hauler to the Site or Vision interface of a partner. You need the partner's address and
            key: choose “New connection”.
          </Empty>
        }
      />
    </>
  );
}

function ConnectionPage({ id }: { id: string }) {
  const connection = useLoad(`/connections/${encodeURIComponent(id)}`, {}, LIVE_MS);
  return (
    <>
      <BackLink href={linkTo('connections')}>All connections</BackLink>
      <Loadable of={connection}>{(data) => <ConnectionDetails connection={data} />}</Loadable>
    </>
  );
}

function NewConnection() {
  const { choices, error } = useHaulers();
  const [kind, setKind] = useState('site');
  const create = async (values: FormData) => {
    const customerId = fieldText(values, 'customerId');
    const interval = fieldText(values, 'intervalSeconds');
    const body: CreateConnectionRequest = {
      haulerId: fieldText(values, 'haulerId') ?? '',
      interface: kind === 'vision' ? 'vision' : 'site',
      baseUrl: fieldText(values, 'baseUrl') ?? '',
      apiKey: fieldText(values, 'apiKey') ?? '',
      ...(customerId === undefined || kind === 'site' ? {} : { customerId }),
      ...(interval === undefined ? {} : { intervalSeconds: Number(interval) }),
    };
    const { id } = await send('POST', '/connections', body);
    open(linkTo('connections', { id }));
  };
  return (
    <>
      {error !== undefined && <ErrorBox error={error} />}
      <Form title="New connection" submit="Create" work={create} onCancel={() => change({ new: undefined })}>
        <Select name="haulerId" label="Hauler" isRequired choices={choices} />
        <fieldset class="choice">
          <legend>Interface that the partner hosts</legend>
          {INTERFACES.map(([value, label]) => (
            <label key={value}>
              <input type="radio" name="interface" checked={kind === value} onChange={() => setKind(value)} /> {label}
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
