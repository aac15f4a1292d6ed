import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { claimSql } from '../../src/jobs/claim.sql.js';
import { areDue, type Claimed, DueRows, oldestDue } from '../../src/jobs/due-rows.repository.js';
import { LeaseLostError } from '../../src/jobs/run.js';
import type { JobKind } from '../../src/jobs/job-kind.js';
import { addParcels, createParcels, HAULER, parcel, PARCELS, type Parcel } from './due-table.js';
import { uuidv7 } from '../../src/database/uuid.js';
import { eventually } from '../support/eventually.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase;
let first: DataSource;
let second: DataSource;

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  first = await database.connect();
  second = await database.connect();
  await createParcels(first);
});
afterEach(() => first.query('TRUNCATE parcels'));
afterAll(() => database.drop());

/** For leases that must not end during a test, however busy the machine is. */
const LONG_MS = 60_000;

const dueRows = (dataSource: DataSource, kind: Partial<JobKind<Parcel>> = {}) =>
  new DueRows(dataSource, { ...PARCELS, ...kind, run: async () => 'done' } as unknown as JobKind);
const claimOne = async (rows: DueRows): Promise<Claimed> => {
  const [claimed] = await rows.claim(1);
  if (claimed === undefined) throw new Error('nothing is due');
  return claimed;
};
const ids = (claimed: { row: object }[]) => claimed.map(({ row }) => (row as Parcel).id);

describe('a claim', () => {
  test('takes due rows in order up to its limit, leases them, and counts the attempt', async () => {
    const due = await addParcels(first, 3);
    await addParcels(first, 1, { dueInMs: 60_000 });
    const claimed = await dueRows(first, { leaseMs: LONG_MS }).claim(2);
    expect(ids(claimed)).toEqual(due.slice(0, 2));
    expect(claimed[0]).toEqual({
      row: { hauler_id: HAULER, id: due[0], weight: 1 },
      leaseToken: expect.any(String),
      attempt: 1,
    });
    const row = await parcel(first, due[0] ?? '');
    expect(row).toMatchObject({ lease_token: claimed[0]?.leaseToken, attempts: 1, last_error: null });
    expect((row.leased_until?.getTime() ?? 0) - Date.now()).toBeGreaterThan(LONG_MS / 2);
    expect(ids(await dueRows(second).claim(10))).toEqual(due.slice(2));
  });

  test('follows the order of the kind', async () => {
    const late = await addParcels(first, 1, { weight: 10 });
    const early = await addParcels(first, 1, { weight: 5, dueInMs: -1_000 });
    expect(ids(await dueRows(first, { order: ['weight'] }).claim(10))).toEqual([...early, ...late]);
  });

  test('takes the first rows in order, whenever they were added', async () => {
    await addParcels(first, 1, { weight: 10, dueInMs: -1_000 });
    const early = await addParcels(first, 1, { weight: 20, dueInMs: -3_000 });
    await addParcels(first, 1, { weight: 10, dueInMs: -2_000 });
    const light = await addParcels(first, 1, { weight: 5, dueInMs: -500 });
    expect(ids(await dueRows(first).claim(1))).toEqual(early);
    expect(ids(await dueRows(first, { order: ['weight'] }).claim(1))).toEqual(light);
  });

  test.each([
    ['in order of time', {}],
    ['in another order', { order: ['weight'] }],
  ])('reports whether rows are due, and how long the oldest has waited: %s', async (_, changes) => {
    const kind = { ...PARCELS, ...changes, run: async () => 'done' } as unknown as JobKind;
    const state = async () => [(await areDue(first, [kind]))[0], (await oldestDue(first, [kind]))[0]];
    expect(await state()).toEqual([false, 0]);
    await addParcels(first, 1, { dueInMs: 60_000 });
    expect(await state()).toEqual([false, 0]);
    await addParcels(first, 1, { dueInMs: -60_000 });
    await addParcels(first, 1, { dueInMs: -3_600_000 });
    expect(await state()).toEqual([true, expect.closeTo(3_600, -2)]);
    await dueRows(first, { leaseMs: 1 }).claim(10);
    await delay(20);
    expect(await state()).toEqual([true, expect.closeTo(3_600, -2)]);
    await dueRows(first, { leaseMs: LONG_MS }).claim(10);
    expect(await state()).toEqual([false, 0]);
  });

  test('finds a due row behind many that are due later, in an order other than that of time', async () => {
    await addParcels(first, 150, { dueInMs: 60_000 });
    const [due = ''] = await addParcels(first, 1, { weight: 1_000 });
    const kind = { ...PARCELS, order: ['weight'], group: { by: 'connection_id', concurrency: 2 } };
    expect(await areDue(first, [{ ...kind, run: async () => 'done' } as unknown as JobKind])).toEqual([true]);
    expect(ids(await dueRows(first, kind).claim(5))).toEqual([due]);
  });

  test.each([
    ['alone', {}],
    ['in groups', { group: { by: 'connection_id', concurrency: 4 } }],
  ])('sets the columns of `setOnClaim`, and returns the row as it was before: %s', async (_, kind) => {
    const [id = ''] = await addParcels(first, 1, { weight: 5 });
    const claimed = await dueRows(first, { ...kind, setOnClaim: { weight: 't.weight * 10' } }).claim(1);
    expect(claimed[0]?.row).toEqual({ hauler_id: HAULER, id, weight: 6 });
    expect(await parcel(first, id)).toMatchObject({ weight: 60, attempts: 1 });
  });

  test.each([
    ['alone', {}],
    ['in groups', { group: { by: 'connection_id', concurrency: 4 } }],
  ])('skips rows that another transaction has locked: %s', async (_, kind) => {
    const [locked = '', free = ''] = await addParcels(first, 2);
    await first.transaction(async (manager) => {
      await manager.query('SELECT FROM parcels WHERE id = $1 FOR UPDATE', [locked]);
      expect(ids(await dueRows(second, kind).claim(10))).toEqual([free]);
    });
  });

  test('skips rows that the kind does not select, and rows without a due time', async () => {
    await addParcels(first, 2);
    await first.query('UPDATE parcels SET paused = true WHERE weight = 1');
    await first.query('UPDATE parcels SET due_at = NULL WHERE weight = 2');
    expect(await dueRows(first).claim(10)).toEqual([]);
  });

  test('of one instance never returns a row that another instance claims at the same time', async () => {
    const due = await addParcels(first, 200);
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, i) => dueRows(i % 2 === 0 ? first : second, { leaseMs: LONG_MS }).claim(5)),
    );
    const all = claims.flatMap(ids);
    expect(new Set(all).size).toBe(all.length);
    expect(all.length).toBeGreaterThanOrEqual(190);
    expect(due).toEqual(expect.arrayContaining(all));
  });
});

