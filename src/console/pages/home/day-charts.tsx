import type { Overview, OverviewHour } from '../../../contracts/admin/overview.dto.js';
import { type Change, linkTo } from '../../client/address.js';
import { BarLegend, Bars } from '../../parts/bars.js';
import { formatCount } from '../../parts/values.js';
import {
  type DayBar,
  dayBars,
  EXCHANGE_SERIES,
  RECORDING_SERIES,
  type Series,
  TICKET_SERIES,
  totalOf,
} from './home.rules.js';

const HOUR_MS = 3_600_000;
const TICK_HOURS = 6;
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });

/** The last 24 hours as three charts. */
export function DayCharts({ overview: { hours, exchangeLog } }: { overview: Overview }) {
  return (
    <section aria-label="The last 24 hours">
      <h2>The last 24 hours</h2>
      {exchangeLog !== 'all' && (
        <p class="notice">
          <code>EXCHANGE_LOG={exchangeLog}</code>:{' '}
          {exchangeLog === 'off' ? 'calls are not counted.' : 'only failed calls are counted.'}
        </p>
      )}
      <div class="days">
        <DayChart
          title="Pushed tickets"
          hours={hours}
          series={TICKET_SERIES}
          link={{ direction: 'inbound', interface: 'scale' }}
        />
        <DayChart title="Stored recordings" hours={hours} series={RECORDING_SERIES} />
        <DayChart title="Exchanges" hours={hours} series={EXCHANGE_SERIES} link={{}} />
      </div>
    </section>
  );
}

interface DayChartProps {
  readonly title: string;
  readonly hours: readonly OverviewHour[];
  readonly series: readonly Series[];
  /** Filters of the exchanges that a bar leads to. */
  readonly link?: Change;
}

function DayChart({ title, hours, series, link }: DayChartProps) {
  const bars = dayBars(hours, series);
  const items = bars.map((bar, index) => ({
    key: bar.startTime,
    label: describe(bar),
    href: link === undefined ? undefined : linkTo('exchanges', { ...link, ...rangeOf(bar) }),
    parts: bar.parts,
    tick: index % TICK_HOURS === 0 ? CLOCK.format(new Date(bar.startTime)) : '',
  }));
  const entries = series.map((each) => ({ ...each, total: formatCount(totalOf(hours, each)) }));
  return (
    <figure class="chart card" role="group" aria-label={title}>
      <h3>{title}</h3>
      <Bars items={items} />
      <figcaption>
        <BarLegend entries={entries} />
      </figcaption>
    </figure>
  );
}

const rangeOf = ({ startTime }: DayBar) => ({
  from: startTime,
  to: new Date(Date.parse(startTime) + HOUR_MS).toISOString(),
});

function describe({ startTime, counts }: DayBar): string {
  const text = counts.map(({ title, count }) => `${formatCount(count)} ${title}`).join(', ');
  return `${CLOCK.format(new Date(startTime))}: ${text === '' ? 'none' : text}`;
}
