import { useState } from 'preact/hooks';
import type { Connection } from '../../../contracts/admin/connections.routes.js';
import { open, type PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { useHaulerName } from '../../client/haulers.js';
import { BY_HAULER, byChoice } from '../../parts/filters.js';
import { NewLink } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Detail, Empty } from '../../parts/states.js';
import { Time } from '../../parts/values.js';
import { ConnectionDetails } from './connection-details.js';
import { INTERFACES, NewConnection } from './connection-forms.js';
import { FailedShare, HealthState, LastFailure } from '../../parts/health.js';

const LIVE_MS = 5_000;
const FILTERS = [BY_HAULER, byChoice('interface', 'Interface', INTERFACES)];

export function ConnectionsPage({ query }: PageProps) {
  const [created, setCreated] = useState<string>();
  const id = query.get('id');
  if (id !== null) {
    return (
      <Detail path={`/connections/${encodeURIComponent(id)}`} everyMs={LIVE_MS} list="All connections">
        {(data) => <ConnectionDetails connection={data} isNew={id === created} query={query} />}
      </Detail>
    );
  }
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
  const haulerName = useHaulerName();
  const columns: readonly Column<Connection>[] = [
    {
      title: 'Connection',
      cell: ({ id, haulerId, interface: kind, baseUrl }) => (
        <>
          <a href={linkWith('connections', query, { id })}>
            {haulerName(haulerId)}, {kind}
          </a>
          <div class="hint clamp one">{baseUrl.replace(/^https?:\/\//, '')}</div>
        </>
      ),
    },
    { title: 'State', cell: (connection) => <HealthState of={connection} /> },
    { title: 'Last success', cell: ({ health }) => <Time value={health?.lastSuccessAt} /> },
    { title: 'Last failure', cell: (connection) => <LastFailure of={connection} /> },
    { title: 'Failed in 24 h', isNumber: true, cell: (connection) => <FailedShare of={connection} /> },
    { title: 'Next call', cell: ({ nextRunAt }) => <Time value={nextRunAt} /> },
  ];
  return (
    <>
      <NewLink href={linkTo('connections', { new: 1 })} label="New connection" />
      <ListPage
        path="/connections"
        query={query}
        filters={FILTERS}
        everyMs={LIVE_MS}
        label="Connections"
        columns={columns}
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