describe('groups', () => {
  const group = { by: 'connection_id', concurrency: 2 };
  const grouped = { group, order: ['weight'], concurrency: 5, leaseMs: LONG_MS };

  test('that are full do not delay other groups', async () => {
    const a = await addParcels(first, 50, { connection: 'a' });
    const b = await addParcels(first, 50, { connection: 'b', weight: 1_000 });
    const c = await addParcels(first, 1, { connection: 'c', weight: 2_000 });
    expect(ids(await dueRows(first, grouped).claim(5))).toEqual([...a.slice(0, 2), ...b.slice(0, 2), ...c]);
    expect(await dueRows(second, grouped).claim(5)).toEqual([]);
  });

  test('do not change the order of the rows', async () => {
    await addParcels(first, 1, { connection: 'a', weight: 1_000 });
    const b = await addParcels(first, 1, { connection: 'b' });
    expect(ids(await dueRows(first, grouped).claim(1))).toEqual(b);
  });

  test('do not count rows with an expired lease, and claim them again', async () => {
    const due = await addParcels(first, 3);
    expect(await dueRows(first, { ...grouped, leaseMs: 1 }).claim(5)).toHaveLength(2);
    await delay(20);
    expect(ids(await dueRows(second, grouped).claim(5))).toEqual(due.slice(0, 2));
  });

  test('are all claimed in the end, also if there are more than a claim looks at behind a full one', async () => {
    await addParcels(first, 300, { connection: 'full' });
    // The ids of connections begin with their time.
    for (let i = 0; i < 40; i++) await addParcels(first, 1, { connection: uuidv7(), weight: 1_000 });
    const rows = dueRows(first, grouped);
    expect(await rows.claim(2)).toHaveLength(2);
    const groups = new Set<string>();
    for (let claims = 0; claims < 12; claims++) {
      for (const id of ids(await rows.claim(5))) groups.add((await parcel(first, id)).connection_id);
    }
    expect(groups.size).toBe(40);
    expect(groups).not.toContain('full');
  });

  test('behind the first 32 are claimed although the head of the queue is not due, by each instance', async () => {
    for (let i = 0; i < 32; i++) await addParcels(first, 4, { connection: uuidv7(), dueInMs: 60_000 });
    const late: string[] = [];
    for (let i = 0; i < 8; i++) late.push(...(await addParcels(first, 1, { connection: uuidv7(), weight: 1_000 })));
    const instances = [dueRows(first, grouped), dueRows(second, grouped)];
    const claimed: string[] = [];
    for (let claims = 0; claims < 4; claims++) {
      for (const rows of instances) claimed.push(...ids(await rows.claim(5)));
    }
    expect(claimed.sort()).toEqual(late.sort());
  });

  test('are claimed in order of time, also if most groups have no due row', async () => {
    for (let i = 0; i < 150; i++) await addParcels(first, 1, { connection: `later ${i}`, dueInMs: 60_000 });
    const due = await addParcels(first, 1, { connection: 'x' });
    expect(ids(await dueRows(first, { group }).claim(5))).toEqual(due);
  });

  test('keep their limit over instances that claim at the same time', async () => {
    await addParcels(first, 50, { connection: 'a' });
    await addParcels(first, 50, { connection: 'b' });
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, i) => dueRows(i % 2 === 0 ? first : second, grouped).claim(5)),
    );
    expect(claims.flat()).toHaveLength(4);
  });

  test('count what a concurrent claim takes, although another row has become the first', async () => {
    const due = await addParcels(first, 3, { weight: 10 });
    await first.query(`
      CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        PERFORM pg_advisory_xact_lock_shared(42); RETURN NEW; END $$;
      CREATE TRIGGER gate BEFORE UPDATE ON parcels FOR EACH ROW EXECUTE FUNCTION wait_at_gate()`);
    const gate = first.createQueryRunner();
    const waiting = (count: number) =>
      eventually(async () => {
        const held = "datname = current_database() AND wait_event_type = 'Lock'";
        expect(await first.query(`SELECT FROM pg_stat_activity WHERE ${held}`)).toHaveLength(count);
      });
    try {
      await gate.query('SELECT pg_advisory_lock(42)');
      const underWay = dueRows(first, grouped).claim(5);
      await waiting(1);
      await addParcels(first, 1);
      const next = dueRows(second, grouped).claim(5);
      await waiting(2);
      await gate.query('SELECT pg_advisory_unlock(42)');
      expect(ids(await underWay)).toEqual(due.slice(0, 2));
      expect(await next).toEqual([]);
    } finally {
      await gate.query('SELECT pg_advisory_unlock_all()');
      await gate.release();
      await first.query('DROP FUNCTION wait_at_gate CASCADE');
    }
  });

  test('have room again after a row has ended', async () => {
    await addParcels(first, 5);
    const rows = dueRows(first, grouped);
    const claimed = await rows.claim(5);
    expect(claimed).toHaveLength(2);
    await Promise.all(claimed.slice(0, 1).map((one) => rows.conclude(one, 'done')));
    expect(await rows.claim(5)).toHaveLength(1);
  });
});

