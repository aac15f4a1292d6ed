import type { Action } from '../../contracts/admin/action.dto.js';
import { linkTo, type PageProps } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { Filters, pick, TextFilter, TimeFilter } from '../parts/filters.js';
import { Json } from '../parts/json.js';
import { type Column, Listing } from '../parts/listing.js';
import { Empty } from '../parts/states.js';
import { Time } from '../parts/values.js';

const LIVE_MS = 10_000;

/** Every change that an admin or a partner made, newest first. */
export function ActionsPage({ query }: PageProps) {
  const filters = pick(query, 'resource', 'from', 'to', 'page', 'cursor');
  const list = useLoad('/actions', filters, LIVE_MS);
  const resource = query.get('resource');
  return (
    <>
      <Filters>
        <TextFilter name="resource" label="Resource" query={query} hint="connection:ID" />
        <TimeFilter name="from" label="From" query={query} />
        <TimeFilter name="to" label="Until" query={query} />
      </Filters>
      {resource !== null && (
        <p>
          Only actions on <code>{resource}</code>. <a href={linkTo('actions')}>Show all actions</a>
        </p>
      )}
      <Listing
        label="Actions"
        list={list}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        filters={filters}
        empty={
          <Empty title="No action yet.">Every change by the admin API, the console or a partner appears here.</Empty>
        }
      />
    </>
  );
}

const COLUMNS: readonly Column<Action>[] = [
  { title: 'Time', cell: ({ at }) => <Time value={at} /> },
  {
    title: 'Action',
    cell: (action) => (
      <>
        <span class={action.error === undefined ? '' : 'failed'}>{action.sentence}</span>
        <Subject action={action} />
      </>
    ),
  },
  {
    title: 'Fields',
    cell: ({ action, changes }) => (
      <>
        {changes === undefined ? (
          <span class="muted">none</span>
        ) : (
          <details>
            <summary>{Object.keys(changes).join(', ')}</summary>
            <Json value={changes} label="Fields of the call" />
          </details>
        )}
        <div class="hint">
          <code>{action}</code>
        </div>
      </>
    ),
  },
];

/** The id of the changed thing, with its page and the other actions on it. */
function Subject({ action: { resource, subject } }: { action: Action }) {
  const page = pageOf(subject);
  return (
    <div class="hint">
      {subject.id !== undefined && <code>{subject.id}</code>}{' '}
      <a href={linkTo('actions', { resource })} title="Show the actions on this resource">
        all actions on it
      </a>
      {page !== undefined && (
        <>
          {' · '}
          <a href={page} aria-label={`Open the ${subject.name}`}>
            open
          </a>
        </>
      )}
    </div>
  );
}

/** The page of a thing; undefined if the console has none. */
function pageOf({ kind, id, hauler }: Action['subject']): string | undefined {
  if (id === undefined) return undefined;
  if (kind === 'connection') return linkTo('connections', { id });
  if (kind === 'sync-run') return linkTo('sync', { run: id });
  if (kind === 'exchange') return linkTo('exchanges', { id });
  if (kind === 'recording') return linkTo('recordings', { play: id });
  if (kind === 'api-key' && hauler !== undefined) return linkTo('keys', { haulerId: hauler.id });
  return undefined;
}
