import type { Hauler } from '../../../contracts/admin/hauler.dto.js';
import { change, open, type PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { send } from '../../client/api.js';
import { useConnections } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { bodyOf, Form, Input, Needing, NewLink } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Detail, DetailHead, Empty } from '../../parts/states.js';
import { formatCount, Id, Time } from '../../parts/values.js';
import { HealthState } from '../../parts/health.js';
import { FootageSetting } from './footage-setting.js';
import { SetupSteps } from './hauler-setup.js';

export function HaulersPage({ query }: PageProps) {
  const id = query.get('id');
  if (id !== null) return <HaulerPage id={id} />;
  return (
    <Needing isOfAllHaulers>
      {query.has('new') ? (
        <NewHauler onCancel={() => change({ new: undefined })} />
      ) : (
        <>
          <p class="actions">
            <NewLink href={linkTo('haulers', { new: 1 })} label="New hauler" />
          </p>
          <HaulerList query={query} />
        </>
      )}
    </Needing>
  );
}

function HaulerList({ query }: PageProps) {
  const connections = useConnections();
  const columns: readonly Column<Hauler>[] = [
    { title: 'Hauler', cell: ({ id, name }) => <a href={linkTo('haulers', { id })}>{name}</a> },
    { title: 'Last push', cell: ({ health }) => <Time value={health?.lastPushAt} /> },
    { title: 'Refused in 24 h', isNumber: true, cell: ({ health }) => formatCount(health?.refusedPushes ?? 0) },
    ...(connections === undefined ? [] : [connectionColumn(connections)]),
    { title: 'Id', cell: ({ id }) => <code>{id}</code> },
  ];
  return (
    <ListPage
      path="/haulers"
      query={query}
      label="Haulers"
      columns={columns}
      keyOf={({ id }) => id}
      empty={
        <Empty title="No hauler yet.">
          A hauler is a company whose tickets, sites and videos arrive here: choose “New hauler”.
        </Empty>
      }
    />
  );
}

const connectionColumn = (connections: NonNullable<ReturnType<typeof useConnections>>): Column<Hauler> => ({
  title: 'Connections',
  cell: ({ id }) =>
    connections
      .filter(({ haulerId }) => haulerId === id)
      .map((each, index) => (
        <span key={each.id}>
          {index > 0 && ' '}
          <a href={linkTo('connections', { id: each.id })}>{each.interface}</a> <HealthState of={each} />
        </span>
      )),
});

/** Leads on to the next step of the new hauler. */
export function NewHauler({ onCancel }: { onCancel?: () => void }) {
  const create = async (values: FormData) => {
    open(linkTo('haulers', { id: (await send('POST', '/haulers', bodyOf(values))).id }));
  };
  return (
    <Form title="New hauler" submit="Create the hauler" work={create} {...(onCancel && { onCancel })}>
      <Input name="name" label="Name of the hauler" isRequired hint="such as Green Valley Hauling" />
      <Input name="id" label="Id" hint="a UUID that its partners know already; empty: a new one" />
    </Form>
  );
}

function HaulerPage({ id }: { id: string }) {
  const { hasPlatform } = useSession();
  return (
    <Detail path={`/haulers/${encodeURIComponent(id)}`} back={linkTo('haulers')} list="All haulers">
      {(data) => (
        <>
          <DetailHead
            title={data.name}
            label="Hauler"
            facts={{
              'Its records': <Records id={data.id} />,
              Created: <Time value={data.createdAt} />,
              Id: <Id value={data.id} />,
            }}
          />
          <SetupSteps haulerId={data.id} />
          {hasPlatform && <FootageSetting haulerId={data.id} />}
        </>
      )}
    </Detail>
  );
}

/** The lists of a hauler. */
const Records = ({ id }: { id: string }) => (
  <>
    {RECORDS.map(([page, title], index) => (
      <span key={page}>
        {index > 0 && ' · '}
        <a href={linkTo(page, { haulerId: id })}>{title}</a>
      </span>
    ))}
  </>
);

const RECORDS = [
  ['tickets', 'Tickets'],
  ['accounts', 'Accounts'],
  ['coverage', 'Coverage'],
  ['exchanges', 'Exchanges'],
  ['keys', 'Keys'],
] as const;
