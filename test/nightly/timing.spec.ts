import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createKey } from '../../src/auth/api-key.js';
import { issueKey, neighbour } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { median } from '../bench/statistics.js';
import { seededRandom, reportFigures } from '../support/faults.js';
import { at, CUSTOMER, TRUCK, upload } from '../support/reference-vision.js';
import { callWithKey } from '../support/key-status.js';

const SEED = 20_261_121;
const TIMES = 3_000;
/**
 * The probability of a right guess from one time may differ from one half by this. Two equal distributions of 3,000 times
 * differ by less than 0.0375 in all but one of a million runs (five standard errors of 0.0075). The rest is for other work
 * of this process, which a caller on a network cannot measure.
 */
const MAX_DIFFERENCE = 0.05;

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
  expect((await upload(service, 0)).status).toBe(201);
});
afterAll(() => service.close());

type Kinds = Readonly<Record<string, () => Promise<unknown>>>;

/** The milliseconds of each kind of call, measured in random order so that other load affects all kinds equally. */
async function timesOf(kinds: Kinds): Promise<Record<string, number[]>> {
  const names = Object.keys(kinds);
  const times = Object.fromEntries(names.map((name) => [name, [] as number[]]));
  const random = seededRandom(SEED);
  const turns = names.flatMap((name) => Array.from({ length: TIMES }, () => ({ name, turn: random() })));
  turns.sort((one, other) => one.turn - other.turn);
  for (const { name } of turns.slice(0, 500)) await kinds[name]?.();
  for (const { name } of turns) {
    const started = performance.now();
    await kinds[name]?.();
    times[name]?.push(performance.now() - started);
  }
  return times;
}

/**
 * The probability that a value of `a` is greater than one of `b`; equal values count half (Mann-Whitney U as a share).
 * It is 0.5 if the samples do not differ, for any distribution and with outliers.
 */
function probabilityOfMore(a: readonly number[], b: readonly number[]): number {
  const all = [...a.map((value) => ({ value, of: 'a' })), ...b.map((value) => ({ value, of: 'b' }))];
  all.sort((one, other) => one.value - other.value);
  let ranks = 0;
  for (let from = 0, to = 0; from < all.length; from = to) {
    while (to < all.length && all[to]?.value === all[from]?.value) to++;
    const equal = all.slice(from, to).filter(({ of }) => of === 'a').length;
    ranks += equal * ((from + 1 + to) / 2);
  }
  return (ranks - (a.length * (a.length + 1)) / 2) / (a.length * b.length);
}

/** The standard error of that share for `n` values each, where both are of one distribution. */
const standardError = (n: number): number => Math.sqrt((2 * n + 1) / (12 * n * n));

function expectEqualTimes(what: string, times: Record<string, number[]>): void {
  const [[first, one] = ['', []], ...others] = Object.entries(times);
  for (const [name, other] of others) {
    const probability = probabilityOfMore(one, other);
    reportFigures(what, {
      [`${first} ms`]: median(one).toFixed(3),
      [`${name} ms`]: median(other).toFixed(3),
      'probability of a right guess from one time': probability.toFixed(3),
      'standard error': standardError(TIMES).toFixed(4),
    });
    expect([name, Math.abs(probability - 0.5) < MAX_DIFFERENCE]).toEqual([name, true]);
  }
}

describe('the time of a response does not depend', () => {
  test('on a key: unknown, revoked, expired, or all but one digit right', async () => {
    const issued = await Promise.all(Array.from({ length: 30 }, () => issueKey(service, ['account'])));
    const [revoked, expired, valid] = [issued.slice(0, 10), issued.slice(10, 20), issued.slice(20)];
    for (const { id } of revoked) await service.admin('DELETE', `/api-keys/${id}`);
    await service.dataSource.query('UPDATE api_keys SET expires_at = now() WHERE id = ANY ($1)', [
      expired.map(({ id }) => id),
    ]);
    const next = (keys: readonly string[]) => {
      let n = 0;
      return () => callWithKey(service, keys[n++ % keys.length] ?? '');
    };
    const times = await timesOf({
      unknown: next(Array.from({ length: 10 }, () => createKey().key)),
      revoked: next(revoked.map(({ key }) => key)),
      expired: next(expired.map(({ key }) => key)),
      near: next(valid.map(({ key }) => neighbour(key))),
    });
    expectEqualTimes('timing of keys', times);
  }, 120_000);

  test('on whether an unauthorised customer exists', async () => {
    const { key } = await issueKey(service, ['vision'], { customerId: 'someone else' });
    const list = (customer: string) => () =>
      service.call(
        'GET',
        `/video-platform/v1/videos/continuous?customerId=${encodeURIComponent(customer)}&truckId=${TRUCK}&startTime=${at(0)}&endTime=${at(1)}`,
        { headers: { 'API-KEY': key } },
      );
    expectEqualTimes('timing of customers', await timesOf({ unknown: list('NONE Hauling'), foreign: list(CUSTOMER) }));
  }, 120_000);
});
