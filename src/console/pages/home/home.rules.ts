import type { OverviewHour } from '../../../contracts/admin/overview.dto.js';

export interface Series {
  /** Also the class of its parts. */
  readonly name: string;
  readonly title: string;
  readonly read: (hour: OverviewHour) => number;
}

export interface DayBar {
  readonly startTime: string;
  readonly counts: readonly { readonly title: string; readonly count: number }[];
  readonly parts: readonly { readonly name: string; readonly share: number }[];
}

/** The bars of a day, with heights in proportion to the busiest hour. */
export function dayBars(hours: readonly OverviewHour[], series: readonly Series[]): DayBar[] {
  const sums = hours.map((hour) => series.reduce((sum, { read }) => sum + read(hour), 0));
  const busiest = Math.max(1, ...sums);
  return hours.map((hour) => {
    const present = series
      .map(({ name, title, read }) => ({ name, title, count: read(hour) }))
      .filter((each) => each.count > 0);
    return {
      startTime: hour.startTime,
      counts: present,
      parts: present.map(({ name, count }) => ({ name, share: count / busiest })),
    };
  });
}

export const totalOf = (hours: readonly OverviewHour[], { read }: Series): number =>
  hours.reduce((sum, hour) => sum + read(hour), 0);

export const TICKET_SERIES: readonly Series[] = [
  { name: 'created', title: 'created', read: ({ tickets }) => tickets.created },
  { name: 'updated', title: 'updated', read: ({ tickets }) => tickets.updated },
  { name: 'unchanged', title: 'unchanged', read: ({ tickets }) => tickets.unchanged },
  { name: 'stale', title: 'stale', read: ({ tickets }) => tickets.stale },
  { name: 'refused', title: 'refused', read: ({ tickets }) => tickets.refused },
];

export const RECORDING_SERIES: readonly Series[] = [
  { name: 'created', title: 'stored', read: ({ recordingsStored }) => recordingsStored },
];

export const EXCHANGE_SERIES: readonly Series[] = [
  { name: 'created', title: 'succeeded', read: ({ exchanges }) => exchanges.succeeded },
  { name: 'stale', title: '4xx', read: ({ exchanges }) => exchanges.refused },
  { name: 'refused', title: '5xx', read: ({ exchanges }) => exchanges.failed },
  { name: 'unanswered', title: 'no response', read: ({ exchanges }) => exchanges.unanswered },
];
