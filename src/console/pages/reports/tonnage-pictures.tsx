import type { TonnageRow } from '../../../contracts/admin/tickets.routes.js';
import { formatCount } from '../../parts/values.js';
import { useWidth } from '../../parts/bars.js';
import { type Bar, barsOf, scaleOf, sharesOf, type Span } from './reports.rules.js';

/** To the pound, about; the CSV has all digits. */
export const tonsText = (tons: number): string => formatCount(Number(tons.toFixed(3)));

const HEIGHT = 240;
/** Room for the numbers of the scale, and for the names of the days. */
const [LEFT, TOP, BOTTOM] = [64, 8, 22];
/** Of the name of a day. */
const LABEL_WIDTH = 56;

interface DayBarsProps {
  readonly days: readonly TonnageRow[];
  readonly span: Span;
  readonly zone: string;
}

/** The tonnage of each day as bars. The table of the days has the same numbers. */
export function DayBars({ days, span, zone }: DayBarsProps) {
  const [width, ruler] = useWidth();
  const bars = barsOf(days, span, zone);
  const most = bars.reduce((best, bar) => (bar.tons > best.tons ? bar : best), { key: '', tons: 0 });
  const withTickets = new Set(days.map(({ key }) => key)).size;
  const text = `${withTickets} ${withTickets === 1 ? 'day' : 'days'} with tickets; the most was ${tonsText(most.tons)} tons${most.key === '' ? '' : `, ${nameOf(most.key)}`}`;
  return (
    <figure class="chart">
      <h3>Tons by {bars.some(({ key }) => key.length > 7) ? 'day' : 'month'}</h3>
      <div ref={ruler} />
      {width !== undefined && <Bars bars={bars} width={width} label={text} />}
      <figcaption>{text}.</figcaption>
    </figure>
  );
}

function Bars({ bars, width, label }: { bars: readonly Bar[]; width: number; label: string }) {
  const scale = scaleOf(bars.map(({ tons }) => tons));
  const [low, high] = [scale[0] ?? 0, scale.at(-1) ?? 0];
  // By halves: the largest double less the lowest one is no number.
  const y = (tons: number) => TOP + ((high / 2 - tons / 2) / (high / 2 - low / 2 || 1)) * (HEIGHT - TOP - BOTTOM);
  const step = (width - LEFT) / Math.max(1, bars.length);
  const every = Math.max(1, Math.ceil(LABEL_WIDTH / step));
  return (
    <svg class="tonnage" width={width} height={HEIGHT} viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={label}>
      {scale.map((tons) => (
        <g key={tons}>
          <line class={tons === 0 ? 'axis' : 'tick'} x1={LEFT} x2={width} y1={y(tons)} y2={y(tons)} />
          <text class="scale-label" x={LEFT - 6} y={y(tons) + 4}>
            {tonsText(tons)}
          </text>
        </g>
      ))}
      {bars.map(({ key, tons }, i) => (
        <g key={key}>
          <rect
            class={tons < 0 ? 'reversed' : 'received'}
            x={LEFT + (i + 0.12) * step}
            width={step * 0.76}
            y={Math.min(y(0), y(tons))}
            height={Math.abs(y(0) - y(tons))}
          />
          {i % every === 0 && LEFT + i * step + LABEL_WIDTH <= width + step && (
            <text class="day-label" x={LEFT + (i + 0.12) * step} y={HEIGHT - 6}>
              {nameOf(key)}
            </text>
          )}
          <rect class="target" x={LEFT + i * step} width={step} y={TOP} height={HEIGHT - TOP - BOTTOM}>
            <title>{`${nameOf(key)}: ${tonsText(tons)} tons`}</title>
          </rect>
        </g>
      ))}
    </svg>
  );
}

/** `Jan 31` or `Jan 2026` of a key. */
const nameOf = (key: string): string =>
  new Date(`${key.padEnd(10, '-01')}T00:00:00Z`).toLocaleDateString(undefined, {
    timeZone: 'UTC',
    month: 'short',
    ...(key.length > 7 ? { day: 'numeric' } : { year: 'numeric' }),
  });

/** What part of the received tons each material has. */
export function MaterialShares({ materials }: { materials: readonly TonnageRow[] }) {
  const shares = sharesOf(materials);
  return (
    <figure class="chart">
      <h3>Shares by material</h3>
      {shares.length === 0 && <p class="hint">Nothing with a weight was received in this time.</p>}
      <ul class="shares" aria-label="Shares by material">
        {shares.map(({ name, tons, share }, i) => (
          <li key={i}>
            <span class="name">{name}</span>
            <span class="number">
              {Math.round(share * 1_000) / 10} % <span class="hint">{tonsText(tons)} tons</span>
            </span>
            <svg class="share" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
              <rect class="ground" width="100" height="1" />
              <rect class="received" width={share * 100} height="1" />
            </svg>
          </li>
        ))}
      </ul>
    </figure>
  );
}
