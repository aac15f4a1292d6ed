import type { Action } from '../../../contracts/admin/actions.routes.js';
import { ACTION_KINDS } from '../../../contracts/admin/action.values.js';
import type { PageProps } from '../../client/address.js';
import { linkTo } from '../../client/links.js';
import { useLoad } from '../../client/load.js';
import { byChoice, byText, byTime } from '../../parts/filters.js';
import { Json } from '../../parts/json.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Empty } from '../../parts/states.js';
import { Time } from '../../parts/values.js';

const LIVE_MS = 10_000;
const KINDS = ACTION_KINDS.map((kind) => [kind, kind.replace('-', ' ')] as const);

/** Everybody who has done something may be chosen. */
function useFilters() {
  const actors = useLoad('/actions/actors').data?.data ?? [];
  return [
    byChoice(
      'actor',
      'Person',
      actors.map(({ actor, name }) => [actor, name] as const),
      'Everybody',
    ),
    byChoice('kind', 'Kind', KINDS, 'Everything'),
    byTime('from', 'From'),
    byTime('to', 'Until'),
    byText('resource', 'Resource', 'connection:ID'),
  ];
}

/** Every change that an admin or a partner made, newest first. */
export function ActionsPage({ query }: PageProps) {
  return (
    <ListPage
      path="/actions"
      query={query}
      filters={useFilters()}
      everyMs={LIVE_MS}
      label="Actions"
      columns={COLUMNS}
      empty={
        <Empty title="No action yet.">Every change by the admin API, the console or a partner appears here.</Empty>
      }
    />
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
  if (kind === 'video-request') return linkTo('clips', { id });
  if (kind === 'recording') return linkTo('recordings', { play: id });
  if (kind === 'api-key' && hauler !== undefined) return linkTo('keys', { haulerId: hauler.id });
  return undefined;
}
