import type { OverviewDay } from '../../../contracts/admin/overview.dto.js';
import { Bars } from '../../parts/bars.js';
import { formatCount } from '../../parts/values.js';
import { type Figure, scaleOf, type Scope } from './home.rules.js';

const HEIGHT = 56;

/** A number of today with its list, and the last 14 days. */
export function Tile({ figure, days, scope }: { figure: Figure; days: readonly OverviewDay[]; scope: Scope }) {
  const { title, read, unit = '', link, share } = figure;
  const today = days.at(-1);
  if (today === undefined) return null;
  const text = (value: number) => formatCount(Number(value.toFixed(1))) + unit;
  const values = days.map(read);
  const scale = scaleOf(values.flatMap((value) => value ?? []));
  const items = days.map((day, index) => {
    const [value, isToday] = [values[index], day === today];
    const height = Math.max(0, value ?? 0) / (scale || 1);
    return {
      key: day.day,
      label: `${dayText(day, scope.zone)}: ${value === undefined ? 'not known' : text(value)}`,
      href: link(day, scope, isToday),
      parts: height === 0 ? [] : [{ name: isToday ? 'today' : 'past', share: height }],
      tick: index === 0 || isToday ? dayText(day, scope.zone) : '',
      kind: value === undefined ? 'not-known' : '',
    };
  });
  const now = values.at(-1);
  return (
    <figure class="card figure" role="group" aria-label={title}>
      <h3>{title}</h3>
      <p>
        <a href={link(today, scope, true)}>{now === undefined ? '–' : text(now)}</a>{' '}
        <span class="hint">{share?.(today)}</span>
      </p>
      {values.every((value) => value === 0) ? (
        <p class="hint">None in 14 days.</p>
      ) : (
        <Bars items={items} height={HEIGHT} scale={scale === 0 ? '' : text(scale)} />
      )}
    </figure>
  );
}

const dayText = ({ startTime }: OverviewDay, timeZone: string): string =>
  new Date(startTime).toLocaleDateString(undefined, { timeZone, month: 'short', day: 'numeric' });
