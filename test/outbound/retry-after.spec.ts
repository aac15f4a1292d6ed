import { describe, expect, test } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { retryAfterMs } from '../../src/outbound/retry-after.js';

const now = new Date('2026-01-31T08:30:00Z');

describe('Retry-After', () => {
  test.each([
    ['120', 120_000],
    ['0', 0],
    ['1.5', 1_500],
    ['0.0004', 1],
    [' 7 ', 7_000],
    ['Sat, 31 Jan 2026 08:31:30 GMT', 90_000],
    ['Saturday, 31-Jan-26 08:31:30 GMT', 90_000],
    ['Sat Jan 31 08:31:30 2026', 90_000],
    ['Sat, 31 Jan 2026 08:00:00 GMT', 0],
    ['-5', undefined],
    ['soon', undefined],
    ['2026-01-31T08:31:30Z', undefined],
    ['1e9', undefined],
    ['Sat, 99 Jan 2026 08:31:30 GMT', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('%s is %s ms', (header, expected) => expect(retryAfterMs(header, now)).toBe(expected));

  test('a date is read as UTC, whatever the time zone of the service', () => {
    const source = pathToFileURL(join(import.meta.dirname, '../../src/outbound/retry-after.ts')).href;
    const dates = ['Sat Jan 31 08:31:30 2026', 'Sat, 31 Jan 2026 08:31:30 GMT'];
    const script = `import { retryAfterMs } from ${JSON.stringify(source)};
      console.log(${JSON.stringify(dates)}.map((date) => retryAfterMs(date, new Date('${now.toISOString()}'))).join())`;
    const env = { ...process.env, TZ: 'America/New_York' };
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' });
    expect(printed).toBe('90000,90000\n');
  });
});
