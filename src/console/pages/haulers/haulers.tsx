import type { SetTicketFootage, TicketFootageSetting } from '../../../contracts/admin/footage.dto.js';
import { send } from '../../client/api.js';
import { useAll, useLoad } from '../../client/load.js';
import { bodyOf, Form, Input, Needing, NewLink, Select } from '../../parts/forms.js';
import { Detail, DetailHead, Empty, ErrorBox, Loading } from '../../parts/states.js';
import type { Hauler } from '../../../contracts/admin/haulers.routes.js';
import { change, open, type PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { useConnections } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { formatCount, Id, Time } from '../../parts/values.js';
import { HealthState } from '../../parts/health.js';
import { SetupSteps } from './hauler-setup.js';

/** Which custom field of a hauler's tickets names the truck, and where its footage is. */
function FootageSetting({ haulerId }: { haulerId: string }) {
  const connections = useAll('/connections', { haulerId, interface: 'vision' }).data;
  // Without a connection there is no setting either.
  const isPossible = connections !== undefined && connections.length > 0;
  const setting = useLoad(isPossible ? `/haulers/${encodeURIComponent(haulerId)}/ticket-footage` : undefined);
  const isUnset = setting.error?.status === 404;
  if (setting.error !== undefined && !isUnset) return <ErrorBox error={setting.error} onRetry={setting.reload} />;
  if (connections === undefined || (isPossible && setting.data === undefined && !isUnset)) return <Loading />;
  if (connections.length === 0) return null;
  const choices = connections.map(({ id, baseUrl }) => [id, baseUrl] as const);
  const stored = isUnset ? undefined : setting.data;
  return <SettingForm key={stored?.updatedAt ?? ''} haulerId={haulerId} stored={stored} choices={choices} />;
}

interface SettingFormProps {
  readonly haulerId: string;
  readonly stored: TicketFootageSetting | undefined;
  readonly choices: readonly (readonly [id: string, address: string])[];
}

function SettingForm({ haulerId, stored, choices }: SettingFormProps) {
  const path = `/haulers/${haulerId}/ticket-footage` as const;
  const fields = useFieldNames(haulerId);
  const save = (values: FormData) => send('PUT', path, bodyOf<SetTicketFootage>(values, { cameras: namesIn }));
  const hint =
    fields.length === 0
      ? 'the custom field of a ticket, such as truckNumber'
      : `custom fields of the newest tickets: ${fields.join(', ')}`;
  return (
    <Form title="Footage of tickets" submit={stored === undefined ? 'Set it up' : 'Save'} work={save}>
      <Input
        name="truckField"
        label="Custom field that names the truck"
        value={stored?.truckField}
        isRequired
        hint={hint}
      />
      <Select
        name="connectionId"
        label="Partner who records the truck"
        choices={choices}
        value={stored?.connectionId ?? (choices.length === 1 ? choices[0]?.[0] : undefined)}
        isRequired
      />
      <Input
        name="cameras"
        label="Cameras"
        value={stored?.cameras.join(', ')}
        hint="such as front, rear; empty: all that are known of the truck"
      />
    </Form>
  );
}

const namesIn = (text: string): string[] =>
  text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

/** Names of custom fields in the newest tickets of the hauler. */
function useFieldNames(haulerId: string): string[] {
  const tickets = useLoad('/tickets', { haulerId, pageSize: 20 }).data?.data ?? [];
  return [...new Set(tickets.flatMap(({ customFields }) => Object.keys(customFields ?? {})))].slice(0, 8);
}

export function HaulersPage({ query }: PageProps) {
  const id = query.get('id');
  if (id !== null) return <HaulerPage id={id} />;
  return (
    <Needing isOfAllHaulers>
      {query.has('new') ? (
        <NewHauler onCancel={() => change({ new: undefined })} />
      ) : (
        <>
          <NewLink href={linkTo('haulers', { new: 1 })} label="New hauler" />
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
    <Detail path={`/haulers/${encodeURIComponent(id)}`} list="All haulers">
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
