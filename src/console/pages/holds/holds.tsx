import { open, type PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { send, urlOf } from '../../client/api.js';
import { useConnectionChoices, useHaulerName } from '../../client/haulers.js';
import { BY_HAULER, byChoice, byText, localInput } from '../../parts/filters.js';
import { bodyOf, Form, Input, instantOf, Needing, NewLink, Select } from '../../parts/forms.js';
import { BackLink, Badge, Card, Detail, DetailHead, Empty, Loading } from '../../parts/states.js';
import type { Hold, HoldDetails, MissingFootage } from '../../../contracts/admin/holds.routes.js';
import { HOLD_STATUSES, MISSING_CAUSES } from '../../../contracts/admin/footage.values.js';
import { useSession } from '../../client/session.js';
import { type Column, ListPage, Table } from '../../parts/listing.js';
import { Done, Facts, formatBytes, formatCount, Id, Time } from '../../parts/values.js';
import { useState } from 'preact/hooks';

const MINUTE_MS = 60_000;

/** The value of a time field: the start of its minute, or the end, so that the range never gets shorter. */
function inputTime(value: string | null, round: 'floor' | 'ceil'): string {
  const time = Date.parse(value ?? '');
  return Number.isNaN(time) ? '' : localInput(new Date(Math[round](time / MINUTE_MS) * MINUTE_MS));
}

/** The truck and the range of footage. The address may have them. */
export function FootageFields({ query, limit }: PageProps & { limit: string }) {
  const choices = useConnectionChoices('vision');
  if (choices === undefined) return <Loading />;
  const connectionId = query.get('connectionId') ?? (choices.length === 1 ? choices[0]?.[0] : undefined);
  const text = (name: string) => query.get(name) ?? '';
  const time = { type: 'datetime-local', isRequired: true } as const;
  const [from, to] = [inputTime(query.get('from'), 'floor'), inputTime(query.get('to'), 'ceil')];
  return (
    <>
      <Select
        name="connectionId"
        label="Partner who records the truck"
        choices={choices}
        value={connectionId}
        isRequired
      />
      <Input name="truckId" label="Truck" value={text('truckId')} isRequired hint="as the partner spells it" />
      <Input name="cameraId" label="Camera" value={text('cameraId')} hint="empty: all cameras" />
      <Input name="from" label="From" {...time} value={from} hint="in the time zone of this browser" />
      <Input name="to" label="To" {...time} value={to} hint={limit} />
    </>
  );
}

const create = async (values: FormData) => {
  const { id } = await send('POST', '/holds', bodyOf(values, { from: instantOf, to: instantOf }));
  open(linkTo('holds', { id }), { replace: true });
};

const HoldForm = ({ query }: PageProps) => (
  <>
    <BackLink href={linkTo('holds')}>All holds</BackLink>
    <Form title="New hold" submit="Hold the footage" work={create} onCancel={() => open(linkTo('holds'))}>
      <Input name="caseId" label="Case" isRequired hint="the case, claim or letter that needs the footage" />
      <Input name="reason" label="Reason" isRequired hint="such as: collision on Main St, letter of 3 February" />
      <FootageFields query={query} limit="may be in the future; at most 366 days after the start" />
    </Form>
  </>
);

const HOLD_MS = 10_000;

/** One hold: what it keeps, what is missing, and its end. */
function HoldDetailsView({ id }: { id: string }) {
  return (
    <Detail path={`/holds/${encodeURIComponent(id)}`} everyMs={HOLD_MS} list="All holds">
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
  if (id !== null) return <HoldDetailsView id={id} />;
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
      <NewLink href={linkTo('holds', { new: 1 })} label="New hold">
        <a href="/docs/guides/holds" target="_blank">
          How holds work
        </a>
      </NewLink>
      <ListPage
        path="/holds"
        query={query}
        filters={FILTERS}
        everyMs={LIVE_MS}
        label="Holds"
        columns={columns}
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
