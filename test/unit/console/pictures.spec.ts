import { describe, expect, it, test } from '@jest/globals';
import type { TruckDay } from '../../../src/contracts/admin/coverage.routes.js';
import type { FieldChange, HistoryEntry } from '../../../src/contracts/admin/history.dto.js';
import type { RecordingDetails } from '../../../src/contracts/admin/recordings.routes.js';
import { dayStateOf, monthOf } from '../../../src/console/pages/coverage/coverage.rules.js';
import { lifeOf } from '../../../src/console/pages/recordings/recording-life.rules.js';
import { barsOf, scaleOf, sharesOf } from '../../../src/console/pages/reports/reports.rules.js';
import { stepsOf } from '../../../src/console/pages/tickets/ticket-line.rules.js';

const row = (key: string, tons: number) => ({ key, name: key, tons, tickets: 1, other: {} });
const at = (text: string) => Date.parse(text);

describe('the bars of a report', () => {
  test.each([
    ['23 hours', 'America/Chicago', '2026-03-07T06:00:00Z', '2026-03-10T05:00:00Z', ['07', '08', '09'], '2026-03-08'],
    ['25 hours', 'America/Chicago', '2026-10-31T05:00:00Z', '2026-11-03T06:00:00Z', ['31', '01', '02'], '2026-11-01'],
    [
      'no midnight',
      'America/Santiago',
      '2026-09-05T04:00:00Z',
      '2026-09-08T03:00:00Z',
      ['05', '06', '07'],
      '2026-09-06',
    ],
  ])('have one for each day, also for one of %s, and for those without a ticket', (_, zone, from, to, days, day) => {
    const bars = barsOf([row(day, 12)], [at(from), at(to)], zone);
    expect(bars.map(({ key }) => key.slice(8))).toEqual(days);
    expect(bars.map(({ tons }) => tons)).toEqual([0, 12, 0]);
  });

  it('are months in a long time', () => {
    const rows = [row('2026-01-31', 1), row('2026-02-01', 2), row('2026-02-28', 3)];
    const bars = barsOf(rows, [at('2026-01-01'), at('2027-01-01')], 'UTC');
    expect(bars).toEqual([
      { key: '2026-01', tons: 1 },
      { key: '2026-02', tons: 5 },
    ]);
  });

  test.each([
    [
      [0, 87],
      [0, 25, 50, 75, 100],
    ],
    [
      [-30, 60],
      [-50, -25, 0, 25, 50, 75],
    ],
    [[0.003], [0, 0.001, 0.002, 0.003]],
    [
      [0, 0],
      [0, 0],
    ],
    [[], [0, 0]],
    [
      [Number.MAX_VALUE, -Number.MAX_VALUE],
      [-Number.MAX_VALUE, Number.MAX_VALUE],
    ],
  ])('of %j stand at a scale of round numbers with zero', (values, expected) => {
    expect(scaleOf(values)).toEqual(expected);
  });
});

describe('the shares of materials', () => {
  it('are of what was received: without reversals, and without a division by zero', () => {
    const shares = sharesOf([row('Clay', 25), row('Debris', 75), row('Sand', -10), row('Gravel', 0)]);
    expect(shares.map(({ name, share }) => [name, share])).toEqual([
      ['Debris', 0.75],
      ['Clay', 0.25],
    ]);
    expect(sharesOf([])).toEqual([]);
    expect(sharesOf([row('Sand', -10), row('Gravel', 0)])).toEqual([]);
  });

  it('are at most eight, the rest as one', () => {
    const shares = sharesOf(Array.from({ length: 12 }, (_, i) => row(`M${i}`, 12 - i)));
    expect(shares.map(({ name }) => name)).toEqual(['M0', 'M1', 'M2', 'M3', 'M4', 'M5', 'M6', '5 others']);
    expect(shares.at(-1)?.tons).toBe(15);
  });
});

