import type { Erasure, ErasureCounts } from '../../contracts/admin/erasure.dto.js';
import { change, linkWith, type PageProps } from '../client/address.js';
import { send } from '../client/api.js';
import { useHaulerName } from '../client/haulers.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { pick } from '../parts/filters.js';
import { fieldText, Form, Input } from '../parts/forms.js';
import { type Column, Listing, Table } from '../parts/listing.js';
import { BackLink, Badge, Empty, Loadable, type Tone } from '../parts/states.js';
import { Facts, formatBytes, formatCount, Id, Time } from '../parts/values.js';
import { ErasureForm } from './erasure-form.js';

const LIVE_MS = 3_000;
const TONES: Readonly<Record<Erasure['status'], Tone>> = {
  previewed: 'plain',
  running: 'info',
  done: 'good',
  stopped: 'warn',
  failed: 'bad',
};

interface ErasuresProps extends PageProps {
  readonly haulerId: string | undefined;
}

/** Erasures by request: previews, progress and receipts. */
export function Erasures({ query, haulerId }: ErasuresProps) {
  const { canWrite } = useSession();
  const id = query.get('erasure');
  if (id !== null) return <ErasureDetails key={id} id={id} query={query} />;
  if (query.has('new') && canWrite) return <ErasureForm query={query} haulerId={haulerId} />;
  return <ErasureList query={query} haulerId={haulerId} />;
}

const whatOf = ({ kind, accountId = '', truckId = '', cameraId }: Erasure): string =>
  kind === 'account' ? `Account ${accountId}` : `${truckId}, ${cameraId === undefined ? 'all cameras' : cameraId}`;

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
      cell: ({ status, preview, erased }) => formatCount((status === 'previewed' ? preview : erased).recordings),
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
        keyOf={({ id }) => id}
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

function Receipt({ erasure }: { erasure: Erasure }) {
  const { status, reason, notReached } = erasure;
  const haulerName = useHaulerName();
  return (
    <section class="card" aria-label="Erasure">
      <div class="head">
        <h2>
          {whatOf(erasure)} <Badge value={status} tone={TONES[status]} />
        </h2>
      </div>
      <Facts
        of={{
          Hauler: haulerName(erasure.haulerId),
          From: erasure.from !== undefined && <Time value={erasure.from} />,
          To: erasure.to !== undefined && <Time value={erasure.to} />,
          Created: <ByAt at={erasure.createdAt} by={erasure.createdBy} />,
          Confirmed: erasure.confirmedAt !== undefined && <ByAt at={erasure.confirmedAt} by={erasure.confirmedBy} />,
          Finished: erasure.finishedAt !== undefined && <Time value={erasure.finishedAt} />,
          Id: <Id value={erasure.id} />,
        }}
      />
      {reason !== undefined && <p class="notice warn">{reason}</p>}
      <Table label="Numbers" rows={rowsOf(erasure)} columns={COUNTS} keyOf={({ title }) => title} isNarrow />
      {status === 'previewed' && <Confirmation erasure={erasure} />}
      <h3>Not reached</h3>
      <ul>
        {notReached.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </section>
  );
}

const ByAt = ({ at, by }: { at: string; by: string | undefined }) => (
  <>
    <Time value={at} /> by {by}
  </>
);

const TITLES: Readonly<Record<keyof ErasureCounts, string>> = {
  accounts: 'Accounts',
  recordings: 'Recordings, with their files',
  bytes: 'Size of these files',
  exchanges: 'Exchanges, redacted',
  answers: 'Stored answers',
  tickets: 'Tickets that named it',
  revisions: 'Stored pushes that named it',
  actions: 'Actions that named it',
  deliveries: 'Webhook deliveries',
  findings: 'Parts of lists with errors',
};

interface CountRow {
  readonly title: string;
  readonly preview: string;
  readonly erased: string;
}

const COUNTS: readonly Column<CountRow>[] = [
  { title: 'What', cell: ({ title }) => title },
  { title: 'Preview', isNumber: true, cell: ({ preview }) => preview },
  { title: 'Erased', isNumber: true, cell: ({ erased }) => erased },
];

/** What the preview found or the job has erased; without those of which there is nothing. */
function rowsOf({ preview, erased, status }: Erasure): CountRow[] {
  const format = (name: keyof ErasureCounts, { [name]: value }: ErasureCounts) =>
    name === 'bytes' ? formatBytes(value) : formatCount(value);
  return (Object.keys(TITLES) as (keyof ErasureCounts)[])
    .filter((name) => preview[name] + erased[name] > 0)
    .map((name) => ({
      title: TITLES[name],
      preview: format(name, preview),
      erased: status === 'previewed' ? '–' : format(name, erased),
    }));
}

function Confirmation({ erasure: { id, confirmationCode, expiresAt } }: { erasure: Erasure }) {
  const { canWrite } = useSession();
  if (!canWrite) return null;
  const confirm = (values: FormData) =>
    send('POST', `/erasures/${id}/confirm`, { confirmationCode: fieldText(values, 'confirmationCode') ?? '' });
  return (
    <Form
      title="Confirm the erasure"
      submit="Erase for ever"
      work={confirm}
      onCancel={() => change({ erasure: undefined })}
    >
      <p class="notice bad">
        This cannot be undone. Type the code <strong>{confirmationCode}</strong> until <Time value={expiresAt} />.
      </p>
      <Input name="confirmationCode" label="Code" isRequired />
    </Form>
  );
}
