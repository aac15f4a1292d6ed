import { useState } from 'preact/hooks';
import type { SyncChange } from '../../contracts/admin/sync-change.dto.js';
import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';
import { send } from '../client/api.js';
import { useLoad } from '../client/load.js';
import { useSession } from '../client/session.js';
import { Filters, pick, SelectFilter } from '../parts/filters.js';
import { ActionButton } from '../parts/forms.js';
import { Difference, Json } from '../parts/json.js';
import { type Column, Listing, Table } from '../parts/listing.js';
import { Badge, Empty, ErrorBox } from '../parts/states.js';
import { formatCount } from '../parts/values.js';
import { KINDS } from './run.rules.js';

const CHANGES = ['created', 'updated', 'deactivated', 'restored', 'held'];

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
        <SelectFilter name="kind" label="Kind" query={query} choices={KINDS} />
        <SelectFilter name="change" label="Change" query={query} choices={CHANGES} />
      </Filters>
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

function Decision({ path }: { path: RunPath }) {
  const [note, setNote] = useState('');
  return (
    <>
      <p class="hint">
        Everything else is applied. Confirm deactivates the records below. Reject keeps them active; the next answer
        without them is held again.
      </p>
      <label class="field narrow">
        <span>Note for a rejection</span>
        <input maxLength={1_000} value={note} onInput={(event) => setNote(event.currentTarget.value)} />
      </label>
      <p class="actions">
        <ActionButton label="Confirm the removals" kind="danger" work={() => send('POST', `${path}/confirm`)} />
        <ActionButton
          label="Reject"
          work={() => send('POST', `${path}/reject`, note.trim() === '' ? {} : { note: note.trim() })}
        />
      </p>
    </>
  );
}

/** A run whose removals wait for a decision: the rule that held it, the records, and both answers. */
export function HeldRun({ run, path }: { run: SyncRun; path: RunPath }) {
  const { isPartner } = useSession();
  const held = useLoad(`${path}/changes`, { change: 'held', pageSize: 100 });
  const guards = [run.guard ?? []].flat();
  return (
    <section class="card needed" aria-label="Held removals">
      <h2>This run waits for a decision</h2>
      {guards.map(({ kind, removed, of, share }) => (
        <p key={kind}>
          The partner's answer lacks {formatCount(removed)} of {formatCount(of)} active {kind} (
          {Math.round(share * 100)} %).
        </p>
      ))}
      {guards.length === 0 && (
        <p>
          The partner's answer lacks{' '}
          {KINDS.filter((kind) => run.counts[kind].held > 0)
            .map((kind) => `${formatCount(run.counts[kind].held)} ${kind}`)
            .join(', ')}{' '}
          that are active here.
        </p>
      )}
      {isPartner ? (
        <p class="hint">
          Everything else is applied. An admin of the platform confirms the removals, or an answer that has the records
          again clears them.
        </p>
      ) : (
        <Decision path={path} />
      )}
      {held.error !== undefined && <ErrorBox error={held.error} onRetry={held.reload} />}
      {held.data !== undefined && held.data.data.length > 0 && (
        <Table label="Records that would be removed" rows={held.data.data} columns={COLUMNS} keyOf={keyOf} />
      )}
      {held.data !== undefined && held.data.pagination.totalItems > held.data.data.length && (
        <p class="hint">The first {held.data.data.length} are shown; all are listed under Changes.</p>
      )}
    </section>
  );
}
