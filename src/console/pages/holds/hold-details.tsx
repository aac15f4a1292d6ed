import type { HoldDetails, MissingFootage } from '../../../contracts/admin/hold.dto.js';
import { MISSING_CAUSES } from '../../../contracts/admin/footage.values.js';
import type { PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { send, urlOf } from '../../client/api.js';
import { useHaulerName } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { bodyOf, Form, Input, Needing } from '../../parts/forms.js';
import { type Column, Table } from '../../parts/listing.js';
import { Badge, Card, Detail, DetailHead } from '../../parts/states.js';
import { Done, Facts, formatBytes, formatCount, Id, Time } from '../../parts/values.js';
import { useState } from 'preact/hooks';

const LIVE_MS = 10_000;

/** One hold: what it keeps, what is missing, and its end. */
export function HoldDetailsView({ id, query }: PageProps & { id: string }) {
  return (
    <Detail
      path={`/holds/${encodeURIComponent(id)}`}
      everyMs={LIVE_MS}
      back={linkWith('holds', query, { id: undefined })}
      list="All holds"
    >
      {(data) => (
        <>
          <HoldFacts hold={data} />
          <Missing hold={data} />
        </>
      )}
    </Detail>
  );
}

function HoldFacts({ hold }: { hold: HoldDetails }) {
  const haulerName = useHaulerName();
  const { caseId, status, stored, bytes, waiting, releasedAt } = hold;
  const recordings = { truckId: hold.truckId, connectionId: hold.connectionId, cameraId: hold.cameraId };
  return (
    <DetailHead
      title={caseId}
      label="Hold"
      badge={<Badge value={status} />}
      facts={{
        Held: `${formatCount(stored)} recordings, ${formatBytes(bytes)}`,
        'Waiting for download': waiting > 0 && (
          <a href={linkTo('recordings', { ...recordings, status: 'available' })}>
            {formatCount(waiting)}: a link may expire before
          </a>
        ),
      }}
    >
      <Facts
        of={{
          Reason: hold.reason,
          Hauler: haulerName(hold.haulerId),
          Truck: (
            <a href={linkTo('coverage', { ...recordings, cameraId: undefined, from: hold.from, to: hold.to })}>
              {hold.truckId}
            </a>
          ),
          Camera: hold.cameraId ?? 'all cameras',
          From: <Time value={hold.from} />,
          To: <Time value={hold.to} />,
          Created: <Done at={hold.createdAt} by={hold.createdBy} />,
          Released: releasedAt !== undefined && (
            <Done at={releasedAt} by={`${hold.releasedBy}: ${hold.releaseReason}`} />
          ),
          Id: <Id value={hold.id} />,
        }}
      />
      <Needing isOfAllHaulers>
        <HoldActions hold={hold} />
      </Needing>
    </DetailHead>
  );
}

function HoldActions({ hold: { id, status } }: { hold: HoldDetails }) {
  const { canWrite, may } = useSession();
  const [isReleasing, setReleasing] = useState(false);
  const release = async (values: FormData) => {
    await send('POST', `/holds/${id}/release`, bodyOf(values));
    setReleasing(false);
  };
  const canRelease = canWrite && status === 'active';
  if (isReleasing && canRelease) {
    return (
      <Form title="Release the hold" submit="Release the hold" work={release} onCancel={() => setReleasing(false)}>
        <p class="notice warn">
          Its footage follows the retention of the hauler again: what is older is deleted within an hour.
        </p>
        <Input name="reason" label="Why it is released" isRequired hint="such as: settled on 4 May" />
      </Form>
    );
  }
  return (
    <p class="actions">
      {may('viewer+video') && (
        <a class="button primary" href={urlOf(`/holds/${id}/bundle`)} download>
          Download all of it (ZIP)
        </a>
      )}
      {canRelease && (
        <button type="button" onClick={() => setReleasing(true)}>
          Release …
        </button>
      )}
    </p>
  );
}

const MISSING: readonly Column<MissingFootage>[] = [
  { title: 'Camera', cell: ({ cameraId }) => cameraId ?? <span class="muted">none known</span> },
  { title: 'From', cell: ({ from }) => <Time value={from} /> },
  { title: 'To', cell: ({ to }) => <Time value={to} /> },
  { title: 'Why', cell: ({ cause }) => MISSING_CAUSES[cause] },
];

function Missing({ hold: { missing } }: { hold: HoldDetails }) {
  return (
    <Card title="Missing">
      {missing.length === 0 ? (
        <p>Nothing of the range up to now is missing.</p>
      ) : (
        <Table
          label="Missing footage"
          rows={missing}
          columns={MISSING}
          keyOf={({ cameraId, from }) => `${cameraId ?? ''} ${from}`}
        />
      )}
    </Card>
  );
}
