import type { SyncRun } from '../../contracts/admin/sync-run.dto.js';
import { linkTo } from '../client/address.js';
import { barsOf, CHANGES, totalsOf } from './run.rules.js';

const HEIGHT = 110;

/** The runs of a page as bars, oldest first; each leads to its run. */
export function RunBars({ runs, nameOf }: { runs: readonly SyncRun[]; nameOf: (id: string) => string }) {
  const oldestFirst = runs.toReversed();
  const bars = barsOf(oldestFirst.map(({ counts }) => counts));
  return (
    <figure class="chart card">
      <ol class="bars">
        {oldestFirst.map((run, index) => {
          const label = describe(run, nameOf(run.connectionId));
          return (
            <li key={run.id}>
              <a
                href={linkTo('sync', { run: run.id, connectionId: run.connectionId })}
                aria-label={label}
                title={label}
                class={`bar ${run.status}`}
              >
                {bars[index]?.map(({ name, share }) => (
                  <span key={name} class={`part ${name}`} style={{ height: `${Math.max(3, share * HEIGHT)}px` }} />
                ))}
              </a>
            </li>
          );
        })}
      </ol>
      <figcaption>
        <ul class="legend">
          {CHANGES.map(({ name, title }) => (
            <li key={name}>
              <span class={`swatch ${name}`} /> {title}
            </li>
          ))}
          <li>
            <span class="swatch failed" /> Failed run
          </li>
        </ul>
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
