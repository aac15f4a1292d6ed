import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';
import { linkTo } from '../client/address.js';
import { BarLegend, Bars } from '../parts/bars.js';
import { barsOf, CHANGES, totalsOf } from './run.rules.js';

const LEGEND = [...CHANGES, { name: 'failed', title: 'Failed run' }];

/** The runs of a page as bars, oldest first; each leads to its run. */
export function RunBars({ runs, nameOf }: { runs: readonly SyncRun[]; nameOf: (id: string) => string }) {
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
  return `${name}, ${start}: ${run.status.replace('_', ' ')}, ${text === '' ? 'no changes' : text}`;
}
