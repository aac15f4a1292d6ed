import type { ComponentChildren } from 'preact';
import type { Erasure, ErasureCounts } from '../../../contracts/admin/erasures.routes.js';
import { useHaulerName, useHaulers } from '../../client/haulers.js';
import { Badge, Card, Detail, DetailHead, Empty, type Tone } from '../../parts/states.js';
import { Done, Facts, formatBytes, formatCount, Id, Time } from '../../parts/values.js';
import { useState } from 'preact/hooks';
import { change, type PageProps } from '../../client/address.js';
import { send } from '../../client/api.js';
import type { BodyOf } from '../../client/contract.js';
import { bodyOf, Chooser, Form, Input, instantOf, Select } from '../../parts/forms.js';
import { linkWith } from '../../client/links.js';
import { useSession } from '../../client/session.js';
import { FootageFields } from '../holds/holds.js';
import { type Column, ListPage } from '../../parts/listing.js';

const TONES: Readonly<Record<Erasure['status'], Tone>> = {
  previewed: 'plain',
  running: 'info',
  done: 'good',
  stopped: 'warn',
  failed: 'bad',
};

const whatOf = ({ kind, accountId = '', truckId = '', cameraId }: Erasure): string =>
  kind === 'account' ? `Account ${accountId}` : `${truckId}, ${cameraId === undefined ? 'all cameras' : cameraId}`;

/** What an erasure has erased, or would erase. */
function Receipt({ erasure, children }: { erasure: Erasure; children?: ComponentChildren }) {
  const { status, reason, notReached, endsByItself } = erasure;
  const haulerName = useHaulerName();
  return (
    <DetailHead
      title={whatOf(erasure)}
      label="Erasure"
      badge={<Badge value={status} tone={TONES[status]} />}
      facts={{
        Hauler: haulerName(erasure.haulerId),
        Finished: erasure.finishedAt !== undefined && <Time value={erasure.finishedAt} />,
      }}
    >
      <Facts
        of={{
          From: erasure.from !== undefined && <Time value={erasure.from} />,
          To: erasure.to !== undefined && <Time value={erasure.to} />,
          Requested: <Done at={erasure.createdAt} by={erasure.createdBy} />,
          Id: erasure.id !== undefined && <Id value={erasure.id} />,
        }}
      />
      {reason !== undefined && <p class="notice warn">{reason}</p>}
      <h3>{status === 'previewed' ? 'Would be erased' : 'Erased'}</h3>
      <Facts of={countsOf(erasure)} />
      {children}
      <h3>Ends by itself</h3>
      <ul>
        {endsByItself.map(({ what, until }) => (
          <li key={what}>
            {what} Until {until}.
          </li>
        ))}
      </ul>
      <h3>Not reached</h3>
      <ul>
        {notReached.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
    </DetailHead>
  );
}

const TITLES: Readonly<Record<keyof ErasureCounts, string>> = {
  accounts: 'Accounts',
  recordings: 'Recordings, with their files',
  bytes: 'Size of these files',
  versionsLeft: 'Files with old versions that remain',
  exchanges: 'Exchanges, redacted',
  tickets: 'Tickets that named it',
  revisions: 'Stored pushes that named it',
  findings: 'Parts of lists with errors',
};

/** Without those of which there is nothing. */
function countsOf({ preview, erased }: Erasure): Record<string, string> {
  const counts = preview ?? erased;
  const names = (Object.keys(TITLES) as (keyof ErasureCounts)[]).filter((name) => counts[name] > 0);
  return Object.fromEntries(
    names.map((name) => [TITLES[name], (name === 'bytes' ? formatBytes : formatCount)(counts[name])]),
  );
}

const KINDS = [
  ['footage', 'Footage of a truck in a range'],
  ['account', 'An account, with all that names it'],
] as const;

type ErasureRequest = BodyOf<'POST', '/erasures'>;

interface Counted {
  readonly request: ErasureRequest;
  readonly erasure: Erasure;
}

const close = () => change({ new: undefined, accountId: undefined });

/** Counts what an erasure would erase, and erases it when that is confirmed. */
function ErasureForm({ query, haulerId }: PageProps & { haulerId: string | undefined }) {
  const [kind, setKind] = useState<string>(query.has('accountId') ? 'account' : 'footage');
  const [counted, setCounted] = useState<Counted>();
  const count = async (values: FormData) => {
    const request = bodyOf<ErasureRequest>(values, { from: instantOf, to: instantOf });
    setCounted({ request, erasure: await send('POST', '/erasures', { ...request, dryRun: true }) });
  };
  if (counted !== undefined) return <Confirmation {...counted} />;
  return (
    <Form title="New erasure" submit="Preview the erasure" work={count} onCancel={close}>
      <p class="hint">Nothing is erased yet: the next step shows what would be, in numbers.</p>
      <Chooser label="What to erase" value={kind} choices={KINDS} onChoose={setKind} />
      {kind === 'account' ? (
        <AccountFields haulerId={haulerId} accountId={query.get('accountId')} />
      ) : (
        <FootageFields query={query} limit="at most 366 days after the start" />
      )}
    </Form>
  );
}

function Confirmation({ request, erasure }: Counted) {
  const erase = async () => {
    const { id } = await send('POST', '/erasures', request);
    change({ new: undefined, accountId: undefined, erasure: id });
  };
  return (
    <Receipt erasure={erasure}>
      <Form title="Confirm the erasure" submit="Erase for ever" work={erase} onCancel={close}>
        <p class="notice bad">This cannot be undone.</p>
      </Form>
    </Receipt>
  );
}

function AccountFields({ haulerId, accountId }: { haulerId: string | undefined; accountId: string | null }) {
  const { choices } = useHaulers();
  return (
    <>
      <Select name="haulerId" label="Hauler of the account" choices={choices} value={haulerId} isRequired />
      <Input
        name="accountId"
        label="Account"
        value={accountId ?? ''}
        isRequired
        hint="its id, from the page of the account"
      />
    </>
  );
}

const LIVE_MS = 3_000;
type ErasuresProps = PageProps & { readonly haulerId: string | undefined };

/** Erasures by request: progress and receipts. */
export function Erasures({ query, haulerId }: ErasuresProps) {
  const { canWrite } = useSession();
  const id = query.get('erasure');
  if (id !== null) {
    return (
      <Detail path={`/erasures/${encodeURIComponent(id)}`} everyMs={LIVE_MS} list="All erasures">
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
        empty={
          <Empty title="Nothing was erased by request yet.">
            Somebody asks for it: choose “New erasure”. Each leaves a receipt here.
          </Empty>
        }
      />
    </Card>
  );
}
