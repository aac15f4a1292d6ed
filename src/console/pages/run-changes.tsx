import type { SyncChange } from '../../contracts/admin/sync-change.dto.js';
import { SYNC_CHANGES, SYNC_KINDS } from '../../contracts/admin/sync.values.js';
import { useLoad } from '../client/load.js';
import { CsvButton } from '../parts/csv-button.js';
import { Filters, pick, SelectFilter } from '../parts/filters.js';
import { Difference, Json } from '../parts/json.js';
import { type Column, Listing } from '../parts/listing.js';
import { Badge, Empty } from '../parts/states.js';

const COLUMNS: readonly Column<SyncChange>[] = [
  { title: 'Change', cell: ({ change }) => <Badge value={change} /> },
  {
    title: 'Record',
    cell: ({ kind, name, externalId }) => (
      <>
        {name} <span class="hint">{kind}</span>
        <div class="hint">
          <code>{externalId}</code>
        </div>
      </>
    ),
  },
  { title: 'Difference', cell: (record) => <RecordDifference record={record} /> },
];

const keyOf = ({ kind, externalId, change }: SyncChange): string => `${change} ${kind} ${externalId}`;

function RecordDifference({ record: { before, after, change, changes } }: { record: SyncChange }) {
  if (before !== null && after !== null && change === 'updated') return <Difference before={before} after={after} />;
  return (
    <details>
      <summary>{changes.length === 0 ? 'The record' : changes.join(', ')}</summary>
      <Json value={after ?? before} label="Record" />
    </details>
  );
}

export type RunPath = `/sync-runs/${string}`;

/** The changes of a run, record by record and field by field. */
export function RunChanges({ path, query }: { path: RunPath; query: URLSearchParams }) {
  const filters = pick(query, 'kind', 'change', 'page', 'cursor');
  const list = useLoad(`${path}/changes`, { ...filters, pageSize: 50 });
  return (
    <section class="card" aria-label="Changes">
      <h2>Changes</h2>
      <Filters>
        <SelectFilter name="kind" label="Kind" query={query} choices={SYNC_KINDS} />
        <SelectFilter name="change" label="Change" query={query} choices={SYNC_CHANGES} />
      </Filters>
      <CsvButton path={`${path}/changes`} filters={filters} />
      <Listing
        label="Changed records"
        list={list}
        columns={COLUMNS}
        keyOf={keyOf}
        filters={filters}
        empty={<Empty title="This run changed nothing." />}
      />
    </section>
  );
}
