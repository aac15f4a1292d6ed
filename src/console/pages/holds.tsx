import type { Hold } from '../../contracts/admin/hold.dto.js';
import { HOLD_STATUSES } from '../../contracts/admin/hold.values.js';
import { linkTo, linkWith, type PageProps } from '../client/address.js';
import { useHaulerName } from '../client/haulers.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { Filters, HaulerFilter, pick, SelectFilter, TextFilter } from '../parts/filters.js';
import { type Column, Listing } from '../parts/listing.js';
import { Badge, Empty } from '../parts/states.js';
import { Time } from '../parts/values.js';
import { HoldDetailsView } from './hold-details.js';
import { HoldForm } from './hold-form.js';

const LIVE_MS = 30_000;
const FILTERS = ['haulerId', 'truckId', 'caseId', 'status'] as const;

/** The footage that cases need. */
export function HoldsPage({ query }: PageProps) {
  const { canWrite } = useSession();
  const id = query.get('id');
  if (id !== null) return <HoldDetailsView key={id} id={id} query={query} />;
  return query.has('new') && canWrite ? <HoldForm query={query} /> : <HoldList query={query} />;
}

function HoldList({ query }: PageProps) {
  const { canWrite } = useSession();
  const haulerName = useHaulerName();
  const filters = pick(query, ...FILTERS);
  const list = useLoad('/holds', { ...filters, ...pick(query, 'page', 'cursor') }, LIVE_MS);
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
          <Time value={from} /> to <Time value={to} />
        </>
      ),
    },
    { title: 'State', cell: ({ status }) => <Badge value={status} /> },
    { title: 'Hauler', cell: ({ haulerId }) => haulerName(haulerId) },
    {
      title: 'Created',
      cell: ({ createdAt, createdBy }) => (
        <>
          <Time value={createdAt} /> <span class="hint">by {createdBy}</span>
        </>
      ),
    },
  ];
  return (
    <>
      <p class="actions">
        {canWrite && (
          <a class="button primary" href={linkTo('holds', { new: 1 })}>
            New hold
          </a>
        )}
        <a href="/docs/guides/holds" target="_blank" rel="noopener">
          How holds work
        </a>
      </p>
      <Filters>
        <HaulerFilter query={query} />
        <SelectFilter name="status" label="State" query={query} choices={HOLD_STATUSES} />
        <TextFilter name="caseId" label="Case" query={query} hint="the whole case id" />
        <TextFilter name="truckId" label="Truck" query={query} hint="the whole name" />
      </Filters>
      <Listing
        label="Holds"
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        filters={filters}
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
