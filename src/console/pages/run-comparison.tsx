import type { SyncChange } from '../../contracts/admin/sync-change.dto.js';
import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';
import type { PageProps } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { Filters, pick, SelectFilter } from '../parts/filters.js';
import { Difference } from '../parts/json.js';
import { type Column, Table } from '../parts/listing.js';
import { Badge, Empty, ErrorBox } from '../parts/states.js';

const MAX_RECORDS = 100;

interface Compared {
  readonly key: string;
  readonly one: SyncChange | undefined;
  readonly other: SyncChange | undefined;
}

/** Another run of the connection beside this one: what each did to a record. */
export function RunComparison({ run, query }: PageProps & { run: SyncRun }) {
  const runs = useLoad('/sync-runs', { connectionId: run.connectionId, pageSize: 100 });
  const other = query.get('compare');
  const choices = (runs.data?.data ?? [])
    .filter(({ id }) => id !== run.id)
    .map(({ id, startedAt, status }) => {
      return [id, `${startedAt === null ? 'not started' : new Date(startedAt).toLocaleString()}, ${status}`] as const;
    });
  return (
    <section class="card" aria-label="Comparison">
      <h2>Compare with another run</h2>
      <Filters label="Comparison">
        <SelectFilter name="compare" label="Other run" query={query} choices={choices} all="None" />
      </Filters>
      {other !== null && <Records one={run.id} other={other} query={query} />}
    </section>
  );
}

function Records({ one, other, query }: PageProps & { one: string; other: string }) {
  const filters = { ...pick(query, 'kind', 'change'), pageSize: MAX_RECORDS };
  const first = useLoad(`/sync-runs/${one}/changes`, filters);
  const second = useLoad(`/sync-runs/${encodeURIComponent(other)}/changes`, filters);
  const error = first.error ?? second.error;
  if (error !== undefined)
    return <ErrorBox error={error} onRetry={error === first.error ? first.reload : second.reload} />;
  if (first.data === undefined || second.data === undefined) return null;
  const rows = compared(first.data.data, second.data.data);
  if (rows.length === 0) return <Empty title="Neither run changed a record." />;
  const columns: readonly Column<Compared>[] = [
    {
      title: 'Record',
      cell: ({ one: a, other: b }) => (
        <>
          {(a ?? b)?.name} <span class="hint">{(a ?? b)?.kind}</span>
        </>
      ),
    },
    { title: 'This run', cell: (row) => <Change change={row.one} /> },
    { title: 'Other run', cell: (row) => <Change change={row.other} /> },
    { title: 'Difference', cell: (row) => <Outcomes {...row} /> },
  ];
  const total = Math.max(first.data.pagination.totalItems, second.data.pagination.totalItems);
  return (
    <>
      <Table label="Compared records" rows={rows} columns={columns} keyOf={({ key }) => key} />
      {total > MAX_RECORDS && (
        <p class="hint">
          The first {MAX_RECORDS} changes of each run. Filter the changes above by kind or change to compare others.
        </p>
      )}
    </>
  );
}

function Change({ change }: { change: SyncChange | undefined }) {
  if (change === undefined) return <span class="muted">no change</span>;
  return (
    <>
      <Badge value={change.change} /> <span class="hint">{change.changes.join(', ')}</span>
    </>
  );
}

/** The record as the one run left it beside that of the other, where both changed it. */
function Outcomes({ one, other }: Compared) {
  if (one === undefined || other === undefined) return <span class="muted">only one run changed it</span>;
  return (
    <Difference
      before={other.after ?? other.before}
      after={one.after ?? one.before}
      titles={['Other run', 'This run']}
    />
  );
}

function compared(ones: readonly SyncChange[], others: readonly SyncChange[]): Compared[] {
  const key = ({ kind, externalId }: SyncChange) => `${kind} ${externalId}`;
  const keys = [...new Set([...ones, ...others].map(key))];
  return keys.map((each) => ({
    key: each,
    one: ones.find((change) => key(change) === each),
    other: others.find((change) => key(change) === each),
  }));
}
