import type { Connection } from '../../contracts/admin/connection.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';
import { linkTo, type PageProps } from '../client/address.js';
import { useLoad } from '../client/load.js';
import { Filters, pick, SelectFilter } from '../parts/filters.js';
import { type Column, Listing, NoMatch } from '../parts/listing.js';
import { Badge, Empty } from '../parts/states.js';
import { formatCount, formatSeconds, Time, useHaulerName } from '../parts/values.js';
import { RunBars } from './run-bars.js';
import { RunDetails } from './run-details.js';
import { CHANGES, totalsOf } from './run.rules.js';

const LIVE_MS = 3_000;
const STATUSES = ['queued', 'running', 'succeeded', 'failed', 'held', 'rejected', 'no_data'].map(
  (value) => [value, value.replace('_', ' ')] as const,
);

export function SyncPage({ query }: PageProps) {
  const id = query.get('run');
  return id === null ? <RunList query={query} /> : <RunDetails id={id} query={query} />;
}

function RunList({ query }: PageProps) {
  const filters = pick(query, 'connectionId', 'status', 'page');
  const runs = useLoad<List<SyncRun>>('/sync-runs', { ...filters, pageSize: 40 }, { everyMs: LIVE_MS });
  const connections = useLoad<List<Connection>>('/connections', { interface: 'site', pageSize: 100 });
  const haulerName = useHaulerName();
  const nameOf = (id: string) => {
    const connection = connections.data?.data.find((each) => each.id === id);
    return connection === undefined ? id : haulerName(connection.haulerId);
  };
  return (
    <>
      <Filters>
        <SelectFilter
          name="connectionId"
          label="Connection"
          query={query}
          all="All site connections"
          choices={(connections.data?.data ?? []).map(({ id }) => [id, nameOf(id)] as const)}
        />
        <SelectFilter name="status" label="Result" query={query} choices={STATUSES} />
      </Filters>
      {runs.data !== undefined && runs.data.data.length > 0 && <RunBars runs={runs.data.data} nameOf={nameOf} />}
      <Listing
        label="Runs"
        list={runs}
        columns={columnsOf(nameOf)}
        keyOf={({ id }) => id}
        empty={
          Object.keys(filters).length > 0 ? (
            <NoMatch />
          ) : (
            <Empty title="No run yet.">
              A site connection starts its first run at once: <a href={linkTo('connections', { new: 1 })}>create one</a>
              .
            </Empty>
          )
        }
      />
    </>
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
      cell: ({ status, error }) => (
        <>
          <Badge value={status} />
          {error !== undefined && <div class="hint clamp">{error}</div>}
        </>
      ),
    },
    { title: 'Took', isNumber: true, cell: (run) => durationOf(run) },
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
