import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SharedCounts } from '../../../src/auth/shared-counts.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { statusWithKey } from '../../support/key-status.js';

const LIMIT = 10;

let one: TestApp;
let other: TestApp;
beforeAll(async () => {
  one = await startTestApp({ env: { RATE_LIMIT_PER_MINUTE: LIMIT } });
  other = await startTestApp({ on: one });
});
afterAll(async () => {
  await other.close();
  await one.close();
});

/** The requests of the key that the database has. */
const countOf = async (keyId: string): Promise<number> => {
  const sql = 'SELECT requests::int AS requests FROM request_counts WHERE key_id = $1';
  const [row] = await one.dataSource.query<{ requests: number }[]>(sql, [keyId]);
  return row?.requests ?? 0;
};

test('a key has its requests of a minute over all instances together', async () => {
  const { key, id } = await issueKey(one, ['account']);
  const isRefused = async (service: TestApp) => (await statusWithKey(service, key)) === 429;
  for (let i = 0; i < 6; i++) expect(await isRefused(one)).toBe(false);
  await eventually(async () => expect(await countOf(id)).toBe(6));
  expect(await isRefused(other)).toBe(false);
  await eventually(async () => expect(await countOf(id)).toBe(7));
  const refused: boolean[] = [];
  for (let i = 0; i < 5; i++) refused.push(await isRefused(other));
  expect(refused).toEqual([false, false, false, true, true]);
  // The first instance learns of them with its next request, within a second.
  await eventually(async () => expect(await isRefused(one)).toBe(true));
});

test('a minute that has ended begins anew', async () => {
  const { key, id } = await issueKey(one, ['account']);
  await statusWithKey(one, key);
  await eventually(async () => expect(await countOf(id)).toBe(1));
  await one.dataSource.query("UPDATE request_counts SET requests = 500, ends_at = now() - interval '1 second'");
  expect(await statusWithKey(other, key)).not.toBe(429);
  await eventually(async () => expect(await countOf(id)).toBe(1));
});

test('without the database an instance counts alone, and writes its counts later', async () => {
  const answers: (() => Promise<unknown[]>)[] = [
    () => Promise.reject(new Error('the database is away')),
    () => Promise.resolve([{ keyId: 'a', requests: 7, endsInMs: 30_000 }]),
  ];
  const written: unknown[][] = [];
  const counts = new SharedCounts({
    query: <T>(_sql: string, parameters: unknown[]) => {
      written.push(parameters);
      return (answers.shift() ?? (() => Promise.resolve([])))() as Promise<T>;
    },
  });
  expect([counts.increment('a').totalHits, counts.increment('a').totalHits]).toEqual([1, 2]);
  await counts.flush();
  expect(counts.increment('a').totalHits).toBe(3);
  await counts.flush();
  expect(written).toEqual([
    [['a'], [2]],
    [['a'], [3]],
  ]);
  expect(counts.increment('a').totalHits).toBe(8);
  await counts.flush();
});
