import { beforeAll, describe, expect, test } from '@jest/globals';
import { type ErrorBody, flow, Hauler, ONE_SITE } from '../support/hauler.js';
import { call, target } from '../support/target.js';

const FROM = '2026-01-01T00:00:00Z';
const TO = '2099-01-01T00:00:00Z';
const HOUR_MS = 3_600_000;

let hauler: Hauler;
let createdAt: number;
beforeAll(async () => {
  hauler = await Hauler.create({ sites: ONE_SITE });
  await hauler.push({ inboundFlow: flow('N-1') });
  createdAt = Date.now();
});

interface Day {
  readonly key: string;
  readonly tickets: number;
}

const read = (path: string, query: Record<string, string>) =>
  call<ErrorBody & { data: Day[] }>(
    'GET',
    `/admin/v1${path}?${new URLSearchParams({ haulerId: hauler.id, from: FROM, to: TO, ...query }).toString()}`,
    { headers: { Authorization: `Bearer ${target.adminToken}` } },
  );
const tonnage = (timeZone: string) => read('/reports/tonnage', { groupBy: 'day', timeZone });
const fleet = (zone: string) => read('/coverage/fleet', { zone, from: FROM, to: '2026-01-08T00:00:00Z' });

/** The days of the moments between the push and now, so many hours east of UTC. */
const daysAt = (hours: number): string[] =>
  [createdAt, Date.now()].map((time) => new Date(time + hours * HOUR_MS).toISOString().slice(0, 10));

describe('a time zone means the same in every answer (issue 46; operating.md)', () => {
  test.each([
    // Two opposite ones are never on the same day.
    ...([
      ['+14:00', 14],
      ['-14:00', -14],
      ['+05:30', 5.5],
      ['-06:00', -6],
      ['-00:30', -0.5],
    ] as const),
    ...([
      ['Etc/GMT+12', -12],
      ['Etc/GMT-14', 14],
      ['etc/gmt+6', -6],
      ['UTC', 0],
      ['utc', 0],
      ['GMT', 0],
    ] as const),
    ...([
      ['pacific/kiritimati', 14],
      ['Pacific/Pago_Pago', -11],
      ['Asia/Kolkata', 5.5],
      ['asia/calcutta', 5.5],
    ] as const),
    ...([
      ['US/Arizona', -7],
      [' 14:00', 14],
    ] as const),
  ])('%s is %d hours east of UTC', async (zone, hours) => {
    const { status, body } = await tonnage(zone);
    expect([status, body.data]).toEqual([200, [expect.objectContaining({ tickets: 1 })]]);
    expect(daysAt(hours)).toContain(body.data[0]?.key);
    expect((await fleet(zone)).status).toBe(200);
  });

  test.each([
    ...[
      ['PST', 'America/Los_Angeles'],
      ['CST', 'America/Chicago'],
      ['IST', 'Asia/Kolkata'],
      ['bst', 'Europe/London'],
    ],
    ...[
      ['EST5EDT', 'America/New_York'],
      ['MST', 'America/Denver'],
      ['GB', 'Europe/London'],
      ['Japan', 'Asia/Tokyo'],
    ],
    ...[
      ['Mars/Olympus', 'America/Chicago'],
      ['SystemV/CST6', 'America/Chicago'],
      ['UTC+6', '-06:00'],
      ['Z', '-06:00'],
    ],
    ...[
      ['-06', '-06:00'],
      ['+0530', '-06:00'],
      ['+15:00', '-06:00'],
      ['-06:60', '-06:00'],
      ['<+03>-3', '-06:00'],
    ],
    ...[
      ['posix/America/Chicago', 'America/Chicago'],
      ["UTC' OR '1'='1", '-06:00'],
      ['localtime', 'America/Chicago'],
    ],
  ])('%s is 400 with the name to use: %s', async (zone, name) => {
    for (const [reply, path] of [
      [await tonnage(zone), 'timeZone'],
      [await fleet(zone), 'zone'],
    ] as const) {
      const violations = [expect.objectContaining({ path, message: expect.stringContaining(name) })];
      expect([reply.status, reply.body.error.details?.violations]).toEqual([400, violations]);
    }
  });
});
