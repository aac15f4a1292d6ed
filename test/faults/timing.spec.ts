import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createKey } from '../../src/auth/api-key.js';
import { issueKey, neighbour } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { median } from '../bench/statistics.js';
import { LONG, seededRandom, tell } from '../support/faults.js';
import { at, CUSTOMER, TRUCK, upload } from '../support/hosted-vision.js';
import { knock } from '../support/knock.js';
import { probabilityOfMore, standardError } from '../support/rank.js';

const SEED = 20_261_121;
const TIMES = 3_000;
/**
 * How far the chance of guessing right from one time may be from one half. Two equal distributions of 3,000 times differ
 * by less than 0.0375 in all but one of a million runs (five standard errors of 0.0075); the rest is for what this
 * process does besides, which a caller across a network would never see through.
 */
const TOLD = 0.05;

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
  expect((await upload(service, 0)).status).toBe(201);
});
afterAll(() => service.close());

type Kinds = Readonly<Record<string, () => Promise<unknown>>>;

/** The milliseconds of each kind of call, so many times each, in random turns: whatever else happens meets all alike. */
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

function expectNothingTold(what: string, times: Record<string, number[]>): void {
  const [[first, one] = ['', []], ...others] = Object.entries(times);
  for (const [name, other] of others) {
    const told = probabilityOfMore(one, other);
    tell(what, {
      [`${first} ms`]: median(one).toFixed(3),
      [`${name} ms`]: median(other).toFixed(3),
      'chance of telling them apart by one time': told.toFixed(3),
      'standard error': standardError(TIMES).toFixed(4),
    });
    expect([name, Math.abs(told - 0.5) < TOLD]).toEqual([name, true]);
  }
}

(LONG ? describe : describe.skip)('the time of an answer tells nothing', () => {
  test('of a key: unknown, revoked, expired, or all but one digit right', async () => {
    const issued = await Promise.all(Array.from({ length: 30 }, () => issueKey(service, ['account'])));
    const [revoked, expired, valid] = [issued.slice(0, 10), issued.slice(10, 20), issued.slice(20)];
    for (const { id } of revoked) await service.admin('DELETE', `/api-keys/${id}`);
    await service.dataSource.query('UPDATE api_keys SET expires_at = now() WHERE id = ANY ($1)', [
      expired.map(({ id }) => id),
    ]);
    const next = (keys: readonly string[]) => {
      let n = 0;
      return () => knock(service, keys[n++ % keys.length] ?? '');
    };
    const times = await timesOf({
      unknown: next(Array.from({ length: 10 }, () => createKey().key)),
      revoked: next(revoked.map(({ key }) => key)),
      expired: next(expired.map(({ key }) => key)),
      near: next(valid.map(({ key }) => neighbour(key))),
    });
    expectNothingTold('timing of keys', times);
  }, 120_000);

  test('of what belongs to another customer, or to nobody', async () => {
    const { key } = await issueKey(service, ['vision'], { customerId: 'someone else' });
    const list = (customer: string) => () =>
      service.call(
        'GET',
        `/video-platform/v1/videos/continuous?customerId=${encodeURIComponent(customer)}&truckId=${TRUCK}&startTime=${at(0)}&endTime=${at(1)}`,
        { headers: { 'API-KEY': key } },
      );
    expectNothingTold('timing of customers', await timesOf({ nobody: list('NONE Hauling'), foreign: list(CUSTOMER) }));
  }, 120_000);
});
