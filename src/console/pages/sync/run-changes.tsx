import type { SyncChange } from '../../../contracts/admin/sync-runs.routes.js';
import { SYNC_CHANGES, SYNC_KINDS } from '../../../contracts/admin/sync.values.js';
import { byChoice } from '../../parts/filters.js';
import { After, Before, FieldPath, Json } from '../../parts/json.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Badge, Card, Empty } from '../../parts/states.js';

const FILTERS = [byChoice('kind', 'Kind', SYNC_KINDS), byChoice('change', 'Change', SYNC_CHANGES)];

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
  if (before !== null && after !== null && change === 'updated') {
    return (
      <ul class="changes">
        {changes.map((field) => (
          <li key={field}>
            <FieldPath of={field} /> <Before value={before[field]} /> <After value={after[field]} />
          </li>
        ))}
      </ul>
    );
  }
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
  return (
    <Card title="Changes">
      <ListPage
        path={`${path}/changes`}
        query={query}
        name="changes"
        filters={FILTERS}
        pageSize={50}
        hasCsv
        label="Changed records"
        columns={COLUMNS}
        keyOf={keyOf}
        empty={<Empty title="This run changed nothing." />}
      />
    </Card>
  );
}
