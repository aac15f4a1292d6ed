import type { List } from '../../contracts/admin/list.dto.js';
import type { QuarantinedRecord, SyncRun } from '../../contracts/admin/sync-run.dto.js';
import { change, linkTo } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { Json } from '../parts/json.js';
import { type Column, Listing, Table } from '../parts/listing.js';
import { BackLink, Badge, Empty, ErrorBox, Loading } from '../parts/states.js';
import { Count, Fact, Facts, Id, Time } from '../parts/values.js';
import { HeldRun, RunChanges } from './run-changes.js';
import { RunComparison } from './run-comparison.js';

const LIVE_MS = 2_000;
const KINDS = ['sites', 'kiosks', 'materials'] as const;
const COUNTS = [
  'received',
  'created',
  'updated',
  'unchanged',
  'deactivated',
  'restored',
  'stale',
  'flagged',
  'held',
  'quarantined',
] as const;

/** One run: its counts, what it changed, and the records that it refused. */
export function RunDetails({ id, query }: { id: string; query: URLSearchParams }) {
  const path = `/sync-runs/${encodeURIComponent(id)}`;
  const { data: run, error, reload } = useLoad<SyncRun>(path, {}, { everyMs: LIVE_MS });
  return (
    <>
      <BackLink href={linkTo('sync', { connectionId: query.get('connectionId') ?? run?.connectionId })}>
        All runs
      </BackLink>
      {error !== undefined && <ErrorBox error={error} onRetry={reload} />}
      {run === undefined && error === undefined && <Loading />}
      {run !== undefined && (
        <>
          {run.status === 'held' && <HeldRun run={run} path={path} />}
          <RunFacts run={run} />
          <RunChanges path={path} query={query} />
          <RunComparison run={run} query={query} />
          <Quarantine path={path} />
        </>
      )}
    </>
  );
}

function RunFacts({ run }: { run: SyncRun }) {
  return (
    <section class="card" aria-label="Run">
      <h2>
        Run <Badge value={run.status} />
      </h2>
      {run.error !== undefined && <p class="notice bad">{run.error}</p>}
      {run.note !== undefined && <p class="notice warn">Rejected: {run.note}</p>}
      <Facts>
        <Fact name="Started">
          <Time value={run.startedAt} />
        </Fact>
        <Fact name="Finished">
          <Time value={run.finishedAt} />
        </Fact>
        <Fact name="Connection">
          <a href={linkTo('connections', { id: run.connectionId })}>open</a>
        </Fact>
        <Fact name="Id">
          <Id value={run.id} />
        </Fact>
      </Facts>
      <Counts run={run} />
    </section>
  );
}

function Counts({ run }: { run: SyncRun }) {
  const columns: readonly Column<(typeof KINDS)[number]>[] = [
    { title: 'Kind', cell: (kind) => kind },
    ...COUNTS.map((name) => ({
      title: name.charAt(0).toUpperCase() + name.slice(1),
      isNumber: true,
      cell: (kind: (typeof KINDS)[number]) => <Count value={run.counts[kind][name]} />,
    })),
  ];
  return <Table label="Counts" rows={KINDS} columns={columns} keyOf={(kind) => kind} />;
}

function Quarantine({ path }: { path: string }) {
  const list = useLoad<List<QuarantinedRecord>>(`${path}/quarantine`, { pageSize: 100 });
  const columns: readonly Column<QuarantinedRecord>[] = [
    { title: 'State', cell: ({ severity }) => <Badge value={severity} /> },
    { title: 'Record', cell: (record) => <code>{record.path}</code> },
    { title: 'Reason', cell: ({ reason }) => reason },
    {
      title: 'As received',
      cell: ({ raw, path: name }) => <Json value={raw} label={`Record ${name}`} />,
    },
  ];
  return (
    <section class="card" aria-label="Quarantine">
      <h2>Refused and flagged records</h2>
      <Listing
        label="Refused and flagged records"
        list={list}
        columns={columns}
        keyOf={(record) => record.path + record.reason}
        empty={<Empty title="None: every record was valid." />}
      />
      {list.error?.status === 404 && (
        <button type="button" onClick={() => change({ run: undefined })}>
          All runs
        </button>
      )}
    </section>
  );
}
