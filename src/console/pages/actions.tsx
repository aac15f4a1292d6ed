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
  return (
    <>
      <Filters>
        <TextFilter name="resource" label="Resource" query={query} hint="connection:ID" />
        <TimeFilter name="from" label="From" query={query} />
        <TimeFilter name="to" label="Until" query={query} />
      </Filters>
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
  { title: 'Actor', cell: ({ actor }) => actor },
  {
    title: 'Action',
    cell: ({ action, error }) => (
      <>
        {action}
        {error !== undefined && <div class="hint">failed: {error}</div>}
      </>
    ),
  },
  {
    title: 'Resource',
    cell: ({ resource }) => {
      const page = pageOf(resource);
      return (
        <>
          <a href={linkTo('actions', { resource })} title="Show the actions on this resource">
            <code>{resource}</code>
          </a>{' '}
          {page !== undefined && (
            <a class="hint" href={page} aria-label={`Open ${resource}`}>
              open
            </a>
          )}
        </>
      );
    },
  },
  {
    title: 'Fields',
    cell: ({ changes }) =>
      changes === undefined ? (
        <span class="muted">none</span>
      ) : (
        <details>
          <summary>{Object.keys(changes).join(', ')}</summary>
          <Json value={changes} label="Fields of the call" />
        </details>
      ),
  },
];

/** The page of a resource; undefined if the console has none. */
function pageOf(resource: string): string | undefined {
  const [kind, id = ''] = resource.split(/:(.*)/s);
  if (kind === 'connection') return linkTo('connections', { id });
  if (kind === 'sync-run') return linkTo('sync', { run: id });
  if (kind === 'exchange') return linkTo('exchanges', { id });
  return undefined;
}
