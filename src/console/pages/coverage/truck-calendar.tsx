import type { PageProps } from '../../client/address.js';
import { linkWith } from '../../client/links.js';
import { useLoad } from '../../client/load.js';
import { Loadable } from '../../parts/states.js';
import { DAY_MS } from '../../parts/zone.rules.js';
import { type CalendarDay, type DayState, dayStateOf, monthOf } from './coverage.rules.js';

const LIVE_MS = 30_000;
/** A Sunday. */
const SUNDAY = Date.UTC(2026, 0, 4);

/** Not in every browser, nor in the types. */
interface LocaleOfWeeks extends Intl.Locale {
  getWeekInfo?(): { readonly firstDay: number };
}

interface CalendarProps extends PageProps {
  readonly truck: { readonly connectionId: string; readonly truckId: string };
  readonly zone: string;
  /** The shown range: its first day is marked, and its month is shown first. */
  readonly from: number;
}

/** The days of a month, coloured by what is stored of what was recorded. Each opens the day. */
export function TruckCalendar({ truck, query, zone, from }: CalendarProps) {
  // Not `navigator.language`, which may be no language tag.
  const locale = new Intl.Locale(Intl.DateTimeFormat().resolvedOptions().locale) as LocaleOfWeeks;
  const firstDay = locale.getWeekInfo?.().firstDay ?? 7;
  const { name, previous, next, weeks, start, end } = monthOf(query.get('month'), from, zone, firstDay);
  const range = { from: new Date(start).toISOString(), to: new Date(end).toISOString() };
  const month = useLoad('/coverage/fleet', { ...truck, ...range, zone, pageSize: 1 }, LIVE_MS);
  const inUtc = (time: number, options: Intl.DateTimeFormatOptions) =>
    new Date(time).toLocaleDateString(undefined, { timeZone: 'UTC', ...options });
  const title = inUtc(Date.parse(`${name}-01`), { month: 'long', year: 'numeric' });
  const linkToMonth = (to: string) => linkWith('coverage', query, { month: to });
  return (
    <div class="calendar">
      <p class="calendar-head">
        <a href={linkToMonth(previous)} aria-label="The month before">
          ‹
        </a>
        <strong role="status">{title}</strong>
        <a href={linkToMonth(next)} aria-label="The month after">
          ›
        </a>
      </p>
      <Loadable of={month}>
        {({ data }) => {
          const states = new Map(data[0]?.days.map((day) => [day.day, dayStateOf(day)]));
          return (
            <table class={`narrow-table ${month.isStale ? 'stale' : ''}`} aria-label={`Calendar of ${title}`}>
              <thead>
                <tr>
                  {[0, 1, 2, 3, 4, 5, 6].map((place) => (
                    <th key={place} scope="col">
                      {inUtc(SUNDAY + (firstDay + place) * DAY_MS, { weekday: 'short' })}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {weeks.map((week, i) => (
                  <tr key={i}>
                    {week.map((day, place) => (
                      <td key={place}>
                        {day !== undefined && (
                          <Day
                            day={day}
                            state={states.get(day.day)}
                            query={query}
                            isShown={from >= day.start && from < day.end}
                          />
                        )}
                      </td>
                    ))}
                  </tr>
                ))}
              </tbody>
            </table>
          );
        }}
      </Loadable>
    </div>
  );
}

interface DayProps extends PageProps {
  readonly day: CalendarDay;
  readonly state: DayState | undefined;
  readonly isShown: boolean;
}

const NOTHING: DayState = { level: 'none', sign: '–', text: 'not recorded', isLost: false };

/** A day that is still to come has no square. */
function Day({ day: { day, start, end }, state = NOTHING, query, isShown }: DayProps) {
  const date = Number(day.slice(8));
  if (start > Date.now()) return <span class="muted">{date}</span>;
  const href = linkWith('coverage', query, { from: new Date(start).toISOString(), to: new Date(end).toISOString() });
  return <DaySquare state={state} label={day} href={href} date={date} isShown={isShown} />;
}

interface SquareProps {
  readonly state: DayState;
  /** Whose day it is. */
  readonly label: string;
  /** The day. */
  readonly href: string;
  readonly date?: number;
  readonly isShown?: boolean;
}

/** How green a square is. */
export const greenOf = (level: DayState['level']) => `--share: ${Number(level) * 9 + 5}%`;

/** What is stored of a day of a truck, as a colour, a sign and in words. */
export function DaySquare({ state: { level, sign, text, isLost }, label, href, date, isShown = false }: SquareProps) {
  return (
    <a
      class={`square level-${level} ${isLost ? 'lost' : ''}`}
      style={greenOf(level)}
      href={href}
      title={`${label}: ${text}`}
      aria-current={isShown ? 'date' : undefined}
    >
      <span class="hidden">{`${label}: ${text}`}</span>
      {date !== undefined && (
        <span class="date" aria-hidden="true">
          {date}
        </span>
      )}
      <span aria-hidden="true">{sign}</span>
    </a>
  );
}
