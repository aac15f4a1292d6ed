import type { SyncRun } from '../../../contracts/admin/sync-runs.routes.js';
import { SYNC_RUN_STATUSES } from '../../../contracts/admin/sync.values.js';
import type { PageProps } from '../../client/address.js';
import { linkTo, linkWith } from '../../client/links.js';
import { useConnectionChoices } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { byChoice } from '../../parts/filters.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Empty, RunBadge } from '../../parts/states.js';
import { formatSeconds, Time } from '../../parts/values.js';
import { RunDetails } from './run-details.js';
import { changesOf } from './run.rules.js';

const LIVE_MS = 3_000;
const STATUSES = SYNC_RUN_STATUSES.map((status) => [status, status.replace('_', ' ')] as const);

export function SyncPage({ query }: PageProps) {
  const id = query.get('run');
  return id === null ? <RunList query={query} /> : <RunDetails id={id} query={query} />;
}

function RunList({ query }: PageProps) {
  const { isPartner } = useSession();
  const connections = useConnectionChoices('site') ?? [];
  const names = new Map(connections);
  const nameOf = (id: string) => names.get(id) ?? (isPartner ? '' : id);
  const filters = [
    ...(isPartner ? [] : [byChoice('connectionId', 'Connection', connections, 'All site connections')]),
    byChoice('status', 'Result', STATUSES),
  ];
  return (
    <ListPage
      path="/sync-runs"
      query={query}
      filters={filters}
      everyMs={LIVE_MS}
      pageSize={40}
      label="Runs"
      columns={columnsOf(nameOf, query).filter(({ title }) => !isPartner || title !== 'Connection')}
      empty={
        <Empty title="No run yet.">
          A site connection starts its first run at once
          {!isPartner && (
            <>
              : <a href={linkTo('connections', { new: 1 })}>create one</a>
            </>
          )}
          .
        </Empty>
      }
    />
  );
}

function columnsOf(nameOf: (id: string) => string, query: URLSearchParams): readonly Column<SyncRun>[] {
  return [
    {
      title: 'Run',
      cell: (run) => (
        <a href={linkWith('sync', query, { run: run.id })}>
          {run.startedAt === null ? 'not started' : <Time value={run.startedAt} />}
        </a>
      ),
    },
    { title: 'Connection', cell: ({ connectionId }) => nameOf(connectionId) },
    {
      title: 'Result',
      cell: (run) => (
        <>
          <RunBadge run={run} />
          {run.attention !== undefined && <div class="hint clamp">{run.attention}</div>}
          {run.error !== undefined && <div class="hint clamp">{run.error}</div>}
        </>
      ),
    },
    { title: 'Duration', isNumber: true, cell: (run) => durationOf(run) },
    { title: 'Changes', cell: ({ counts }) => changesOf(counts) },
  ];
}

function durationOf({ startedAt, finishedAt }: SyncRun): string {
  if (startedAt === null || finishedAt === null) return '–';
  const seconds = (new Date(finishedAt).getTime() - new Date(startedAt).getTime()) / 1_000;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${formatSeconds(seconds)} min`;
}
