import type { Hold } from '../../../contracts/admin/hold.dto.js';
import { HOLD_STATUSES } from '../../../contracts/admin/footage.values.js';
import type { PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { BY_HAULER, byChoice, byText } from '../../parts/filters.js';
import { NewLink } from '../../parts/forms.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Empty } from '../../parts/states.js';
import { Done, Time } from '../../parts/values.js';
import { HoldDetailsView } from './hold-details.js';
import { HoldForm } from './hold-form.js';

const LIVE_MS = 30_000;
const FILTERS = [
  BY_HAULER,
  byChoice('status', 'State', HOLD_STATUSES),
  byText('caseId', 'Case', 'the whole case id'),
  byText('truckId', 'Truck', 'the whole name'),
];

/** The footage that cases need. */
export function HoldsPage({ query }: PageProps) {
  const { canWrite } = useSession();
  const id = query.get('id');
  if (id !== null) return <HoldDetailsView id={id} query={query} />;
  return query.has('new') && canWrite ? <HoldForm query={query} /> : <HoldList query={query} />;
}

function HoldList({ query }: PageProps) {
  const haulerName = useHaulerName();
  const columns: readonly Column<Hold>[] = [
    { title: 'Case', cell: ({ id, caseId }) => <a href={linkWith('holds', query, { id })}>{caseId}</a> },
    {
      title: 'Footage',
      cell: ({ truckId, cameraId }) => (
        <>
          {truckId} <span class="hint">{cameraId === undefined ? 'all cameras' : `camera ${cameraId}`}</span>
        </>
      ),
    },
    {
      title: 'Range',
      cell: ({ from, to }) => (
        <>
          <Time value={from} /> to <Time value={to} after={from} />
        </>
      ),
    },
    { title: 'State', cell: ({ status }) => <Badge value={status} /> },
    { title: 'Hauler', cell: ({ haulerId }) => haulerName(haulerId) },
    { title: 'Created', cell: ({ createdAt, createdBy }) => <Done at={createdAt} by={createdBy} /> },
  ];
  return (
    <>
      <p class="actions">
        <NewLink href={linkTo('holds', { new: 1 })} label="New hold" />
        <a href="/docs/guides/holds" target="_blank" rel="noopener">
          How holds work
        </a>
      </p>
      <ListPage
        path="/holds"
        query={query}
        filters={FILTERS}
        everyMs={LIVE_MS}
        label="Holds"
        columns={columns}
        keyOf={({ id }) => id}
        empty={
          <Empty title="Nothing is held.">
            A hold keeps the footage that a case needs, however old it gets: choose “New hold”, or “Hold this range” on
            the page of a truck.
          </Empty>
        }
      />
    </>
  );
}
