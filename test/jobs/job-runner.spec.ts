import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { DueRows } from '../../src/jobs/due-rows.repository.js';
import { LeaseLostError, type Run, StoppingError } from '../../src/jobs/run.js';
import type { JobKind } from '../../src/jobs/job-kind.js';
import { PartnerFailure } from '../../src/partner-client/partner-failure.js';
import { JobRunner } from '../../src/jobs/job-runner.js';
import { addParcels, createParcels, HAULER, parcel, PARCELS, type Parcel } from '../support/due-table.js';
import { eventually } from '../support/eventually.js';
import { tell } from '../support/faults.js';
import { held } from '../support/held.js';
import { createTestDatabase, type TestDatabase, testServer } from '../support/test-database.js';
import { onServer } from '../support/test-server.js';

Logger.overrideLogger(false);

let database: TestDatabase;
let first: DataSource;
let second: DataSource;
const runners: JobRunner[] = [];

beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  first = await database.connect();
  second = await database.connect();
  await createParcels(first);
});
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.drain(0, 1_000)));
  await first.query('TRUNCATE parcels');
});
afterAll(() => database.drop());

type Work = Partial<JobKind<Parcel>> & Pick<JobKind<Parcel>, 'run'>;

/** Its leases end for those alone that ask for short ones: on a busy machine nobody may renew them in time. */
function runnerOf(dataSource: DataSource, kind: Work): JobRunner {
  return withRows(dataSource, kind).runner;
}

/** The rows too, for what happens while a statement of theirs is under way. */
function withRows(dataSource: DataSource, kind: Work): { runner: JobRunner; rows: DueRows } {
  const rows = new DueRows(dataSource, { ...PARCELS, leaseMs: 60_000, ...kind });
  const runner = new JobRunner(rows);
  runners.push(runner);
  return { runner, rows };
}

const count = async (condition: string): Promise<number> => {
  const [row] = await first.query<{ n: number }[]>(`SELECT count(*)::int AS n FROM parcels WHERE ${condition}`);
  return row?.n ?? 0;
};

/** Ends when it is aborted. */
const untilAborted = (run: Run<Parcel>): Promise<never> =>
  new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason as Error)));