describe('a claim among 200,000 waiting rows', () => {
  const kinds: [string, Partial<JobKind<Parcel>>][] = [
    ['in order of time', {}],
    ['in groups, the first of them full', { group: { by: 'connection_id', concurrency: 2 }, order: ['weight'] }],
  ];

  // Both tests claim from the same rows, in a database of their own.
  let crowded: TestDatabase;
  let crowd: DataSource;
  beforeAll(async () => {
    crowded = await createTestDatabase({ migrated: false });
    crowd = await crowded.connect(1);
    await createParcels(crowd);
    await addParcels(crowd, 190_000, { connection: 'a' });
    await addParcels(crowd, 9_000, { connection: 'b', weight: 1_000_000 });
    await addParcels(crowd, 1_000, { connection: 'c', weight: 2_000_000 });
  }, 60_000);
  afterAll(() => crowded.drop());

  test.each(kinds)('%s reads a few pages', async (_, changes) => {
    await crowd.query('UPDATE parcels SET leased_until = NULL, lease_token = NULL, attempts = 0 WHERE attempts > 0');
    await crowd.query('ANALYZE parcels');
    // Rows with an expired lease, which a busy machine may produce, would be read and written once more.
    const kind = { ...PARCELS, ...changes, leaseMs: LONG_MS, run: async () => 'done' } as unknown as JobKind;
    for (let i = 0; i < 5; i++) await new DueRows(crowd, kind).claim(4);
    // Otherwise their dead row versions are read as long as a transaction of another test is open.
    await crowd.query('VACUUM (INDEX_CLEANUP ON) parcels');
    const [{ 'QUERY PLAN': plan }] = await crowd.query<[{ 'QUERY PLAN': [{ Plan: Record<string, number> }] }]>(
      `EXPLAIN (ANALYZE, BUFFERS, TIMING off, FORMAT JSON) ${claimSql(kind)}`,
      [4, LONG_MS, randomUUID(), ...(kind.group === undefined ? [] : [randomUUID()])],
    );
    const { 'Shared Hit Blocks': hit = NaN, 'Shared Read Blocks': read = NaN } = plan[0].Plan;
    // The table has several thousand pages.
    expect(hit + read).toBeLessThan(1_000);
  });
});

