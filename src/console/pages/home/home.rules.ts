import type { OverviewDay } from '../../../contracts/admin/overview.dto.js';
import { linkTo } from '../../client/links.js';

const HOUR_MS = 3_600_000;

/** What the lists behind the numbers are filtered by. */
export interface Scope {
  readonly haulerId: string | undefined;
  readonly zone: string;
}

/** One number of a day, with the list that counts the same. */
export interface Figure {
  readonly title: string;
  /** Undefined: not known. */
  readonly read: (day: OverviewDay) => number | undefined;
  /** Stands behind the number. */
  readonly unit?: string;
  /** Of what it is a part, in words. */
  readonly share?: (day: OverviewDay) => string;
  readonly link: (day: OverviewDay, scope: Scope, isToday: boolean) => string;
}

const timesOf = ({ startTime: from, endTime: to }: OverviewDay, isToday: boolean) =>
  isToday ? { from } : { from, to };

/** Exchanges are counted by whole hours; a day of some zones begins within one. */
const fullHour = (time: string): string => new Date(Math.ceil(Date.parse(time) / HOUR_MS) * HOUR_MS).toISOString();

export const FIGURES: readonly Figure[] = [
  {
    title: 'Tickets',
    read: ({ tickets }) => tickets,
    link: (day, { haulerId }, isToday) => linkTo('tickets', { ...timesOf(day, isToday), haulerId }),
  },
  {
    title: 'Tons',
    read: ({ tons }) => tons,
    // A report has one hauler.
    link: (day, { haulerId, zone }, isToday) =>
      haulerId === undefined
        ? linkTo('tickets', timesOf(day, isToday))
        : linkTo('reports', { haulerId, zone, by: 'material', range: 'own', from: day.day, to: day.day }),
  },
  {
    title: 'New accounts',
    read: ({ accounts }) => accounts,
    link: (day, { haulerId }, isToday) => linkTo('accounts', { ...timesOf(day, isToday), haulerId }),
  },
  {
    title: 'Refused calls',
    read: ({ refusedCalls }) => refusedCalls,
    link: ({ startTime, endTime }, { haulerId }) =>
      linkTo('exchanges', {
        ...{ direction: 'inbound', failed: 'true', rehearsed: 'false', haulerId },
        ...{ from: fullHour(startTime), to: fullHour(endTime) },
      }),
  },
  {
    title: 'Stored footage',
    read: ({ storedSeconds }) => storedSeconds && storedSeconds / 3_600,
    unit: ' h',
    share: ({ storedSeconds = 0, recordedSeconds = 0 }) =>
      recordedSeconds === 0 ? '' : `${Math.floor((storedSeconds / recordedSeconds) * 100)} % of recorded`,
    link: (_, { haulerId, zone }, isToday) => linkTo('coverage', { haulerId, zone, days: isToday ? 1 : 14 }),
  },
];

/** A round number that no value is above: the scale of a chart. */
export function scaleOf(values: readonly number[]): number {
  const most = Math.max(0, ...values);
  if (most === 0) return 0;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5].find((each) => each * power >= most) ?? 10) * power;
}
