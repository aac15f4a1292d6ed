import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { issueKey } from '../support/api-keys.js';
import { type Reply, startTestApp, type TestApp } from '../support/app.js';
import { shortOrLong, reportFigures } from '../support/faults.js';
import { ScaleHouse } from '../support/scale-house.js';

/** Longer than a key is cached, so that pushes need the database for their key as well. */
const LOCKED_MS = shortOrLong(5_500, 30_000);

let service: TestApp;
let house: ScaleHouse;
let lock: pg.Client;
beforeAll(async () => {
  service = await startTestApp();
  house = await ScaleHouse.open(service);
});
afterEach(() => lock.end());
afterAll(() => service.close());

/** Locks a table on a connection outside of the service. */
async function lockTable(table: string): Promise<void> {
  lock = new pg.Client({ connectionString: service.env.DATABASE_URL });
  await lock.connect();
  await lock.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
}

async function unlock(time: number): Promise<void> {
  await delay(time - performance.now());
  await lock.query('ROLLBACK');
}

let pushed = 0;
const push = (headers: Record<string, string> = {}) => {
  const inboundFlow = { ticketNumber: `F${pushed++}`, updatedAt: '2026-01-31T08:30:00Z' };
  return house.push(house.ticket({ inboundFlow }), headers);
};

/** Repeats a call until the time is over, without a pause. */
async function repeat(until: number, call: () => Promise<Reply<unknown>>, pauseMs = 0): Promise<Reply<unknown>[]> {
  const replies: Reply<unknown>[] = [];
  while (performance.now() < until) {
    replies.push(await call());
    await delay(pauseMs);
  }
  return replies;
}

const crowd = async (callers: number, until: number, call: () => Promise<Reply<unknown>>) =>
  (await Promise.all(Array.from({ length: callers }, () => repeat(until, call, 10)))).flat();

const statuses = (replies: readonly Reply<unknown>[]) => [...new Set(replies.map(({ status }) => status))];

describe('tickets and readiness', () => {
  test(
    'do not wait for 40 callers that create accounts while the table of accounts is locked',
    async () => {
      const { key } = await issueKey(service, ['account'], { haulerId: house.haulerId });
      let names = 0;
      const create = () =>
        service.call('POST', '/platform-api/v1/accounts', {
          headers: { 'PLATFORM-API-KEY': key },
          body: { accountName: `Locked ${names++}` },
        });
      await lockTable('accounts');
      const until = performance.now() + LOCKED_MS;
      const [created, pushes, ready] = await Promise.all([
        crowd(40, until, create),
        repeat(until, () => push(), 10),
        repeat(until, () => service.call('GET', '/health/ready'), 100),
        unlock(until),
      ]);
      expect(statuses(pushes)).toEqual([200]);
      expect(statuses(ready)).toEqual([200]);
      expect(statuses(created)).toContain(503);
      reportFigures('fair connections: locked accounts', { pushes: pushes.length, 'readiness checks': ready.length });
    },
    LOCKED_MS + 20_000,
  );

  test('and all other calls do not wait for 80 callers of admin lists', async () => {
    const { key } = await issueKey(service, ['account'], { haulerId: house.haulerId });
    let names = 0;
    const create = () =>
      service.call('POST', '/platform-api/v1/accounts', {
        headers: { 'PLATFORM-API-KEY': key },
        body: { accountName: `Free ${names++}` },
      });
    await lockTable('video_requests');
    const until = performance.now() + shortOrLong(1_500, 30_000);
    const [lists, created, pushes, ready] = await Promise.all([
      crowd(80, until, () => service.admin('GET', '/video-requests?page=1000')),
      repeat(until, create, 10),
      repeat(until, () => push(), 10),
      repeat(until, () => service.call('GET', '/health/ready'), 100),
      unlock(until),
    ]);
    expect(statuses(created)).toEqual([200]);
    expect(statuses(pushes)).toEqual([200]);
    expect(statuses(ready)).toEqual([200]);
    const refused = lists.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    for (const { headers } of refused) expect(headers.get('retry-after')).toBe('1');
    const headers = { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` };
    const { text } = await service.call('GET', '/metrics', { headers });
    expect(text).toContain(`overload_refusals_total{reason="admin-reads"} ${refused.length}`);
    reportFigures('fair connections: admin lists', {
      lists: lists.length,
      pushes: pushes.length,
      accounts: created.length,
    });
  }, 45_000);

  test('without an Idempotency-Key do not wait for one whose key another instance has locked', async () => {
    const key = { 'Idempotency-Key': 'held' };
    expect((await push(key)).status).toBe(200);
    lock = new pg.Client({ connectionString: service.env.DATABASE_URL });
    await lock.connect();
    await lock.query('BEGIN; SELECT FROM idempotency_keys FOR UPDATE');
    const waiting = push(key);
    const until = performance.now() + 1_000;
    const [pushes] = await Promise.all([crowd(8, until, () => push()), unlock(until)]);
    expect(statuses(pushes)).toEqual([200]);
    expect(pushes.length).toBeGreaterThan(16);
    // The same key with another body (decision 16).
    expect((await waiting).status).toBe(422);
  });
});
