import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type INestApplicationContext, Logger, Module, type OnModuleInit } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigModule } from '../../src/config/config.module.js';
import { DatabaseModule } from '../../src/database/database.module.js';
import { DatabaseConnectionError } from '../../src/database/postgres-errors.js';
import type { JobKind } from '../../src/jobs/job-kind.js';
import { JobsModule } from '../../src/jobs/jobs.module.js';
import { JobsService, TICK } from '../../src/jobs/jobs.service.js';
import { LeaseLostError, type Run, StoppingError } from '../../src/jobs/run.js';
import { addParcels, createParcels, parcel, type Parcel, PARCELS } from './due-table.js';
import { testEnv } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { fromSource } from '../support/from-source.js';
import { held, heldChild } from '../support/held.js';
import { untilAborted, useParcelRunners } from './parcel-runners.js';
import { createTestDatabase, type TestDatabase, testServer } from '../support/test-database.js';
import { onServer } from '../support/test-server.js';

const jobs = useParcelRunners();
const { runnerOf, withRows, count } = jobs;

describe('a claim', () => {
  test('is repeated for a row that becomes due while it runs', async () => {
    const { runner, rows } = withRows(jobs.first, { run: async () => 'done' });
    const claim = rows.claim.bind(rows);
    jest.spyOn(rows, 'claim').mockImplementationOnce(async (limit) => {
      const claimed = await claim(limit);
      await addParcels(jobs.first, 1);
      void runner.tick();
      return claimed;
    });
    await runner.tick();
    expect(await count('attempts = 1 OR due_at IS NULL')).toBe(1);
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

  test('last as long as they were renewed for, from the start of the last renewal, if renewals fail', async () => {
    await addParcels(jobs.first, 1);
    let aborted = false;
    const { runner, rows } = withRows(jobs.first, {
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
    renew.mockRejectedValue(new Error('unavailable'));
    expect(await beatAt(70_000)).toBe(false);
    expect(await beatAt(110_000)).toBe(false);
    expect(await beatAt(110_001)).toBe(true);
  });

  test('that end with their run during a renewal do not count as lost', async () => {
    await addParcels(jobs.first, 1);
    const [finished, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let signal: AbortSignal | undefined;
    const go = Promise.withResolvers<void>();
    const { runner, rows } = withRows(jobs.first, {
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

describe('several instances', () => {
  test('run each row once, although the work lasts longer than a lease', async () => {
    await addParcels(jobs.first, 30);
    const leaseMs = 1_000;
    const run = (name: string, dataSource: DataSource) => async (run: Run<Parcel>) => {
      await delay(leaseMs + Math.random() * 400);
      await dataSource.query('UPDATE parcels SET done_by = done_by || $1::text WHERE id = $2', [name, run.row.id]);
      return 'done' as const;
    };
    const of = (name: string, dataSource: DataSource) =>
      runnerOf(dataSource, { leaseMs, concurrency: 8, run: run(name, dataSource) });
    const all = [of('first', jobs.first), of('second', jobs.second)];
    const beat = setInterval(() => all.forEach((runner) => void runner.heartbeat()), 130);
    const ticks = setInterval(() => all.forEach((runner) => void runner.tick()), 50);
    const stop = held(async () => [beat, ticks].forEach(clearInterval));
    await eventually(async () => expect(await count('due_at IS NOT NULL')).toBe(0), 20_000);
    await stop();
    expect(await count('cardinality(done_by) = 1')).toBe(30);
    expect(await count(`done_by = '{first}'`)).toBeGreaterThan(0);
    expect(await count(`done_by = '{second}'`)).toBeGreaterThan(0);
  });

  test('abort the run of an owner that stopped renewing, and write nothing of its result', async () => {
    const [id = ''] = await addParcels(jobs.first, 1);
    let reason: unknown;
    const paused = runnerOf(jobs.first, {
      leaseMs: 400,
      run: async (run) => {
        await untilAborted(run).catch((error: unknown) => (reason = error));
        return 'done';
      },
    });
    await paused.tick();
    await delay(450);
    const other = runnerOf(jobs.second, { run: async () => ({ afterMs: 60_000 }) });
    await other.tick();
    await eventually(async () => expect(await parcel(jobs.first, id)).toMatchObject({ lease_token: null }));
    const before = await parcel(jobs.first, id);
    await paused.heartbeat();
    await eventually(() => expect(paused.running).toBe(0));
    expect(reason).toBeInstanceOf(LeaseLostError);
    expect(await parcel(jobs.first, id)).toEqual(before);
  });
});

describe('a stop', () => {
  test('waits for runs that end in time, aborts the others, and releases rows whose run ignores the abort', async () => {
    const ids = await addParcels(jobs.first, 3);
    const reasons: unknown[] = [];
    const ignoring = Promise.withResolvers<void>();
    const runner = runnerOf(jobs.first, {
      run: async (run) => {
        if (run.row.weight === 1) await delay(100);
        if (run.row.weight === 2) await untilAborted(run).finally(() => reasons.push(run.signal.reason));
        if (run.row.weight === 3) await ignoring.promise;
        return 'done';
      },
    });
    await runner.tick();
    await addParcels(jobs.first, 1, { dueInMs: -1 });
    const started = Date.now();
    await runner.drain(300, 200);
    expect(Date.now() - started).toBeLessThan(900);
    ignoring.resolve();
    const [one, two, three] = await Promise.all(ids.map((id) => parcel(jobs.first, id)));
    expect(one).toMatchObject({ due_at: null });
    for (const row of [two, three]) {
      expect(row).toMatchObject({ due_at: expect.any(Date), leased_until: null, attempts: 0, last_error: null });
    }
    expect(reasons).toEqual([expect.any(StoppingError)]);
    expect(await count('attempts > 0')).toBe(0);
  });

  test('releases rows that are being claimed at that moment', async () => {
    const [id = ''] = await addParcels(jobs.first, 1);
    const { runner, rows } = withRows(jobs.first, { run: untilAborted });
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
    expect(await parcel(jobs.first, id)).toMatchObject({ lease_token: null, attempts: 0, due_at: expect.any(Date) });
  });

  test('waits for a run that ends its work after the abort', async () => {
    const [id = ''] = await addParcels(jobs.first, 1);
    const runner = runnerOf(jobs.first, {
      run: async (run) => {
        await untilAborted(run).catch(() => delay(100));
        return 'done';
      },
    });
    await runner.tick();
    await runner.drain(0, 60_000);
    expect(await parcel(jobs.first, id)).toMatchObject({ due_at: null, lease_token: null });
  });
});

describe('a statement that fails', () => {
  test.each([
    [
      'the database is unavailable',
      new DatabaseConnectionError(new Error('Connection terminated unexpectedly')),
      'warn',
      ['cannot claim: the database is unavailable'],
    ],
    [
      'the statement has an error',
      new Error('no such column'),
      'error',
      [{ err: new Error('no such column') }, 'cannot claim'],
    ],
  ] as const)('is logged once until it works again: %s', async (_what, error, level, logged) => {
    const { runner, rows } = withRows(jobs.first, { run: async () => 'done' });
    const [failed, works] = [jest.spyOn(Logger.prototype, level), jest.spyOn(Logger.prototype, 'log')];
    const claim = jest.spyOn(rows, 'claim').mockRejectedValue(error);
    try {
      for (let time = 1; time <= 3; time++) await runner.tick();
      expect(failed.mock.calls).toEqual([logged]);
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

describe('an unavailable database', () => {
  test('aborts runs whose lease cannot be renewed, and the runner continues once the database is back', async () => {
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

Logger.overrideLogger(false);

let database: TestDatabase;
let dataSource: DataSource;
beforeAll(async () => {
  database = await createTestDatabase({ migrated: false });
  dataSource = await database.connect();
  await createParcels(dataSource);
});
beforeEach(() => dataSource.query('TRUNCATE parcels'));
afterAll(() => database.drop());

type Work = Partial<JobKind<Parcel>> & Pick<JobKind<Parcel>, 'run'>;

/** A service with one module that registers its kind of work. */
async function start(work: Work, graceMs = 2_000): Promise<INestApplicationContext> {
  @Module({ imports: [JobsModule] })
  class ParcelsModule implements OnModuleInit {
    constructor(private readonly jobs: JobsService) {}
    onModuleInit(): void {
      this.jobs.register<Parcel>({ ...PARCELS, leaseMs: 600, ...work });
    }
  }
  const env = testEnv({ DATABASE_URL: database.url, SHUTDOWN_GRACE: graceMs });
  const testing = await Test.createTestingModule({
    imports: [ConfigModule.of(env), DatabaseModule, ScheduleModule.forRoot(), ParcelsModule],
  }).compile();
  const service = await testing.init();
  service.close = held(service.close.bind(service));
  return service;
}

describe('the jobs service', () => {
  test('runs due rows from its start, renews their leases, and finds rows that become due', async () => {
    const [first = ''] = await addParcels(dataSource, 1);
    const service = await start({
      run: async ({ row }) => {
        await delay(row.id === first ? 1_500 : 0);
        return 'done';
      },
    });
    await eventually(async () => expect((await parcel(dataSource, first)).lease_token).not.toBeNull());
    const [second = ''] = await addParcels(dataSource, 1, { dueInMs: 200 });
    await eventually(async () => expect(await parcel(dataSource, second)).toMatchObject({ due_at: null }), 2_000);
    await eventually(async () => expect(await parcel(dataSource, first)).toMatchObject({ due_at: null, attempts: 0 }));
    await service.close();
  });

  test('runs a row at once at the start, and when `runDue` is called', async () => {
    const [early = ''] = await addParcels(dataSource, 1);
    const service = await start({ run: async () => 'done' });
    service.get(SchedulerRegistry).deleteInterval(TICK);
    await eventually(async () => expect(await parcel(dataSource, early)).toMatchObject({ due_at: null }));
    const [id = ''] = await addParcels(dataSource, 1);
    service.get(JobsService).runDue('parcels');
    await eventually(async () => expect(await parcel(dataSource, id)).toMatchObject({ due_at: null }), 1_000);
    // The kind of another instance.
    expect(() => service.get(JobsService).runDue('letters')).not.toThrow();
    await service.close();
  });

  test('reports how many rows it runs, and releases at its end what does not end in time', async () => {
    const ids = await addParcels(dataSource, 6);
    const service = await start({
      run: (run: Run<Parcel>) =>
        new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason as Error))),
    });
    await eventually(() => expect(service.get(JobsService).running().get('parcels')).toBe(4));
    const started = Date.now();
    await service.close();
    expect(Date.now() - started).toBeLessThan(2_000);
    for (const id of ids) {
      expect(await parcel(dataSource, id)).toMatchObject({ lease_token: null, attempts: 0, due_at: expect.any(Date) });
    }
  });

  test('refuses a kind of work that is registered twice or too late, or whose table has an invalid name', async () => {
    const service = await start({ run: async () => 'done' });
    const jobs = service.get(JobsService);
    expect(() => jobs.register<Parcel>({ ...PARCELS, run: async () => 'done' })).toThrow('registered twice');
    const late = { ...PARCELS, name: 'late', run: async () => 'done' as const };
    expect(() => jobs.register<Parcel>(late)).toThrow('registered after the start');
    const bad = { ...PARCELS, name: 'bad', table: 'parcels; DROP TABLE parcels', run: async () => 'done' as const };
    expect(() => jobs.register<Parcel>(bad)).toThrow('no name of a table');
    await service.close();
  });
});

describe('an instance that is killed', () => {
  test('loses its rows to another instance when the lease ends, and not before', async () => {
    const [id = ''] = await addParcels(dataSource, 1);
    const leaseMs = 1_500;
    const worker = spawn(
      process.execPath,
      [...fromSource('test/jobs/jobs-worker.mjs'), database.url, String(leaseMs)],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    heldChild(worker);
    await once(worker.stdout, 'data');
    // Longer than the lease: the worker renews it while it lives.
    const service = await start({ leaseMs, run: async () => 'done' });
    await delay(leaseMs + 500);
    expect(await parcel(dataSource, id)).toMatchObject({ attempts: 1, lease_token: expect.any(String) });
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    const killed = Date.now();
    await eventually(async () => expect(await parcel(dataSource, id)).toMatchObject({ due_at: null }), leaseMs + 2_000);
    expect(Date.now() - killed).toBeLessThan(leaseMs + 1_000);
    await service.close();
  });
});
