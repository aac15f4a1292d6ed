import type { OverviewDay, OverviewDays } from '../../../contracts/admin/overview.dto.js';
import { Bars } from '../../parts/bars.js';
import { coverageOf, type Figure, FIGURES, scaleOf, type Scope } from './home.rules.js';

const HEIGHT = 56;

/** What came in today, each number with its last 14 days and its list. */
export function Days({ days, scope }: { days: OverviewDays['days']; scope: Scope }) {
  return (
    <div class="figures">
      {FIGURES.map((figure) => (
        <Tile key={figure.title} figure={figure} days={days} scope={scope} />
      ))}
    </div>
  );
}

interface TileProps {
  readonly figure: Figure;
  readonly days: readonly OverviewDay[];
  readonly scope: Scope;
}

function Tile({ figure: { title, read, text, none, link }, days, scope }: TileProps) {
  const values = days.map(read);
  const today = days.at(-1);
  if (today === undefined) return null;
  const now = read(today);
  const scale = scaleOf(values.flatMap((value) => value ?? []));
  const coverage = title === 'Stored footage' ? coverageOf(today) : undefined;
  const items = days.map((day, index) => {
    const value = values[index];
    const share = scale === 0 ? 0 : Math.max(0, value ?? 0) / scale;
    return {
      key: day.day,
      label: `${dayText(day, scope.zone)}: ${value === undefined ? 'not known' : text(value)}`,
      href: link(day, scope, day === today),
      parts: share === 0 ? [] : [{ name: day === today ? 'today' : 'past', share }],
      tick: index === 0 || day === today ? dayText(day, scope.zone) : '',
      kind: value === undefined ? 'not-known' : '',
    };
  });
  return (
    <figure class="card figure" role="group" aria-label={title}>
      <h3>{title}</h3>
      <p class="big">
        <a href={link(today, scope, true)}>{now === undefined ? '–' : text(now)}</a>
        {coverage !== undefined && <span class="hint">{Math.floor(coverage * 100)} % of what was recorded</span>}
      </p>
      {scale === 0 && values.every((value) => value !== undefined) ? (
        <p class="hint">{none}</p>
      ) : (
        <Bars items={items} height={HEIGHT} scale={scale === 0 ? '' : text(scale)} />
      )}
    </figure>
  );
}

const dayText = ({ startTime }: OverviewDay, timeZone: string): string =>
  new Date(startTime).toLocaleDateString(undefined, { timeZone, month: 'short', day: 'numeric' });
