import { useState } from 'preact/hooks';
import type { Connection } from '../../contracts/admin/connection.dto.js';
import { linkTo, open, type PageProps } from '../client/address.js';
import { useHaulerName } from '../client/haulers.js';
import { useLoad } from '../client/load.js';
import { Filters, HaulerFilter, pick, SelectFilter } from '../parts/filters.js';
import { NewLink } from '../parts/forms.js';
import { type Column, Listing } from '../parts/listing.js';
import { BackLink, Empty, Loadable } from '../parts/states.js';
import { Time } from '../parts/values.js';
import { ConnectionDetails } from './connection-details.js';
import { INTERFACES, NewConnection } from './connection-forms.js';
import { ConnectionState } from './connection-state.js';

const LIVE_MS = 5_000;

export function ConnectionsPage({ query }: PageProps) {
  const [created, setCreated] = useState<string>();
  const id = query.get('id');
  if (id !== null) return <ConnectionPage key={id} id={id} isNew={id === created} query={query} />;
  if (!query.has('new')) return <ConnectionList query={query} />;
  return (
    <NewConnection
      query={query}
      onCreated={(connection) => {
        setCreated(connection);
        open(linkTo('connections', { id: connection }));
      }}
    />
  );
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
        <NewLink href={linkTo('connections', { new: 1 })} label="New connection" />
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

function ConnectionPage({ id, isNew, query }: PageProps & { id: string; isNew: boolean }) {
  const connection = useLoad(`/connections/${encodeURIComponent(id)}`, {}, LIVE_MS);
  return (
    <>
      <BackLink href={linkTo('connections')}>All connections</BackLink>
      <Loadable of={connection}>
        {(data) => <ConnectionDetails connection={data} isNew={isNew} query={query} />}
      </Loadable>
    </>
  );
}
