import type { List } from '../../contracts/admin/list.dto.js';
import type { SyncChange, SyncRun } from '../../contracts/admin/sync-run.dto.js';
import { type PageProps } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { Filters, SelectFilter } from '../parts/filters.js';
import { type Column, Table } from '../parts/listing.js';
import { Badge, Empty } from '../parts/states.js';

const MAX_RECORDS = 100;

interface Compared {
  readonly key: string;
  readonly one: SyncChange | undefined;
  readonly other: SyncChange | undefined;
}

/** Another run of the connection beside this one: what each did to a record. */
export function RunComparison({ run, query }: PageProps & { run: SyncRun }) {
  const runs = useLoad<List<SyncRun>>('/sync-runs', { connectionId: run.connectionId, pageSize: 40 });
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
      {other !== null && <Records one={run.id} other={other} />}
    </section>
  );
}

function Records({ one, other }: { one: string; other: string }) {
  const first = useLoad<List<SyncChange>>(`/sync-runs/${one}/changes`, { pageSize: MAX_RECORDS });
  const second = useLoad<List<SyncChange>>(`/sync-runs/${encodeURIComponent(other)}/changes`, {
    pageSize: MAX_RECORDS,
  });
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
  ];
  return (
    <>
      <Table label="Compared records" rows={rows} columns={columns} keyOf={({ key }) => key} />
      <p class="hint">At most {MAX_RECORDS} records of each run.</p>
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

function compared(ones: readonly SyncChange[], others: readonly SyncChange[]): Compared[] {
  const key = ({ kind, externalId }: SyncChange) => `${kind} ${externalId}`;
  const keys = [...new Set([...ones, ...others].map(key))];
  return keys.map((each) => ({
    key: each,
    one: ones.find((change) => key(change) === each),
    other: others.find((change) => key(change) === each),
  }));
}
