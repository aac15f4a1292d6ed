import type { SyncRun } from '../../../contracts/admin/sync-run.dto.js';
import { SYNC_RUN_STATUSES } from '../../../contracts/admin/sync.values.js';
import { linkTo, type PageProps } from '../../client/address.js';
import { useConnectionChoices } from '../../client/haulers.js';
import { useSession } from '../../client/session.js';
import { BarLegend, Bars } from '../../parts/bars.js';
import { byChoice } from '../../parts/filters.js';
import { type Column, ListPage } from '../../parts/listing.js';
import { Empty, RunBadge } from '../../parts/states.js';
import { formatCount, formatSeconds, Time } from '../../parts/values.js';
import { RunDetails } from './run-details.js';
import { barsOf, CHANGES, totalsOf } from './run.rules.js';

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
      columns={columnsOf(nameOf).filter(({ title }) => !isPartner || title !== 'Connection')}
      keyOf={({ id }) => id}
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
    >
      {(runs) => runs.length > 0 && <RunBars runs={runs} nameOf={nameOf} />}
    </ListPage>
  );
}

function columnsOf(nameOf: (id: string) => string): readonly Column<SyncRun>[] {
  return [
    {
      title: 'Run',
      cell: (run) => (
        <a href={linkTo('sync', { run: run.id, connectionId: run.connectionId })}>
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
    { title: 'Changes', cell: ({ counts }) => <Changes counts={counts} /> },
  ];
}

/** The counts that are not zero, with the colours of the bars. */
function Changes({ counts }: Pick<SyncRun, 'counts'>) {
  const totals = totalsOf(counts);
  const present = CHANGES.filter(({ name }) => totals[name] > 0);
  if (present.length === 0) return <span class="muted">none</span>;
  return (
    <ul class="legend">
      {present.map(({ name }) => (
        <li key={name}>
          <span class={`swatch ${name}`} /> {formatCount(totals[name])} {name}
        </li>
      ))}
    </ul>
  );
}

function durationOf({ startedAt, finishedAt }: SyncRun): string {
  if (startedAt === null || finishedAt === null) return '–';
  const seconds = (new Date(finishedAt).getTime() - new Date(startedAt).getTime()) / 1_000;
  return seconds < 1
    ? `${Math.round(seconds * 1_000)} ms`
    : seconds < 10
      ? `${seconds.toFixed(1)} s`
      : seconds < 60
        ? `${Math.round(seconds)} s`
        : `${formatSeconds(seconds)} min`;
}

const LEGEND = [...CHANGES, { name: 'failed', title: 'Failed run' }];

/** The runs of a page as bars, oldest first; each leads to its run. */
function RunBars({ runs, nameOf }: { runs: readonly SyncRun[]; nameOf: (id: string) => string }) {
  const oldestFirst = runs.toReversed();
  const bars = barsOf(oldestFirst.map(({ counts }) => counts));
  const items = oldestFirst.map((run, index) => ({
    key: run.id,
    label: describe(run, nameOf(run.connectionId)),
    href: linkTo('sync', { run: run.id, connectionId: run.connectionId }),
    parts: bars[index] ?? [],
    kind: run.status,
  }));
  return (
    <figure class="chart card">
      <Bars items={items} />
      <figcaption>
        <BarLegend entries={LEGEND} />
        Heights grow with the logarithm of the number of records.
      </figcaption>
    </figure>
  );
}

function describe(run: SyncRun, name: string): string {
  const totals = totalsOf(run.counts);
  const changes = CHANGES.filter((change) => totals[change.name] > 0);
  const text = changes.map((change) => `${totals[change.name]} ${change.name}`).join(', ');
  const start = run.startedAt === null ? 'not started' : new Date(run.startedAt).toLocaleString();
  return `${name === '' ? '' : `${name}, `}${start}: ${run.status.replace('_', ' ')}${run.attention === undefined ? '' : ' with quarantined records'}, ${text === '' ? 'no changes' : text}`;
}
