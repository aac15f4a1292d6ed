import { useState } from 'preact/hooks';
import type { ExchangeSpans } from '../../../contracts/admin/exchange-reason.dto.js';
import { change, type PageProps } from '../../client/address.js';
import { linkToFilter } from '../../client/links.js';
import { useLoad } from '../../client/load.js';
import { BarLegend, Bars } from '../../parts/bars.js';
import { Card, ErrorBox } from '../../parts/states.js';
import { formatCount } from '../../parts/values.js';

const LIVE_MS = 15_000;
const HOUR_MS = 3_600_000;
const TICKS = 6;
const TICK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const DAY_TICK = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const WHOLE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });

/** The classes of the parts, as on Home. */
const SERIES = [
  ['created', 'succeeded', 'succeeded'],
  ['stale', 'refused', '4xx'],
  ['refused', 'failed', '5xx'],
  ['unanswered', 'unanswered', 'no response'],
] as const;

/** How many exchanges a filter has over time. A bar leads to its hours; to drag over several bars chooses their time. */
export function ExchangeCounts({ filters, query }: PageProps & { filters: Readonly<Record<string, string>> }) {
  const { data, error, reload } = useLoad('/exchanges/counts', filters, LIVE_MS);
  const [drag, setDrag] = useState<readonly [number, number]>();
  if (error !== undefined) return <ErrorBox error={error} onRetry={reload} />;
  if (data === undefined) return null;
  const totals = SERIES.map(([, name]) => data.data.reduce((sum, each) => sum + each[name], 0));
  const failed = totals.slice(1).reduce((sum, each) => sum + each, 0);
  const [first, last] = drag === undefined ? [-1, -1] : drag.toSorted((one, other) => one - other);
  const items = itemsOf(data, query).map((item, index) => ({
    ...item,
    kind: index >= (first ?? 0) && index <= (last ?? 0) ? 'dragged' : '',
  }));
  const end = (isChosen: boolean) => {
    setDrag(undefined);
    if (!isChosen || first === undefined || last === undefined || first === last || first < 0) return;
    change({ from: timeAt(data, first), to: timeAt(data, last + 1) });
  };
  const shown = SERIES.map(([name, , title], index) => ({ name, title, total: formatCount(totals[index] ?? 0) }));
  return (
    <Card
      title={
        data.failedOnly
          ? `${formatCount(failed)} failed ${failed === 1 ? 'exchange' : 'exchanges'}`
          : `${formatCount(failed + (totals[0] ?? 0))} exchanges, ${formatCount(failed)} failed`
      }
      label="Exchanges over time"
      kind="spans"
    >
      <div
        onPointerDown={(event) => {
          const index = indexAt(event);
          if (index !== undefined && event.button === 0) setDrag([index, index]);
        }}
        onPointerMove={(event) => {
          const index = drag && indexAt(event);
          if (drag !== undefined && index !== undefined) setDrag([drag[0], index]);
        }}
        onPointerUp={() => end(true)}
        onPointerLeave={() => end(false)}
        onPointerCancel={() => end(false)}
        onDragStart={(event) => event.preventDefault()}
      >
        <Bars items={items} />
      </div>
      <BarLegend entries={data.failedOnly ? shown.slice(1) : shown} />
    </Card>
  );
}

/** The bar below a pointer, which a touch keeps at the first one. */
function indexAt({ clientX, clientY, currentTarget }: PointerEvent): number | undefined {
  const bar = document.elementFromPoint(clientX, clientY)?.closest('li');
  if (bar == null || !(currentTarget instanceof Node) || !currentTarget.contains(bar)) return undefined;
  return [...(bar.parentElement?.children ?? [])].indexOf(bar);
}

const timeAt = ({ from, hours }: ExchangeSpans, index: number): string =>
  new Date(Date.parse(from) + index * hours * HOUR_MS).toISOString();

function itemsOf(spans: ExchangeSpans, query: URLSearchParams) {
  const { data, hours, failedOnly } = spans;
  const series: readonly (typeof SERIES)[number][] = failedOnly ? SERIES.slice(1) : SERIES;
  const sums = data.map((each) => series.reduce((sum: number, [, name]) => sum + each[name], 0));
  const most = Math.max(1, ...sums);
  const tickEvery = Math.max(1, Math.ceil(data.length / TICKS));
  return data.map((each, index) => {
    const counts = series.filter(([, name]) => each[name] > 0);
    const text = counts.map(([, name, title]) => `${formatCount(each[name])} ${title}`).join(', ');
    const start = new Date(each.startTime);
    return {
      key: each.startTime,
      label: `${WHOLE.format(start)}: ${text === '' ? 'none' : text}`,
      href: linkToFilter('exchanges', query, { from: timeAt(spans, index), to: timeAt(spans, index + 1) }),
      parts: counts.map(([name, field]) => ({ name, share: each[field] / most })),
      tick: index % tickEvery === 0 ? (hours < 24 && data.length * hours <= 24 ? TICK : DAY_TICK).format(start) : '',
    };
  });
}