describe('running', () => {
  test('in order, never more at once than the kind says, until nothing is due', async () => {
    const ids = await addParcels(first, 25);
    const begun: string[] = [];
    let now = 0;
    let most = 0;
    const runner = runnerOf(first, {
      concurrency: 3,
      run: async ({ row }) => {
        begun.push(row.id);
        most = Math.max(most, ++now);
        await delay(5);
        now--;
        return 'done';
      },
    });
    await runner.tick();
    await eventually(async () => expect(await count('due_at IS NOT NULL')).toBe(0));
    expect(begun).toEqual(ids);
    expect(most).toBe(3);
    expect(runner.running).toBe(0);
  });

  test('what the handler writes with its last move stands there, and its next time', async () => {
    const [id = ''] = await addParcels(first, 1);
    const runner = runnerOf(first, {
      run: async (run) => {
        await run.update({ weight: 41 });
        await first.transaction(async (manager) => {
          await run.hold(manager);
          await run.finish({ afterMs: 60_000 }, { weight: 42 }, manager);
        });
        return 'done';
      },
    });
    await runner.tick();
    await eventually(async () => expect(await parcel(first, id)).toMatchObject({ weight: 42, lease_token: null }));
    expect((await parcel(first, id)).due_at).not.toBeNull();
  });

  test.each([
    [
      'an expected error',
      Object.assign(new Error('The partner did not answer.'), { expected: true }),
      'The partner did not answer.',
      60_000,
    ],
    [
      'an error that knows when',
      Object.assign(new Error('Busy.'), { expected: true, retryAfterMs: 90_000 }),
      'Busy.',
      90_000,
    ],
    [
      'a surprise',
      new Error('no\0 at https://x.example/a?sig=1'),
      'An unexpected error happened: no at https://x.example/a?[redacted]',
      60_000,
    ],
    [
      'a database that is away',
      new Error('Connection terminated due to connection timeout'),
      'The database was unavailable: Connection terminated due to connection timeout',
      60_000,
    ],
    [
      'a statement of ours that is too slow',
      Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' }),
      'An unexpected error happened: canceling statement due to statement timeout',
      60_000,
    ],
  ])('%s is recorded as a sentence, with the next time', async (_, error, sentence, afterMs) => {
    const [id = ''] = await addParcels(first, 1);
    const runner = runnerOf(first, { run: () => Promise.reject(error) });
    await runner.tick();
    await eventually(async () => expect((await parcel(first, id)).last_error).toBe(sentence));
    const row = await parcel(first, id);
    expect(row).toMatchObject({ attempts: sentence.startsWith('The database was') ? 0 : 1, lease_token: null });
    expect(Math.abs((row.due_at?.getTime() ?? 0) - Date.now() - afterMs)).toBeLessThan(2_000);
  });

  test('the longer, the more often it has failed', async () => {
    const [id = ''] = await addParcels(first, 1);
    await first.query('UPDATE parcels SET attempts = 2');
    const runner = runnerOf(first, { run: () => Promise.reject(new Error('again')) });
    await runner.tick();
    await eventually(async () => expect((await parcel(first, id)).last_error).toContain('again'));
    const row = await parcel(first, id);
    expect(row.attempts).toBe(3);
    expect(Math.abs((row.due_at?.getTime() ?? 0) - Date.now() - 4 * 60_000)).toBeLessThan(2_000);
  });

  test.each<[string, (run: Run<Parcel>, beat: () => Promise<void>) => Promise<unknown>]>([
    ['finds that it may write nothing', (run) => run.update({ weight: 99 })],
    [
      'was told so',
      (run, beat) => Promise.all([untilAborted(run), beat()]).catch(() => Promise.reject(new Error('broken off'))),
    ],
  ])('of a run that has lost its lease, and %s, nothing is logged', async (_what, work) => {
    const spies = (['warn', 'error', 'debug'] as const).map((level) => jest.spyOn(Logger.prototype, level));
    await addParcels(first, 1);
    const run = async (run: Run<Parcel>) => {
      await first.query('UPDATE parcels SET due_at = NULL, lease_token = NULL');
      await work(run, () => runner.heartbeat());
      return 'done' as const;
    };
    const runner = runnerOf(first, { run });
    try {
      await runner.tick();
      await eventually(() => expect(runner.running).toBe(0));
      for (const spy of spies) expect(spy).not.toHaveBeenCalled();
    } finally {
      for (const spy of spies) spy.mockRestore();
    }
  });

  test('of many rows that wait for one partner none is warned of anew', async () => {
    const [warn, debug] = [jest.spyOn(Logger.prototype, 'warn'), jest.spyOn(Logger.prototype, 'debug')];
    const failures = [
      new PartnerFailure('timedOut', 'It did not answer.'),
      new PartnerFailure('circuitOpen', 'It is left alone.'),
    ];
    const ids = await addParcels(first, 2);
    try {
      const run = () => Promise.reject(failures.shift() ?? new Error('a third run'));
      const runner = runnerOf(first, { concurrency: 1, run });
      await runner.tick();
      await eventually(async () => expect(await count('last_error IS NOT NULL')).toBe(2));
      expect(warn.mock.calls).toEqual([[expect.stringContaining(`${HAULER} ${ids[0]}: It did not answer.`)]]);
      expect(debug.mock.calls).toEqual([[expect.stringContaining(`${HAULER} ${ids[1]}: It is left alone.`)]]);
    } finally {
      warn.mockRestore();
      debug.mockRestore();
    }
  });

  test('a finish that was rolled back with its transaction does not leave the row without a next time', async () => {
    const [id = ''] = await addParcels(first, 1);
    const runner = runnerOf(first, {
      run: (run) =>
        first.transaction(async (manager) => {
          await run.finish('done', { weight: 42 }, manager);
          throw new Error('after all not');
        }),
    });
    await runner.tick();
    await eventually(async () => expect((await parcel(first, id)).last_error).toContain('after all not'));
    expect(await parcel(first, id)).toMatchObject({ weight: 1, lease_token: null, due_at: expect.any(Date) });
  });
});