describe('a lease', () => {
  test('that is renewed keeps its row; a row with an expired lease is claimed again, and counts an attempt', async () => {
    const [kept = '', left = ''] = await addParcels(first, 2);
    const rows = dueRows(first, { leaseMs: 1_500 });
    const claimed = await rows.claim(2);
    for (let i = 0; i < 4; i++) {
      await delay(500);
      expect(await rows.renew(claimed.slice(0, 1))).toEqual(new Set(claimed.slice(0, 1)));
    }
    const taken = await dueRows(second).claim(10);
    expect(ids(taken)).toEqual([left]);
    expect(taken[0]?.attempt).toBe(2);
    expect((await parcel(first, kept)).lease_token).toBe(claimed[0]?.leaseToken);
  });

  test('that has expired lets its owner write nothing', async () => {
    const [id = ''] = await addParcels(first, 1);
    const old = await dueRows(first, { leaseMs: 1 }).claim(1);
    await delay(20);
    const [current] = await dueRows(second, { leaseMs: LONG_MS }).claim(1);
    const before = await parcel(first, id);
    const [late] = old;
    if (late === undefined || current === undefined) throw new Error('each must have claimed the row');
    const rows = dueRows(first);
    await expect(rows.update(late, { weight: 99 })).rejects.toThrow(LeaseLostError);
    await expect(rows.finish(late, 'done', { weight: 99 })).rejects.toThrow(LeaseLostError);
    await expect(first.transaction((manager) => rows.hold(late, manager))).rejects.toThrow(LeaseLostError);
    await rows.fail(late, { lastError: 'late', delayMs: 0, isAttempt: true });
    await rows.release(old);
    await rows.conclude(late, 'done');
    expect(await rows.renew(old)).toEqual(new Set());
    expect(await parcel(first, id)).toEqual(before);
    await dueRows(second).finish(current, { afterMs: 5_000 }, { weight: 7, done_by: ['second'] });
    const after = await parcel(first, id);
    expect(after).toMatchObject({ weight: 7, done_by: ['second'], lease_token: null, leased_until: null, attempts: 0 });
    expect((after.due_at?.getTime() ?? 0) - Date.now()).toBeGreaterThan(4_000);
  });

  test('is kept on a row that its own transaction has locked, and the renewal of other leases does not wait', async () => {
    await addParcels(first, 2);
    const rows = dueRows(first);
    const claimed = await rows.claim(2);
    const [locked] = claimed;
    if (locked === undefined) throw new Error('the claim must return rows');
    await first.transaction(async (manager) => {
      await rows.hold(locked, manager);
      const started = Date.now();
      expect(await rows.renew(claimed)).toEqual(new Set(claimed));
      expect(Date.now() - started).toBeLessThan(1_000);
      await delay(500);
      // Both leases have expired, but the locked row cannot be claimed.
      expect(ids(await dueRows(second).claim(10))).toEqual(ids(claimed.slice(1)));
    });
  });

  test('ends when another statement takes the row off the list', async () => {
    const [id = ''] = await addParcels(first, 1);
    const rows = dueRows(first);
    const claimed = await claimOne(rows);
    await first.query('UPDATE parcels SET due_at = NULL, lease_token = NULL WHERE id = $1', [id]);
    await rows.fail(claimed, { lastError: 'too late', delayMs: 0, isAttempt: true });
    expect(await parcel(first, id)).toMatchObject({ due_at: null, last_error: null });
  });
});

describe('the outcome of a run', () => {
  test('that failed is a sentence and a later due time; a success clears both', async () => {
    const [id = ''] = await addParcels(first, 1);
    const rows = dueRows(first);
    await rows.fail(await claimOne(rows), {
      lastError: 'The partner could not be reached.',
      delayMs: 30_000,
      isAttempt: true,
    });
    const failed = await parcel(first, id);
    expect(failed).toMatchObject({ last_error: 'The partner could not be reached.', attempts: 1, lease_token: null });
    expect((failed.due_at?.getTime() ?? 0) - Date.now()).toBeGreaterThan(25_000);
    await first.query('UPDATE parcels SET due_at = now()');
    const again = await claimOne(rows);
    expect(again.attempt).toBe(2);
    await rows.conclude(again, { at: new Date('2030-01-01T00:00:00.000Z') });
    expect(await parcel(first, id)).toMatchObject({
      last_error: null,
      attempts: 0,
      due_at: new Date('2030-01-01T00:00:00.000Z'),
    });
  });

  test('that was released is due at once, and its attempt does not count', async () => {
    const [id = ''] = await addParcels(first, 1);
    const rows = dueRows(first, { leaseMs: LONG_MS });
    await rows.release(await rows.claim(1));
    expect(await parcel(first, id)).toMatchObject({ attempts: 0, leased_until: null, lease_token: null });
    expect(ids(await dueRows(second).claim(1))).toEqual([id]);
  });
});
