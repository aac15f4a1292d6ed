import type { Erasure } from '../../contracts/admin/erasure.dto.js';
import { linkWith, type PageProps } from '../client/address.js';
import { useHaulerName } from '../client/haulers.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { pick } from '../parts/filters.js';
import { type Column, Listing } from '../parts/listing.js';
import { BackLink, Badge, Empty, Loadable } from '../parts/states.js';
import { formatCount, Time } from '../parts/values.js';
import { ErasureForm } from './erasure-form.js';
import { Receipt, TONES, whatOf } from './erasure-receipt.js';

const LIVE_MS = 3_000;
interface ErasuresProps extends PageProps {
  readonly haulerId: string | undefined;
}

/** Erasures by request: progress and receipts. */
export function Erasures({ query, haulerId }: ErasuresProps) {
  const { canWrite } = useSession();
  const id = query.get('erasure');
  if (id !== null) return <ErasureDetails key={id} id={id} query={query} />;
  if (query.has('new') && canWrite) return <ErasureForm query={query} haulerId={haulerId} />;
  return <ErasureList query={query} haulerId={haulerId} />;
}

function ErasureList({ query, haulerId }: ErasuresProps) {
  const { canWrite } = useSession();
  const haulerName = useHaulerName();
  const filters = haulerId === undefined || haulerId === '' ? {} : { haulerId };
  const list = useLoad('/erasures', { ...filters, ...pick(query, 'page', 'cursor') }, LIVE_MS);
  const columns: readonly Column<Erasure>[] = [
    { title: 'Of', cell: (each) => <a href={linkWith('retention', query, { erasure: each.id })}>{whatOf(each)}</a> },
    { title: 'Hauler', cell: (each) => haulerName(each.haulerId) },
    { title: 'State', cell: ({ status }) => <Badge value={status} tone={TONES[status]} /> },
    {
      title: 'Recordings',
      isNumber: true,
      cell: ({ erased }) => formatCount(erased.recordings),
    },
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
    <section class="card" aria-label="Erasures">
      <h2>Erasures</h2>
      {canWrite && (
        <p class="actions">
          <a class="button" href={linkWith('retention', query, { new: 'erasure' })}>
            New erasure
          </a>
        </p>
      )}
      <Listing
        label="Erasures by request"
        list={list}
        columns={columns}
        keyOf={({ id = '' }) => id}
        filters={filters}
        empty={<Empty title="Nothing was erased by request yet." />}
      />
    </section>
  );
}

function ErasureDetails({ id, query }: PageProps & { id: string }) {
  const erasure = useLoad(`/erasures/${encodeURIComponent(id)}`, {}, LIVE_MS);
  return (
    <>
      <BackLink href={linkWith('retention', query, { erasure: undefined })}>All erasures</BackLink>
      <Loadable of={erasure}>{(data) => <Receipt erasure={data} />}</Loadable>
    </>
  );
}