describe('the cap on attempts (decision 54)', () => {
  const failed = { due_at: null, lease_token: null, weight: 99 };
  let reasons: string[];
  beforeEach(() => {
    reasons = [];
  });

  /** A kind whose final state is `weight` 99, with backoff short enough to see several attempts. */
  const limited = (run: Work['run'], max = 3): Work => ({
    backoff: { firstMs: 1, factor: 1, maxMs: 1, jitter: 0 },
    run,
    attempts: {
      max,
      giveUp: async (run, reason) => {
        reasons.push(reason);
        await run.finish('done', { weight: 99 });
      },
    },
  });

  const runUntil = async (runner: JobRunner, condition: () => Promise<void>) => {
    await eventually(async () => {
      await runner.tick();
      await condition();
    });
  };

  test('a row that always fails reaches its final state with the last reason', async () => {
    const [id = ''] = await addParcels(first, 1);
    const run = jest
      .fn<Work['run']>()
      .mockRejectedValue(Object.assign(new Error('No such truck.'), { expected: true }));
    const runner = runnerOf(first, limited(run));
    await runUntil(runner, async () => expect(await parcel(first, id)).toMatchObject(failed));
    expect(run).toHaveBeenCalledTimes(3);
    expect(reasons).toEqual(['No such truck. Gave up after 3 attempts.']);
  });

  test('a row whose processing ended the process three times is not run a fourth time', async () => {
    const [id = ''] = await addParcels(first, 1);
    await first.query('UPDATE parcels SET attempts = 3');
    const run = jest.fn<Work['run']>();
    await runnerOf(first, limited(run)).tick();
    await eventually(async () => expect(await parcel(first, id)).toMatchObject(failed));
    expect(run).not.toHaveBeenCalled();
    expect(reasons).toEqual(['The process ended during the last attempt. Gave up after 3 attempts.']);
  });

  test('a success starts the count again', async () => {
    const [id = ''] = await addParcels(first, 1);
    await first.query('UPDATE parcels SET attempts = 2');
    const runner = runnerOf(
      first,
      limited(async () => ({ afterMs: 60_000 })),
    );
    await runner.tick();
    await eventually(async () => expect(await parcel(first, id)).toMatchObject({ attempts: 0, weight: 1 }));
    expect(reasons).toEqual([]);
  });

  test.each([
    ['our database was unavailable', new Error('Connection terminated due to connection timeout')],
    ['the error is none of the row', Object.assign(new Error('Wait.'), { expected: true, isAttempt: false })],
  ])('an attempt does not count if %s', async (_, error) => {
    const [id = ''] = await addParcels(first, 1);
    let runs = 0;
    const runner = runnerOf(
      first,
      limited(async () => {
        if (++runs <= 10) throw error;
        return 'done';
      }),
    );
    await runUntil(runner, async () => expect(await parcel(first, id)).toMatchObject({ due_at: null, weight: 1 }));
    expect(reasons).toEqual([]);
  });

  test('a final state that could not be written is written by the next claim', async () => {
    const [id = ''] = await addParcels(first, 1);
    const work = limited(() => Promise.reject(new Error('no')), 1);
    const runner = runnerOf(first, {
      ...work,
      leaseMs: 100,
      attempts: {
        max: 1,
        giveUp: async (run, reason) => {
          if (reasons.push(reason) === 1) throw new Error('Connection terminated unexpectedly');
          await run.finish('done', { weight: 99 });
        },
      },
    });
    await runUntil(runner, async () => expect(await parcel(first, id)).toMatchObject(failed));
    expect(reasons).toHaveLength(2);
  });

  test('a row is not due again if its kind has written no final state', async () => {
    const [id = ''] = await addParcels(first, 1);
    const work = limited(() => Promise.reject(Object.assign(new Error('No.'), { expected: true })), 1);
    await runnerOf(first, { ...work, attempts: { max: 1, giveUp: async () => undefined } }).tick();
    await eventually(async () =>
      expect(await parcel(first, id)).toMatchObject({
        due_at: null,
        lease_token: null,
        last_error: 'No. Gave up after 1 attempt.',
      }),
    );
  });
});

