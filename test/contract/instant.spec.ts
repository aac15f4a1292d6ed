import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  epochMillis,
  formatInstant,
  instantOf,
  microsBetween,
  parseInstant,
  secondsBetween,
} from '../../src/contracts/common/instant.js';

describe('date-time (decision 7)', () => {
  it.each([
    ['2026-01-31T08:30:00Z', '2026-01-31T08:30:00.000000Z'],
    ['2026-01-31t08:30:00z', '2026-01-31T08:30:00.000000Z'],
    ['2026-01-31T08:30:00.5+02:00', '2026-01-31T06:30:00.500000Z'],
    ['2026-01-31T08:30:00.123456Z', '2026-01-31T08:30:00.123456Z'],
    ['2026-01-31T08:30:00.1234567899Z', '2026-01-31T08:30:00.123456Z'],
    ['2026-01-01T00:30:00+01:00', '2025-12-31T23:30:00.000000Z'],
    ['2025-12-31T23:30:00-01:00', '2026-01-01T00:30:00.000000Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000000Z'],
    ['2026-01-31T08:30:00-00:00', '2026-01-31T08:30:00.000000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000000Z'],
    ['2017-01-01T00:59:60+01:00', '2017-01-01T00:00:00.000000Z'],
  ])('reads %s', (text, canonical) => expect(parseInstant(text)).toBe(canonical));

  it.each([
    '',
    '2026-01-31',
    '2026-01-31T08:30:00',
    '2026-01-31T08:30Z',
    '2026-01-31 08:30:00Z',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T08:60:00Z',
    '2026-01-31T08:30:61Z',
    '2026-01-31T08:30:60Z',
    '2026-01-31T08:30:00.Z',
    '2026-01-31T08:30:00+0200',
    '2026-01-31T08:30:00+24:00',
    '2026-01-31T08:30:00+02:60',
    '0000-12-31T23:59:59Z',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    ' 2026-01-31T08:30:00Z',
    '2026-01-31T08:30:00Z\n',
    '1769848200',
    '２026-01-31T08:30:00Z',
  ])('refuses %j', (text) => expect(parseInstant(text)).toBeUndefined());

  it('orders by microseconds as plain text', () => {
    const [a, b] = ['2026-01-31T08:30:00.000001Z', '2026-01-31T10:30:00.000002+02:00'].map(
      (text) => parseInstant(text) ?? '',
    );
    expect(a! < b!).toBe(true);
  });

  it.each([
    ['2026-01-31T08:30:00.000000Z', '2026-01-31T08:30:00Z'],
    ['2026-01-31T08:30:00.120000Z', '2026-01-31T08:30:00.120Z'],
    ['2026-01-31T08:30:00.000900Z', '2026-01-31T08:30:00Z'],
  ])('answers %s as %s', (canonical, answer) => expect(formatInstant(canonical)).toBe(answer));

  it('goes to a date and back', () => {
    const date = new Date('2026-01-31T08:30:00.120Z');
    expect(formatInstant(date)).toBe('2026-01-31T08:30:00.120Z');
    expect(instantOf(date)).toBe('2026-01-31T08:30:00.120000Z');
    expect(epochMillis(instantOf(date))).toBe(date.getTime());
  });

  it.each([
    ['2026-01-31T08:30:00.000000Z', '2026-01-31T09:30:00.000000Z', 3600],
    ['2026-01-31T23:59:59.000000Z', '2026-02-01T00:00:01.000000Z', 2],
    ['2026-01-31T08:30:00.000000Z', '2026-01-31T08:30:00.499999Z', 0],
    ['2026-01-31T08:30:00.000000Z', '2026-01-31T08:30:00.500000Z', 1],
    ['2026-01-31T08:30:00.000999Z', '2026-01-31T08:30:01.500000Z', 2],
  ])('from %s to %s there are %i whole seconds', (start, end, seconds) =>
    expect(secondsBetween(start, end)).toBe(seconds),
  );

  it.each([
    ['2026-01-31T08:30:00.000000Z', '2026-01-31T09:30:00.000001Z', 3_600_000_001],
    ['2026-01-31T08:30:00.000999Z', '2026-01-31T08:30:00.001000Z', 1],
    ['2026-01-31T08:30:00.123456Z', '2026-01-31T08:30:00.123456Z', 0],
    ['2026-01-31T08:30:00.000001Z', '2026-01-31T08:30:00.000000Z', -1],
    ['9998-12-31T23:59:59.999998Z', '9999-01-01T00:00:00.000000Z', 2],
  ])('from %s to %s are %i microseconds', (from, to, micros) => expect(microsBetween(from, to)).toBe(micros));

  it('reads UTC by its short way as by the long one', () => {
    const two = (max: number) => fc.nat(max).map((number) => String(number).padStart(2, '0'));
    const text = fc
      .tuple(
        fc.constantFrom('0000', '0001', '1900', '2000', '2024', '2025', '9999'),
        two(14),
        two(33),
        two(25),
        two(61),
        two(61),
        fc.stringMatching(/^(\.\d{0,9})?$/),
      )
      .map(([y, mo, d, h, mi, s, fraction]) => `${y}-${mo}-${d}T${h}:${mi}:${s}${fraction}`);
    fc.assert(
      fc.property(text, (time) => expect(parseInstant(`${time}Z`)).toBe(parseInstant(`${time}+00:00`))),
      { numRuns: 20_000 },
    );
  });
});
