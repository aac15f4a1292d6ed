import type { OverviewDay } from '../../../contracts/admin/overview.dto.js';
import { linkTo } from '../../client/address.js';
import { formatCount } from '../../parts/values.js';

const HOUR_MS = 3_600_000;
const HOUR_SECONDS = 3_600;

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
  readonly text: (value: number) => string;
  /** What stands in place of the chart where every day is zero: what would be here, and how it comes. */
  readonly none: string;
  readonly link: (day: OverviewDay, scope: Scope, isToday: boolean) => string;
}

const timesOf = ({ startTime: from, endTime: to }: OverviewDay, isToday: boolean) =>
  isToday ? { from } : { from, to };

/** Exchanges are counted by whole hours; a day of some zones begins within one. */
const fullHour = (time: string): string => new Date(Math.ceil(Date.parse(time) / HOUR_MS) * HOUR_MS).toISOString();

const oneDecimal = (value: number): string => formatCount(Number(value.toFixed(1)));

export const FIGURES: readonly Figure[] = [
  {
    title: 'Tickets',
    read: ({ tickets }) => tickets,
    text: formatCount,
    none: 'No ticket in 14 days. Partners push them.',
    link: (day, { haulerId }, isToday) => linkTo('tickets', { ...timesOf(day, isToday), haulerId }),
  },
  {
    title: 'Tons',
    read: ({ tons }) => tons,
    text: oneDecimal,
    none: 'No weight in 14 days. It comes with tickets.',
    // A report has one hauler.
    link: (day, { haulerId, zone }, isToday) =>
      haulerId === undefined
        ? linkTo('tickets', timesOf(day, isToday))
        : linkTo('reports', { haulerId, zone, by: 'material', range: 'own', from: day.day, to: day.day }),
  },
  {
    title: 'New accounts',
    read: ({ accounts }) => accounts,
    text: formatCount,
    none: 'No new account in 14 days. Partners create them.',
    link: (day, { haulerId }, isToday) => linkTo('accounts', { ...timesOf(day, isToday), haulerId }),
  },
  {
    title: 'Refused calls',
    read: ({ refusedCalls }) => refusedCalls,
    text: formatCount,
    none: 'No call of a partner was refused in 14 days.',
    link: ({ startTime, endTime }, { haulerId }) =>
      linkTo('exchanges', {
        ...{ direction: 'inbound', failed: 'true', rehearsed: 'false', haulerId },
        ...{ from: fullHour(startTime), to: fullHour(endTime) },
      }),
  },
  {
    title: 'Stored footage',
    read: ({ storedSeconds }) => storedSeconds,
    text: (seconds) => `${oneDecimal(seconds / HOUR_SECONDS)} h`,
    none: 'No footage of 14 days. Follow the cameras of a truck.',
    link: (_, { haulerId, zone }, isToday) => linkTo('coverage', { haulerId, zone, days: isToday ? 1 : 14 }),
  },
];

/** Of what was recorded; undefined where nothing was. */
export const coverageOf = ({ storedSeconds, recordedSeconds = 0 }: OverviewDay): number | undefined =>
  storedSeconds === undefined || recordedSeconds === 0 ? undefined : storedSeconds / recordedSeconds;

/** A round number that no value is above: the scale of a chart. */
export function scaleOf(values: readonly number[]): number {
  const most = Math.max(0, ...values);
  if (most === 0) return 0;
  const power = 10 ** Math.floor(Math.log10(most));
  return ([1, 2, 5].find((each) => each * power >= most) ?? 10) * power;
}
