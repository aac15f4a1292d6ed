import { describe, expect, it, test } from '@jest/globals';
import { beginsOf, type Notice, sinceBegin } from '../../../src/admin/attention/attention.rules.js';
import { problemOf } from '../../../src/admin/attention/problems.rules.js';
import { footageChance, quietOf, ticketChance, usualOf, weeksOf } from '../../../src/admin/overview/quiet.rules.js';
import type { AttentionKind } from '../../../src/contracts/admin/attention.routes.js';
import { readTimeZone } from '../../../src/contracts/common/time-zone.js';
import { localDays } from '../../../src/vision/coverage/coverage.rules.js';

const HOUR_MS = 3_600_000;
const at = (text: string) => Date.parse(text);
const fail = (): never => {
  throw new Error('it is absent');
};

describe('a source is quiet', () => {
  const weeks = (now: number, ...earlier: number[]) => [now, ...earlier].map((today) => ({ today, yesterday: 40 }));

  test.each([
    ['when it sends nothing', weeks(0, 40, 42, 38, 41), { day: 'today', sent: 0, usual: 40 }],
    ['when it sends less than half', weeks(15, 40, 42, 38, 41), { day: 'today', sent: 15, usual: 40 }],
    ['not when it sends half', weeks(20, 40, 42, 38, 41), undefined],
    ['not for what chance explains', weeks(1, 4, 4, 4, 4), undefined],
    ['not on a day of the week on which it is closed', weeks(0, 0, 0, 0, 0), undefined],
    ['not after one holiday in four weeks', weeks(39, 0, 40, 40, 40), undefined],
    ['also in its second week', weeks(0, 30), { day: 'today', sent: 0, usual: 30 }],
    ['not on its first day', weeks(3), undefined],
  ] as const)('%s', (_, sent, found) => {
    expect(quietOf(sent, ticketChance)).toEqual(found);
  });

  it('by its whole last day where today says nothing', () => {
    const sent = [0, 80_000, 82_000].map((yesterday) => ({ yesterday, today: 0 }));
    const found = { day: 'yesterday', sent: 0, usual: 80_000 };
    expect([quietOf(sent, footageChance, false), quietOf(sent, footageChance)]).toEqual([found, found]);
  });

  it('by the middle one of the weeks since it first sent something', () => {
    expect([[], [7], [0, 8, 0, 0], [5, 0, 9, 8]].map(usualOf)).toEqual([0, 7, 0, 5]);
  });

  it('by the same time of the same local days, also where the clocks change', () => {
    const zone = readTimeZone('America/Chicago');
    const now = at('2026-03-10T15:00:00Z');
    const weeksBefore = weeksOf(localDays(now - 31 * 24 * HOUR_MS, now + 1, zone ?? fail()), now);
    expect(weeksBefore).toHaveLength(5);
    // 10:00 in summer time, and 10:00 in winter time.
    expect(weeksBefore.slice(0, 2).map(({ today }) => new Date(today.to).toISOString())).toEqual([
      '2026-03-10T15:00:00.000Z',
      '2026-03-03T16:00:00.000Z',
    ]);
    expect(weeksBefore.map(({ yesterday: { from, to } }) => (to - from) / HOUR_MS)).toEqual([24, 24, 24, 24, 24]);
  });
});

const notice = (kind: AttentionKind, connection: string | undefined, more: Partial<Notice> = {}): Notice => ({
  ...{ kind, severity: 'now', count: 1, haulerId: 'h', subject: 's', since: new Date(0), sentence: '', page: '/p' },
  ...(connection === undefined ? {} : { connection: { id: connection, interface: 'site' } }),
  ...more,
});

describe('findings are one problem', () => {
  const countOf = (...notices: Notice[]) => new Set(notices.map(problemOf)).size;

  it('where a refused key lets the calls and runs of a connection fail', () => {
    const kinds = ['refused-keys', 'failing-calls', 'failing-runs', 'unread-windows'] as const;
    expect(countOf(...kinds.map((kind) => notice(kind, 'c', { subject: kind })))).toBe(1);
    expect(countOf(notice('refused-keys', 'c'), notice('refused-keys', 'd'), notice('held-runs', 'c'))).toBe(3);
  });

  it('where recordings of several trucks of a connection are lost, and where keys of a hauler expire', () => {
    const [one, other] = ['TRUCK-7', 'TRUCK-8'].map((subject) => notice('failed-downloads', 'c', { subject }));
    expect(countOf(one ?? fail(), other ?? fail(), notice('expired-downloads', 'c'))).toBe(1);
    expect(countOf(notice('expiring-keys', undefined, { subject: 'a' }), notice('expiring-keys', undefined))).toBe(1);
    expect(countOf(notice('expiring-keys', undefined), notice('expiring-keys', undefined, { haulerId: 'i' }))).toBe(2);
  });

  it('not where pushes are refused for other reasons', () => {
    const subjects = ['422 materialExists', '400 isEnum', '422 materialExists'];
    const pushes = subjects.map((subject) => notice('refused-pushes', undefined, { subject }));
    expect(countOf(...pushes)).toBe(2);
  });
});

it('what lasts has the time of the look that first saw it, until a look sees it no more', () => {
  const known = new Set<AttentionKind>(['clock']);
  const seen = (time: number) => [notice('clock', undefined, { since: new Date(time) })];
  const first = beginsOf(new Map(), seen(1), known);
  const later = beginsOf(first, seen(2), known);
  expect(seen(3).map((each) => sinceBegin(later, each).since)).toEqual([new Date(1)]);
  expect(beginsOf(later, [], new Set()).size).toBe(1);
  expect(beginsOf(later, [], known).size).toBe(0);
});