describe('the steps of a ticket', () => {
  const push = (revision: number, result: string, changes: readonly FieldChange[] = [], more = {}): HistoryEntry => ({
    at: `2026-01-31T08:0${revision}:00.000Z`,
    ...{ event: 'push', text: '', revision, result, changes: [...changes], ...more },
  });
  const quantity = (place: number, before: number, after: number) => ({
    field: `materials[${place}].quantity`,
    ...{ before, after, unitOfMeasure: 'Ton' as const },
  });
  const line = (amount: number, unitOfMeasure = 'Ton') => ({ quantity: amount, unitOfMeasure }) as never;
  const steps = (entries: readonly HistoryEntry[], materials: readonly never[], updatedAt = entries[0]?.at ?? '') =>
    stepsOf(entries, { materials, updatedAt }).map(({ word, amounts, difference }) => [
      word,
      amounts && Object.fromEntries(amounts),
      difference && Object.fromEntries(difference),
    ]);

  it('have the weight after each push and its difference, counted back from now', () => {
    const renamed = { field: 'inboundFlow.ticketNumber', before: 'IN-1', after: 'IN-2' };
    const entries = [
      push(6, 'updated', [quantity(0, 12.48, -12.48)]),
      { ...push(0, 'unchanged'), revision: undefined as never },
      push(5, 'stale'),
      push(4, 'updated', [renamed]),
      push(3, 'updated', [{ field: 'materials[0]', before: line(3, 'Item') }, quantity(0, 14.9, 12.48)]),
      push(2, 'updated', [{ field: 'materials[1]', after: line(14.9) }]),
      push(1, 'created'),
    ].map(({ revision, ...entry }) => ({ ...entry, ...(revision !== undefined && { revision }) }));
    expect(steps(entries, [line(-12.48)])).toEqual([
      ['Reversed', { Ton: -12.48 }, { Ton: -24.96 }],
      ['Repeated', undefined, undefined],
      ['Late', undefined, undefined],
      ['Renamed', { Ton: 12.48 }, {}],
      ['Corrected', { Ton: 12.48 }, { Ton: -2.42, Item: -3 }],
      ['Corrected', { Item: 3, Ton: 14.9 }, { Ton: 14.9 }],
      ['Received', { Item: 3 }, {}],
    ]);
  });

  it('have no weight where it is not known: before more changes than are listed, and of pushes that the contents do not have yet', () => {
    const entries = [
      push(3, 'updated', [quantity(0, 1, 2)]),
      push(2, 'updated', [], { moreChanges: 5 }),
      push(1, 'created'),
    ];
    expect(steps(entries, [line(1)], entries[1]?.at)).toEqual([
      ['Corrected', undefined, undefined],
      ['Changed', { Ton: 1 }, undefined],
      ['Received', undefined, undefined],
    ]);
  });
});

describe('the life of a recording', () => {
  const life = (status: string, own: object, more: object = {}) =>
    lifeOf({
      ...{ source: 'continuous', status, createdAt: 'C', updatedAt: 'U', holdIds: [], ...more },
      life: { attempts: 0, ...own },
    } as unknown as RecordingDetails).map(({ word, at: time, text }) => [word, time, text?.slice(0, 30)]);

  test.each([
    ['available', { dueAt: 'D' }, {}, [['Waiting', 'D', expect.anything()]]],
    [
      'available',
      { attempts: 2, dueAt: 'D' },
      { reason: '503' },
      [
        ['Tried', undefined, '2 times without success: 503'],
        ['Waiting', 'D', expect.anything()],
      ],
    ],
    ['downloading', { attempts: 1, startedAt: 'S' }, {}, [['Downloading', 'S', undefined]]],
    [
      'stored',
      { storedAt: 'S' },
      { holdIds: ['h'] },
      [
        ['Stored', 'S', undefined],
        ['Held', undefined, expect.anything()],
      ],
    ],
    [
      'expired',
      { storedAt: 'S', deletedAt: 'X' },
      { reason: 'old' },
      [
        ['Stored', 'S', undefined],
        ['Deleted by age', 'X', 'old'],
      ],
    ],
    [
      'failed',
      { attempts: 1 },
      { reason: 'refused' },
      [
        ['Tried', undefined, 'Once without success: refused'],
        ['Given up', 'U', 'refused'],
      ],
    ],
  ])('of a recording that is %s with %j has its steps', (status, own, more, expected) => {
    expect(life(status, own, more)).toEqual([['Listed', 'C', expect.anything()], ...expected]);
  });
});

describe('the calendar of a truck', () => {
  it('has the days of a month in weeks, one of 25 hours among them', () => {
    const month = monthOf('2026-11', 0, 'America/Chicago', 7);
    expect([month.previous, month.name, month.next]).toEqual(['2026-10', '2026-11', '2026-12']);
    expect(month.weeks.map((week) => week.map((day) => Number(day?.day.slice(8) ?? 0)))).toEqual([
      [1, 2, 3, 4, 5, 6, 7],
      [8, 9, 10, 11, 12, 13, 14],
      [15, 16, 17, 18, 19, 20, 21],
      [22, 23, 24, 25, 26, 27, 28],
      [29, 30, 0, 0, 0, 0, 0],
    ]);
    const [first] = month.weeks[0] ?? [];
    expect(((first?.end ?? 0) - (first?.start ?? 0)) / 3_600_000).toBe(25);
    expect([month.start, month.end]).toEqual([at('2026-11-01T05:00:00Z'), at('2026-12-01T06:00:00Z')]);
    expect(monthOf('2026-13', at('2026-03-01T04:30:00Z'), 'America/Chicago', 1).name).toBe('2026-02');
    expect(monthOf('2026-01', 0, 'UTC', 1).weeks[0]?.filter((day) => day === undefined)).toHaveLength(3);
  });

  const day = (seconds: Partial<TruckDay>) =>
    dayStateOf({ stored: 0, available: 0, expired: 0, failed: 0, lost: 0, unread: 0, ...seconds } as TruckDay);

  test.each([
    [{}, 'none', '–'],
    [{ unread: 7_200 }, 'unread', '?'],
    [{ stored: 3_600 }, 5, '100%'],
    [{ stored: 999, lost: 1, failed: 1 }, 5, '99%'],
    [{ available: 60 }, 0, '0%'],
  ])('shows a day of %j by a colour and a sign', (seconds, level, sign) => {
    expect(day(seconds)).toMatchObject({ level, sign });
  });
});
