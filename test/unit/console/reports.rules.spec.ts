import { describe, expect, it, test } from '@jest/globals';
import { spanOf, sumOf } from '../../../src/console/pages/reports/reports.rules.js';

describe('the range of a report', () => {
  const at = Date.parse('2026-03-01T04:30:00Z');
  const text = (span: readonly [number, number] | undefined) => span?.map((time) => new Date(time).toISOString());

  test.each([
    ['month', 'UTC', ['2026-03-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z']],
    ['month', 'America/Chicago', ['2026-02-01T06:00:00.000Z', '2026-03-01T06:00:00.000Z']],
    ['last', 'UTC', ['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z']],
    ['last', 'America/Chicago', ['2026-01-01T06:00:00.000Z', '2026-02-01T06:00:00.000Z']],
    ['own', 'America/Chicago', ['2026-03-08T06:00:00.000Z', '2026-03-09T05:00:00.000Z']],
  ] as const)('is that of "%s" in %s', (range, zone, expected) => {
    expect(text(spanOf(range, ['2026-03-08', '2026-03-08'], at, zone))).toEqual(expected);
  });

  it('is none without two days in their order', () => {
    expect(spanOf('own', ['', '2026-01-01'], at, 'UTC')).toBeUndefined();
    expect(spanOf('own', ['2026-01-02', '2026-01-01'], at, 'UTC')).toBeUndefined();
  });
});

it('a sum of tons is without the digits of binary numbers', () => {
  const row = (tons: number) => ({ key: '', name: '', tons, tickets: 1, other: {} });
  expect(sumOf([row(0.1), row(0.2)], ({ tons }) => tons)).toBe(0.3);
});