describe('asking what is due', () => {
  test('is done again for who asks meanwhile', async () => {
    const { runner, rows } = withRows(first, { run: async () => 'done' });
    const claim = rows.claim.bind(rows);
    jest.spyOn(rows, 'claim').mockImplementationOnce(async (limit) => {
      const claimed = await claim(limit);
      await addParcels(first, 1);
      void runner.tick();
      return claimed;
    });
    await runner.tick();
    expect(await count('attempts = 1 OR due_at IS NULL')).toBe(1);
  });

  test('costs no statement while as many are in work as may be, nor do leases where nothing is', async () => {
    await addParcels(first, 2);
    const { runner, rows } = withRows(first, { concurrency: 1, run: untilAborted });
    const [claim, renew] = [jest.spyOn(rows, 'claim'), jest.spyOn(rows, 'renew')];
    await runner.heartbeat();
    expect(renew).not.toHaveBeenCalled();
    await runner.tick();
    await runner.tick();
    expect(claim.mock.calls).toEqual([[1]]);
  });
});

describe('leases', () => {
  const T0 = Date.parse('2026-01-31T12:00:00Z');
  let now: number;
  let clock: jest.SpiedFunction<typeof Date.now>;
  beforeEach(() => {
    now = T0;
    clock = jest.spyOn(Date, 'now').mockImplementation(() => now);
  });
  afterEach(() => clock.mockRestore());

  test('that cannot be renewed last for as long as they were renewed for, from the question on', async () => {
    await addParcels(first, 1);
    let aborted = false;
    const { runner, rows } = withRows(first, {
      run: (run) => untilAborted(run).finally(() => (aborted = true)),
    });
    await runner.tick();
    const original = rows.renew.bind(rows);
    const renew = jest.spyOn(rows, 'renew').mockImplementationOnce((leased) => {
      now = T0 + 55_000;
      return original(leased);
    });
    const beatAt = async (ms: number) => {
      now = T0 + ms;
      await runner.heartbeat();
      return aborted;
    };
    expect(await beatAt(50_000)).toBe(false);
    renew.mockRejectedValue(new Error('away'));
    expect(await beatAt(70_000)).toBe(false);
    expect(await beatAt(110_000)).toBe(false);
    expect(await beatAt(110_001)).toBe(true);
  });

  test('that end with their run meanwhile were not lost', async () => {
    await addParcels(first, 1);
    const [finished, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let signal: AbortSignal | undefined;
    const go = Promise.withResolvers<void>();
    const { runner, rows } = withRows(first, {
      run: async (run) => {
        ({ signal } = run);
        await go.promise;
        await run.finish('done');
        finished.resolve();
        await end.promise;
        return 'done';
      },
    });
    await runner.tick();
    const renew = rows.renew.bind(rows);
    jest.spyOn(rows, 'renew').mockImplementationOnce(async (leased) => {
      go.resolve();
      await finished.promise;
      return renew(leased);
    });
    await runner.heartbeat();
    expect(signal?.aborted).toBe(false);
    end.resolve();
  });
});

describe('a kind that may not be claimed just now', () => {
  test('costs no claim and no try, and goes on when it may again', async () => {
    await addParcels(first, 3);
    let may = false;
    const rows = new DueRows(first, { ...PARCELS, canClaim: () => may, run: async () => 'done' });
    const claim = jest.spyOn(rows, 'claim');
    const runner = new JobRunner(rows);
    runners.push(runner);
    await runner.tick();
    expect(claim).not.toHaveBeenCalled();
    expect(await count('attempts = 0 AND lease_token IS NULL')).toBe(3);
    may = true;
    await runner.tick();
    await eventually(async () => expect(await count('due_at IS NOT NULL')).toBe(0));
  });

  test('is asked before each claim: a run may be what forbids the next', async () => {
    await addParcels(first, 3);
    let may = true;
    const runner = runnerOf(first, {
      concurrency: 1,
      canClaim: () => may,
      run: async () => {
        may = false;
        return 'done';
      },
    });
    await runner.tick();
    await eventually(() => expect(runner.running).toBe(0));
    await runner.tick();
    expect(await count('due_at IS NOT NULL AND attempts = 0')).toBe(2);
  });
});

describe('several instances', () => {
  test('each row is run once, though the leases are short and the work is long', async () => {
    await addParcels(first, 30);
    const leaseMs = 1_000;
    const run = (name: string, dataSource: DataSource) => async (run: Run<Parcel>) => {
      await delay(leaseMs + Math.random() * 400);
      await dataSource.query('UPDATE parcels SET done_by = done_by || $1::text WHERE id = $2', [name, run.row.id]);
      return 'done' as const;
    };
    const of = (name: string, dataSource: DataSource) =>
      runnerOf(dataSource, { leaseMs, concurrency: 8, run: run(name, dataSource) });
    const all = [of('first', first), of('second', second)];
    const beat = setInterval(() => all.forEach((runner) => void runner.heartbeat()), 130);
    const ticks = setInterval(() => all.forEach((runner) => void runner.tick()), 50);
    const rest = held(async () => [beat, ticks].forEach(clearInterval));
    await eventually(async () => expect(await count('due_at IS NOT NULL')).toBe(0), 20_000);
    await rest();
    expect(await count('cardinality(done_by) = 1')).toBe(30);
    expect(await count(`done_by = '{first}'`)).toBeGreaterThan(0);
    expect(await count(`done_by = '{second}'`)).toBeGreaterThan(0);
  });

  test('an owner that stopped breathing is told so, and what it returns is not written', async () => {
    const [id = ''] = await addParcels(first, 1);
    let reason: unknown;
    const sleeper = runnerOf(first, {
      leaseMs: 400,
      run: async (run) => {
        await untilAborted(run).catch((error: unknown) => (reason = error));
        return 'done';
      },
    });
    await sleeper.tick();
    await delay(450);
    const other = runnerOf(second, { run: async () => ({ afterMs: 60_000 }) });
    await other.tick();
    await eventually(async () => expect(await parcel(first, id)).toMatchObject({ lease_token: null }));
    const before = await parcel(first, id);
    await sleeper.heartbeat();
    await eventually(() => expect(sleeper.running).toBe(0));
    expect(reason).toBeInstanceOf(LeaseLostError);
    expect(await parcel(first, id)).toEqual(before);
  });
});

describe('stopping', () => {
  test('waits for what ends in time, aborts the rest, and gives back even what does not listen', async () => {
    const ids = await addParcels(first, 3);
    const reasons: unknown[] = [];
    const deaf = Promise.withResolvers<void>();
    const runner = runnerOf(first, {
      run: async (run) => {
        if (run.row.weight === 1) await delay(100);
        if (run.row.weight === 2) await untilAborted(run).finally(() => reasons.push(run.signal.reason));
        if (run.row.weight === 3) await deaf.promise;
        return 'done';
      },
    });
    await runner.tick();
    await addParcels(first, 1, { dueInMs: -1 });
    const started = Date.now();
    await runner.drain(300, 200);
    expect(Date.now() - started).toBeLessThan(900);
    deaf.resolve();
    const [one, two, three] = await Promise.all(ids.map((id) => parcel(first, id)));
    expect(one).toMatchObject({ due_at: null });
    for (const row of [two, three]) {
      expect(row).toMatchObject({ due_at: expect.any(Date), leased_until: null, attempts: 0, last_error: null });
    }
    expect(reasons).toEqual([expect.any(StoppingError)]);
    expect(await count('attempts > 0')).toBe(0);
  });
});

describe('a stop', () => {
  test('while rows are being claimed gives these back too', async () => {
    const [id = ''] = await addParcels(first, 1);
    const { runner, rows } = withRows(first, { run: untilAborted });
    const claim = rows.claim.bind(rows);
    let drained: Promise<void> | undefined;
    jest.spyOn(rows, 'claim').mockImplementationOnce(async (limit) => {
      const claimed = await claim(limit);
      drained = runner.drain(0, 60_000);
      return claimed;
    });
    await runner.tick();
    await drained;
    expect(runner.running).toBe(0);
    expect(await parcel(first, id)).toMatchObject({ lease_token: null, attempts: 0, due_at: expect.any(Date) });
  });

  test('waits for a run that heeds the abort by ending its work', async () => {
    const [id = ''] = await addParcels(first, 1);
    const runner = runnerOf(first, {
      run: async (run) => {
        await untilAborted(run).catch(() => delay(100));
        return 'done';
      },
    });
    await runner.tick();
    await runner.drain(0, 60_000);
    expect(await parcel(first, id)).toMatchObject({ due_at: null, lease_token: null });
  });
});

describe('a statement that fails', () => {
  test.each([
    [
      'where the database is away',
      new Error('Connection terminated unexpectedly'),
      'warn',
      ['cannot claim: the database is unavailable'],
    ],
    ['by a fault of ours', new Error('a slip'), 'error', [{ err: new Error('a slip') }, 'cannot claim']],
  ] as const)('is told once, until it works again: %s', async (_what, error, level, told) => {
    const { runner, rows } = withRows(first, { run: async () => 'done' });
    const [failed, works] = [jest.spyOn(Logger.prototype, level), jest.spyOn(Logger.prototype, 'log')];
    const claim = jest.spyOn(rows, 'claim').mockRejectedValue(error);
    try {
      for (let time = 1; time <= 3; time++) await runner.tick();
      expect(failed.mock.calls).toEqual([told]);
      expect(works).not.toHaveBeenCalled();
      claim.mockRestore();
      for (let time = 1; time <= 2; time++) await runner.tick();
      expect(works.mock.calls).toEqual([['can claim again']]);
    } finally {
      failed.mockRestore();
      works.mockRestore();
    }
  });
});

describe('a database that goes away', () => {
  test('stops nothing: the loop goes on when it is back, and a run whose lease cannot be renewed is aborted', async () => {
    const own = await createTestDatabase({ migrated: false });
    const dataSource = await own.connect(4);
    await createParcels(dataSource);
    await addParcels(dataSource, 1);
    const name = new URL(own.url).pathname.slice(1);
    const server = (sql: string) => onServer(testServer().adminUrl, (client) => client.query(sql));
    let tries = 0;
    const runner = runnerOf(dataSource, {
      leaseMs: 400,
      run: async (run) => {
        if (++tries === 1) await untilAborted(run);
        return 'done';
      },
    });
    try {
      await runner.tick();
      await server(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await server(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
      await delay(450);
      await runner.heartbeat();
      await eventually(() => expect(runner.running).toBe(0));
      await runner.tick();
      await server(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await runner.tick();
      await eventually(async () => {
        const rows = await dataSource.query<unknown[]>('SELECT 1 FROM parcels WHERE due_at IS NULL');
        expect(rows).toHaveLength(1);
      });
      expect(tries).toBe(2);
    } finally {
      await own.drop();
    }
  });
});

describe('many rows', () => {
  test('10,000 rows, one at a time each, by two instances', async () => {
    await addParcels(first, 10_000);
    const seen = new Map<string, number>();
    const kind: Work = {
      concurrency: 16,
      leaseMs: 15_000,
      run: async ({ row }) => {
        seen.set(row.id, (seen.get(row.id) ?? 0) + 1);
        return 'done';
      },
    };
    const started = Date.now();
    await Promise.all([runnerOf(first, kind).tick(), runnerOf(second, kind).tick()]);
    await eventually(async () => expect(await count('due_at IS NOT NULL')).toBe(0), 25_000);
    const seconds = (Date.now() - started) / 1_000;
    expect(seen.size).toBe(10_000);
    expect([...seen.values()].every((times) => times === 1)).toBe(true);
    tell('jobs', { '10,000 rows in seconds': seconds });
  });
});
