import type { HoldDetails, MissingFootage } from '../../contracts/admin/hold.dto.js';
import type { StoredRecording } from '../../contracts/admin/recording.dto.js';
import { MISSING_CAUSES } from '../../contracts/admin/hold.values.js';
import { linkTo, linkWith, type PageProps } from '../client/address.js';
import { send, urlOf } from '../client/api.js';
import { useHaulerName } from '../client/haulers.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { fieldText, Form, Input } from '../parts/forms.js';
import { type Column, Table } from '../parts/listing.js';
import { BackLink, Badge, Loadable } from '../parts/states.js';
import { Facts, formatBytes, formatCount, Id, Time } from '../parts/values.js';
import { useState } from 'preact/hooks';

const LIVE_MS = 10_000;

/** One hold: what it keeps, what may be lost, what is missing, and its end. */
export function HoldDetailsView({ id, query }: PageProps & { id: string }) {
  const hold = useLoad(`/holds/${encodeURIComponent(id)}`, {}, LIVE_MS);
  return (
    <>
      <BackLink href={linkWith('holds', query, { id: undefined })}>All holds</BackLink>
      <Loadable of={hold}>
        {(data) => (
          <>
            <HoldFacts hold={data} />
            <AtRisk hold={data} />
            <Missing hold={data} />
          </>
        )}
      </Loadable>
    </>
  );
}

function HoldFacts({ hold }: { hold: HoldDetails }) {
  const haulerName = useHaulerName();
  const { caseId, status, stored, bytes, waiting, releasedAt } = hold;
  const recordings = { truckId: hold.truckId, connectionId: hold.connectionId, cameraId: hold.cameraId };
  return (
    <section class="card" aria-label="Hold">
      <div class="head">
        <h2>
          {caseId} <Badge value={status} />
        </h2>
      </div>
      <Facts
        of={{
          Reason: hold.reason,
          Hauler: haulerName(hold.haulerId),
          Truck: hold.truckId,
          Camera: hold.cameraId ?? 'all cameras',
          From: <Time value={hold.from} />,
          To: <Time value={hold.to} />,
          Held: `${formatCount(stored)} recordings, ${formatBytes(bytes)}`,
          'Waiting for download': formatCount(waiting),
          Created: (
            <>
              <Time value={hold.createdAt} /> by {hold.createdBy}
            </>
          ),
          Released: releasedAt !== undefined && (
            <>
              <Time value={releasedAt} /> by {hold.releasedBy}: {hold.releaseReason}
            </>
          ),
          Id: <Id value={hold.id} />,
        }}
      />
      <HoldActions hold={hold} />
      <p>
        <a href={linkTo('recordings', { ...recordings, from: hold.from, to: hold.to })}>Recordings of this range</a>
        {' · '}
        <a href={linkTo('coverage', { ...recordings, cameraId: undefined, from: hold.from, to: hold.to })}>
          Coverage of this range
        </a>
      </p>
    </section>
  );
}

function HoldActions({ hold: { id, status } }: { hold: HoldDetails }) {
  const { canWrite, may } = useSession();
  const [isReleasing, setReleasing] = useState(false);
  const release = async (values: FormData) => {
    await send('POST', `/holds/${id}/release`, { reason: fieldText(values, 'reason') ?? '' });
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

const RISK_COLUMNS: readonly Column<StoredRecording>[] = [
  {
    title: 'Recording',
    cell: ({ id, cameraId, startTime }) => (
      <a href={linkTo('recordings', { play: id })}>
        {cameraId}, <Time value={startTime} />
      </a>
    ),
  },
  { title: 'State', cell: ({ status }) => <Badge value={status} /> },
  { title: 'Link expires', cell: ({ expiresAt }) => <Time value={expiresAt} /> },
  { title: 'Last failure', cell: ({ reason }) => reason ?? <span class="muted">none</span> },
];
const SHOWN = 20;
/** A recording that began before the range may reach into it. */
const LEAD_MS = 3_600_000;

/** Recordings that are listed and not stored: the partner may delete them first. */
function AtRisk({ hold: { connectionId, truckId, cameraId, from, to, waiting, status } }: { hold: HoldDetails }) {
  const range = { from: new Date(Date.parse(from) - LEAD_MS).toISOString(), to };
  const filters = { connectionId, truckId, cameraId, ...range, status: 'available', pageSize: SHOWN };
  const isShown = waiting > 0 && status === 'active';
  const list = useLoad(isShown ? '/recordings' : undefined, filters, LIVE_MS);
  if (!isShown) return null;
  return (
    <section class="card" aria-label="At risk">
      <h2>At risk</h2>
      <p class="hint">Listed by the partner and not stored yet. A link that expires before the download is lost.</p>
      <Loadable of={list}>
        {({ data }) => <Table label="Recordings at risk" rows={data} columns={RISK_COLUMNS} keyOf={({ id }) => id} />}
      </Loadable>
    </section>
  );
}

function Missing({ hold }: { hold: HoldDetails }) {
  const { connectionId, truckId, missing } = hold;
  const columns: readonly Column<MissingFootage>[] = [
    { title: 'Camera', cell: ({ cameraId }) => cameraId ?? <span class="muted">none known</span> },
    { title: 'From', cell: ({ from }) => <Time value={from} /> },
    { title: 'To', cell: ({ to }) => <Time value={to} /> },
    { title: 'Why', cell: ({ cause }) => MISSING_CAUSES[cause] },
    {
      title: 'What to do',
      cell: ({ cause, from, to }) =>
        cause !== 'erased' && (
          <a href={linkTo('coverage', { connectionId, truckId, from, to })}>Request what the partner has</a>
        ),
    },
  ];
  return (
    <section class="card" aria-label="Missing">
      <h2>Missing</h2>
      {missing.length === 0 ? (
        <p>Nothing of the range up to now is missing.</p>
      ) : (
        <Table
          label="Missing footage"
          rows={missing}
          columns={columns}
          keyOf={({ cameraId, from }) => `${cameraId ?? ''} ${from}`}
        />
      )}
    </section>
  );
}
