import type { TruckDay } from '../../../contracts/admin/coverage.dto.js';
import { DAY_MS, dayOf, localTime, momentOf } from '../../parts/zone.rules.js';
import { timeText } from './coverage-sentence.rules.js';

/** The last minutes of each day are not read yet until the next reading. */
const MIN_UNREAD_SECONDS = 3_600;

/** How a square shows a day: its colour, its sign, and both in words. */
export interface DayState {
  readonly level: number | 'none' | 'unread';
  readonly sign: string;
  readonly text: string;
  readonly isLost: boolean;
}

/** A day without recordings looks different from one whose recordings are not stored or not known. */
export function dayStateOf({ stored, available, expired, failed, lost, unread }: TruckDay): DayState {
  // Of what was recorded: a truck that drives half a day is complete with half a day.
  const recorded = stored + available + lost;
  const isLost = lost > 0;
  const unreadText = unread === 0 ? '' : `; ${timeText(unread)} not known, because the list was not read`;
  if (recorded === 0) {
    return unread >= MIN_UNREAD_SECONDS
      ? { level: 'unread', sign: '?', text: `not known${unreadText}`, isLost }
      : { level: 'none', sign: '–', text: `not recorded, 0% stored${unreadText}`, isLost };
  }
  const part = (seconds: number) => percent(seconds / recorded);
  const text = `${part(stored)} stored, ${part(available)} available, ${part(expired)} expired, ${part(failed)} failed${unreadText}`;
  return { level: Math.ceil((stored / recorded) * 5), sign: part(stored), text, isLost };
}

/** Only what is whole is 100 %. */
function percent(share: number): string {
  if (share > 0 && share < 0.01) return '<1%';
  return `${share < 1 ? Math.min(99, Math.round(share * 100)) : 100}%`;
}

/** A day of a calendar: `2026-01-31`, with its moments. */
export interface CalendarDay {
  readonly day: string;
  readonly start: number;
  readonly end: number;
}

export interface Month {
  /** `2026-01`, and those before and after it. */
  readonly name: string;
  readonly previous: string;
  readonly next: string;
  /** Seven places each; a place before the first or after the last day is empty. */
  readonly weeks: readonly (readonly (CalendarDay | undefined)[])[];
  readonly start: number;
  readonly end: number;
}

const nameOf = (local: number): string => new Date(local).toISOString().slice(0, 7);

/** The month of a name such as `2026-01`, or else that of a moment, as a calendar in the zone has it. `firstDay`: 1 is Monday, 7 Sunday. */
export function monthOf(name: string | null, moment: number, zone: string, firstDay: number): Month {
  const isName = name !== null && /^\d{4}-(0[1-9]|1[0-2])$/.test(name);
  const first = Date.parse(`${isName ? name : nameOf(localTime(moment, zone))}-01T00:00:00Z`);
  const next = new Date(first);
  next.setUTCMonth(next.getUTCMonth() + 1);
  const empty = (new Date(first).getUTCDay() - (firstDay % 7) + 7) % 7;
  const places: (CalendarDay | undefined)[] = Array.from({ length: empty }, () => undefined);
  for (let local = first; local < next.getTime(); local += DAY_MS) {
    // By noon: a midnight may not exist.
    const [start, end] = dayOf(momentOf(local + DAY_MS / 2, zone), zone);
    places.push({ day: new Date(local).toISOString().slice(0, 10), start, end });
  }
  while (places.length % 7 > 0) places.push(undefined);
  return {
    name: nameOf(first),
    previous: nameOf(first - DAY_MS),
    next: nameOf(next.getTime()),
    weeks: Array.from({ length: places.length / 7 }, (_, week) => places.slice(week * 7, week * 7 + 7)),
    start: places[empty]?.start ?? first,
    end: places.findLast((place) => place !== undefined)?.end ?? first,
  };
}
