import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTestApp, type TestApp } from '../support/app.js';
import { videoConnection } from '../support/held-footage.js';
import { addMinutes } from '../support/rows.js';

interface Interval {
  readonly startTime: string;
  readonly endTime: string;
  readonly state: string;
}

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp({ ticks: false });
});
afterAll(() => app.close());

const read = (connectionId: string, query: Record<string, string>) =>
  app.admin<{ data: Interval[] }>(
    'GET',
    `/coverage?${new URLSearchParams({ connectionId, truckId: 'TRUCK-7', ...query }).toString()}`,
  );

test('a month of many chunks has intervals without gaps, up to 50,000 recordings, and days beyond', async () => {
  const { connectionId } = await videoConnection(app);
  const month = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' };
  await addMinutes(app, connectionId, month.from, 31 * 1_440);
  const intervals = (await read(connectionId, month)).body.data;
  expect(intervals).toHaveLength(2 * 31 * 1_440);
  expect(intervals.filter(({ startTime }, i) => startTime !== (intervals[i - 1]?.endTime ?? month.from))).toEqual([]);
  expect(intervals.slice(0, 2)).toMatchObject([
    { endTime: '2026-01-01T00:00:59.500Z', state: 'stored' },
    { endTime: '2026-01-01T00:01:00Z', state: 'missing' },
  ]);
  await addMinutes(app, connectionId, '2026-01-01T00:00:30Z', 10_000);
  const tooMany = await read(connectionId, month);
  expect(tooMany).toMatchObject({ status: 400, body: { error: { details: { violations: [{ path: 'to' }] } } } });
  expect(tooMany.text).toContain('or pass resolution');
  expect((await read(connectionId, { ...month, resolution: '86400' })).body.data).toHaveLength(31);
});
