import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from '@jest/globals';

test('a date of Retry-After is read as UTC, whatever the time zone of the service', () => {
  const source = pathToFileURL(join(import.meta.dirname, '../../../src/core/outbound/retry-after.ts')).href;
  const dates = ['Sat Jan 31 08:31:30 2026', 'Sat, 31 Jan 2026 08:31:30 GMT'];
  const script = `import { retryAfterDate } from ${JSON.stringify(source)};
    console.log(${JSON.stringify(dates)}.map((date) => retryAfterDate(date, new Date(0)).toISOString()).join())`;
  const env = { ...process.env, TZ: 'America/New_York' };
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env, encoding: 'utf8' });
  expect(printed).toBe('2026-01-31T08:31:30.000Z,2026-01-31T08:31:30.000Z\n');
});
