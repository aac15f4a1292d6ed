import type { Erasure } from '../../../contracts/admin/erasure.dto.js';
import type { PageProps } from '../../client/address.js';
import { linkWith } from '../../client/links.js';
import { useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Card, Detail, Empty } from '../../parts/states.js';
import { Done, formatCount } from '../../parts/values.js';
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
  if (id !== null) {
    return (
      <Detail
        path={`/erasures/${encodeURIComponent(id)}`}
        everyMs={LIVE_MS}
        back={linkWith('retention', query, { erasure: undefined })}
        list="All erasures"
      >
        {(data) => <Receipt erasure={data} />}
      </Detail>
    );
  }
  if (query.has('new') && canWrite) return <ErasureForm query={query} haulerId={haulerId} />;
  return <ErasureList query={query} haulerId={haulerId} />;
}

function ErasureList({ query, haulerId }: ErasuresProps) {
  const { canWrite } = useSession();
  const haulerName = useHaulerName();
  const columns: readonly Column<Erasure>[] = [
    { title: 'Of', cell: (each) => <a href={linkWith('retention', query, { erasure: each.id })}>{whatOf(each)}</a> },
    { title: 'Hauler', cell: (each) => haulerName(each.haulerId) },
    { title: 'State', cell: ({ status }) => <Badge value={status} tone={TONES[status]} /> },
    { title: 'Recordings', isNumber: true, cell: ({ erased }) => formatCount(erased.recordings) },
    { title: 'Created', cell: ({ createdAt, createdBy }) => <Done at={createdAt} by={createdBy} /> },
  ];
  return (
    <Card title="Erasures">
      {canWrite && (
        <p class="actions">
          <a class="button" href={linkWith('retention', query, { new: 'erasure' })}>
            New erasure
          </a>
        </p>
      )}
      <ListPage
        path="/erasures"
        query={query}
        fixed={{ haulerId }}
        everyMs={LIVE_MS}
        label="Erasures by request"
        columns={columns}
        keyOf={({ id = '' }) => id}
        empty={
          <Empty title="Nothing was erased by request yet.">
            Somebody asks for it: choose “New erasure”. Each leaves a receipt here.
          </Empty>
        }
      />
    </Card>
  );
}
