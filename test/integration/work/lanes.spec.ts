import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type INestApplicationContext, Logger, Module, type OnModuleInit } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigModule } from '../../../src/config/config.module.js';
import { DatabaseModule } from '../../../src/database/database.module.js';
import { DatabaseConnectionError } from '../../../src/database/postgres-errors.js';
import type { WorkKind } from '../../../src/work/work-kind.js';
import { WorkModule } from '../../../src/work/work.module.js';
import { WorkService, TICK } from '../../../src/work/work.service.js';
import { OWNED_MS } from '../../../src/work/lanes.repository.js';
import { RowLostError, type Run, StoppingError } from '../../../src/work/run.js';
import { addParcels, createParcels, parcel, type Parcel, PARCELS } from './due-table.js';
import { testEnv } from '../../support/env.js';
import { eventually } from '../../support/eventually.js';
import { fromSource } from '../../support/from-source.js';
import { held, heldChild } from '../../support/held.js';
import { untilAborted, useParcelRunners } from './parcel-runners.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';
import { testServer, onServer } from '../../support/test-run.js';

const work = useParcelRunners();
const { runnerOf, withRows, count } = work;

/** As the time would in which an instance renews nothing. */
const lanesAreFree = () => work.first.query('UPDATE lanes SET owned_until = now()');
const owned = async () => (await work.first.query<unknown[]>('SELECT FROM lanes')).length;

describe('a step', () => {
  test('is repeated for a row that becomes due while it runs', async () => {
    const { runner, rows } = withRows(work.first, { run: async () => 'done' });
    const lanes = rows.lanes.bind(rows);
    jest.spyOn(rows, 'lanes').mockImplementationOnce(async (limit) => {
      const found = await lanes(limit);
      await addParcels(work.first, 1);
      void runner.tick();
      return found;
    });
    await runner.tick();
    await eventually(async () => expect(await count('due_at IS NULL')).toBe(1));
  });

  test('starts the rows of all lanes in the order of the kind, and no more of a lane than it may have', async () => {
    const late = await addParcels(work.first, 3, { connection: 'late', weight: 10 });
    const early = await addParcels(work.first, 3, { connection: 'early', dueInMs: -1_000 });
    const begun: string[] = [];
    const run = (one: Run<Parcel>) => {
      begun.push(one.row.id);
      return untilAborted(one);
    };
    const lane = { ...PARCELS.lane, concurrency: 2 };
    await runnerOf(work.first, { order: ['weight'], lane, run }).tick();
    await runnerOf(work.second, { order: ['weight'], lane, run }).tick();
    expect(begun).toEqual([...early.slice(0, 2), ...late.slice(0, 2)]);
  });

  test('starts the rows of a lane that is more urgent than those that hold the places', async () => {
    await addParcels(work.first, 50, { connection: 'long', weight: 100 });
    const begun: string[] = [];
    const added = Promise.withResolvers<void>();
    const runner = runnerOf(work.first, {
      order: ['weight'],
      run: async ({ row }) => {
        begun.push(row.id);
        await added.promise;
        await delay(20);
        return 'done';
      },
    });
    await runner.tick();
    const urgent = await addParcels(work.first, 1, { connection: 'urgent' });
    await runner.tick();
    added.resolve();
    await eventually(async () => expect(await count('due_at IS NOT NULL')).toBe(0));
    expect(begun.indexOf(urgent[0] ?? '')).toBeLessThan(20);
  });

  test('skips rows that another transaction has locked, and lanes without a due row are given back', async () => {
    const [locked = '', free = ''] = await addParcels(work.first, 2);
    const runner = runnerOf(work.second, { run: async () => 'done' });
    await work.first.transaction(async (manager) => {
      await manager.query('SELECT FROM parcels WHERE id = $1 FOR UPDATE', [locked]);
      await runner.tick();
      await eventually(async () => expect(await parcel(work.first, free)).toMatchObject({ due_at: null }));
      await eventually(async () => expect(await owned()).toBe(0));
    });
    expect(await parcel(work.first, locked)).toMatchObject({ attempts: 0, due_at: expect.any(Date) });
  });

  test('leaves a lane that gets no place to another instance', async () => {
    for (let i = 0; i < 6; i++) await addParcels(work.first, 8, { connection: `connection ${i}`, weight: i * 10 });
    const full = runnerOf(work.first, { order: ['weight'], run: untilAborted });
    await full.tick();
    await full.tick();
    // Each instance has four places, which the first lane takes.
    const other = runnerOf(work.second, { order: ['weight'], run: untilAborted });
    await eventually(async () => {
      await full.tick();
      await other.tick();
      expect([full.running, other.running]).toEqual([4, 4]);
    });
  });
});

describe('several instances', () => {
  test('share the lanes, and run each row once', async () => {
    for (let i = 0; i < 10; i++) await addParcels(work.first, 3, { connection: `connection ${i}` });
    const runs = (name: string, dataSource: DataSource) => async (run: Run<Parcel>) => {
      await delay(50 + Math.random() * 100);
      await dataSource.query('UPDATE parcels SET done_by = done_by || $1::text WHERE id = $2', [name, run.row.id]);
      return 'done' as const;
    };
    const of = (name: string, dataSource: DataSource) => runnerOf(dataSource, { run: runs(name, dataSource) });
    const all = [of('first', work.first), of('second', work.second)];
    const ticks = setInterval(() => all.forEach((runner) => void runner.tick()), 50);
    const stop = held(async () => clearInterval(ticks));
    await eventually(async () => expect(await count('due_at IS NOT NULL')).toBe(0));
    await stop();
    expect(await count('cardinality(done_by) = 1')).toBe(30);
    expect(await count(`done_by = '{first}'`)).toBeGreaterThan(0);
    expect(await count(`done_by = '{second}'`)).toBeGreaterThan(0);
  });

  test('abort the run of an owner that stopped renewing, and write nothing of its result', async () => {
    const [id = ''] = await addParcels(work.first, 1);
    const late = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<unknown>();
    let reason: unknown;
    const paused = runnerOf(work.first, {
      run: async (run) => {
        await late.promise;
        await run.finish('done', { weight: 99 }).catch(ended.resolve);
        await untilAborted(run).catch((error: unknown) => (reason = error));
        return 'done';
      },
    });
    await paused.tick();
    await lanesAreFree();
    const other = runnerOf(work.second, { run: async () => ({ afterMs: 60_000 }) });
    await other.tick();
    await eventually(async () => expect(await parcel(work.first, id)).toMatchObject({ started_at: null }));
    const before = await parcel(work.first, id);
    late.resolve();
    expect(await ended.promise).toBeInstanceOf(RowLostError);
    await paused.renew();
    await eventually(() => expect(paused.running).toBe(0));
    expect(reason).toBeInstanceOf(RowLostError);
    expect(await parcel(work.first, id)).toEqual(before);
  });

  test('own a lane from the start of its last renewal for as long as it was renewed for, if renewals fail', async () => {
    await addParcels(work.first, 1);
    let aborted = false;
    const { runner, owners } = withRows(work.first, {
      run: (run) => untilAborted(run).finally(() => (aborted = true)),
    });
    await runner.tick();
    const t0 = Date.now();
    const clock = jest.spyOn(Date, 'now');
    const renewAt = async (ms: number) => {
      clock.mockReturnValue(t0 + ms);
      await runner.renew();
      return aborted;
    };
    try {
      expect(await renewAt(5_000)).toBe(false);
      jest.spyOn(owners, 'renew').mockRejectedValue(new Error('unavailable'));
      expect(await renewAt(5_000 + OWNED_MS)).toBe(false);
      expect(await renewAt(5_001 + OWNED_MS)).toBe(true);
    } finally {
      clock.mockRestore();
    }
  });
});

describe('a stop', () => {
  test('waits for runs that end in time, aborts the others, and releases rows whose run ignores the abort', async () => {
    const ids = await addParcels(work.first, 3);
    const reasons: unknown[] = [];
    const ignoring = Promise.withResolvers<void>();
    const runner = runnerOf(work.first, {
      run: async (run) => {
        if (run.row.weight === 1) await delay(100);
        if (run.row.weight === 2) await untilAborted(run).finally(() => reasons.push(run.signal.reason));
        if (run.row.weight === 3) await ignoring.promise;
        return 'done';
      },
    });
    await runner.tick();
    await addParcels(work.first, 1, { dueInMs: -1 });
    const started = Date.now();
    await runner.drain(300, 200);
    expect(Date.now() - started).toBeLessThan(900);
    const [one, two, three] = await Promise.all(ids.map((id) => parcel(work.first, id)));
    ignoring.resolve();
    expect(one).toMatchObject({ due_at: null });
    for (const row of [two, three])
      expect(row).toMatchObject({ due_at: expect.any(Date), attempts: 0, last_error: null });
    // What the last run does is not known: the next one is as after a kill.
    expect([two?.started_at, three?.started_at]).toEqual([null, expect.any(Date)]);
    expect(reasons).toEqual([expect.any(StoppingError)]);
    expect([await count('attempts > 0'), await owned()]).toEqual([0, 0]);
  });

  test('releases rows that are being started at that moment', async () => {
    const [id = ''] = await addParcels(work.first, 1);
    const { runner, rows } = withRows(work.first, { run: untilAborted });
    const start = rows.start.bind(rows);
    let drained: Promise<void> | undefined;
    jest.spyOn(rows, 'start').mockImplementationOnce(async (...started) => {
      const rows = await start(...started);
      drained = runner.drain(0, 60_000);
      return rows;
    });
    await runner.tick();
    await drained;
    expect(runner.running).toBe(0);
    expect(await parcel(work.first, id)).toMatchObject({ started_at: null, attempts: 0, due_at: expect.any(Date) });
  });

  test('waits for a run that ends its work after the abort', async () => {
    const [id = ''] = await addParcels(work.first, 1);
    const runner = runnerOf(work.first, {
      run: async (run) => {
        await untilAborted(run).catch(() => delay(100));
        return 'done';
      },
    });
    await runner.tick();
    await runner.drain(0, 60_000);
    expect(await parcel(work.first, id)).toMatchObject({ due_at: null, started_at: null });
  });
});

describe('a statement that fails', () => {
  test.each([
    [
      'the database is unavailable',
      new DatabaseConnectionError(new Error('Connection terminated unexpectedly')),
      'warn',
      [{ outage: 'unreachable' }, 'cannot claim: the service cannot reach its database'],
    ],
    [
      'the statement has an error',
      new Error('no such column'),
      'error',
      [{ err: new Error('no such column') }, 'cannot claim'],
    ],
  ] as const)('is logged once until it works again: %s', async (_what, error, level, logged) => {
    const { runner, rows } = withRows(work.first, { run: async () => 'done' });
    const [failed, works] = [jest.spyOn(Logger.prototype, level), jest.spyOn(Logger.prototype, 'log')];
    const claim = jest.spyOn(rows, 'lanes').mockRejectedValue(error);
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
  test('aborts runs whose lanes cannot be renewed, and the runner continues once the database is back', async () => {
    const own = await createTestDatabase({ migrated: false });
    const dataSource = await own.connect(4);
    await createParcels(dataSource);
    await addParcels(dataSource, 1);
    const name = new URL(own.url).pathname.slice(1);
    const server = (sql: string) => onServer(testServer().adminUrl, (client) => client.query(sql));
    let tries = 0;
    const runner = runnerOf(dataSource, {
      run: async (run) => {
        if (++tries === 1) await untilAborted(run);
        return 'done';
      },
    });
    try {
      await runner.tick();
      await server(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
      await server(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
      const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.now() + OWNED_MS + 1_000);
      await runner.renew();
      clock.mockRestore();
      await eventually(() => expect(runner.running).toBe(0));
      await runner.tick();
      await server(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
      await dataSource.query('UPDATE lanes SET owned_until = now()');
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
beforeEach(() => dataSource.query('TRUNCATE parcels, lanes'));
afterAll(() => database.drop());

type PartialKind = Partial<WorkKind<Parcel>> & Pick<WorkKind<Parcel>, 'run'>;

/** A service with one module that registers its kind of work. */
async function start(kind: PartialKind, graceMs = 2_000): Promise<INestApplicationContext> {
  @Module({ imports: [WorkModule] })
  class ParcelsModule implements OnModuleInit {
    constructor(private readonly work: WorkService) {}
    onModuleInit(): void {
      this.work.register<Parcel>({ ...PARCELS, ...kind });
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

describe('the work service', () => {
  test('runs due rows from its start, and finds rows that become due', async () => {
    const [first = ''] = await addParcels(dataSource, 1);
    const service = await start({
      run: async ({ row }) => {
        await delay(row.id === first ? 1_500 : 0);
        return 'done';
      },
    });
    await eventually(async () => expect((await parcel(dataSource, first)).started_at).not.toBeNull());
    const [second = ''] = await addParcels(dataSource, 1, { dueInMs: 200 });
    await eventually(async () => expect(await parcel(dataSource, second)).toMatchObject({ due_at: null }));
    await eventually(async () => expect(await parcel(dataSource, first)).toMatchObject({ due_at: null, attempts: 0 }));
    await service.close();
  });

  test('runs a row at once at the start, and when `runDue` is called', async () => {
    const [early = ''] = await addParcels(dataSource, 1);
    const service = await start({ run: async () => 'done' });
    service.get(SchedulerRegistry).deleteInterval(TICK);
    await eventually(async () => expect(await parcel(dataSource, early)).toMatchObject({ due_at: null }));
    const [id = ''] = await addParcels(dataSource, 1);
    service.get(WorkService).runDue('parcels');
    await eventually(async () => expect(await parcel(dataSource, id)).toMatchObject({ due_at: null }));
    // The kind of another instance.
    expect(() => service.get(WorkService).runDue('letters')).not.toThrow();
    await service.close();
  });

  test('reports how many rows it runs, and releases at its end what does not end in time', async () => {
    const ids = await addParcels(dataSource, 6);
    const service = await start({
      run: (run: Run<Parcel>) =>
        new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason as Error))),
    });
    await eventually(() => expect(service.get(WorkService).running().get('parcels')).toBe(4));
    const started = Date.now();
    await service.close();
    expect(Date.now() - started).toBeLessThan(2_000);
    for (const id of ids) {
      expect(await parcel(dataSource, id)).toMatchObject({ started_at: null, attempts: 0, due_at: expect.any(Date) });
    }
  });

  test('refuses a kind of work that is registered twice or too late, or whose table has an invalid name', async () => {
    const service = await start({ run: async () => 'done' });
    const registry = service.get(WorkService);
    expect(() => registry.register<Parcel>({ ...PARCELS, run: async () => 'done' })).toThrow('registered twice');
    const late = { ...PARCELS, name: 'late', run: async () => 'done' as const };
    expect(() => registry.register<Parcel>(late)).toThrow('registered after the start');
    const bad = { ...PARCELS, name: 'bad', table: 'parcels; DROP TABLE parcels', run: async () => 'done' as const };
    expect(() => registry.register<Parcel>(bad)).toThrow('no name of a table');
    await service.close();
  });
});

describe('an instance that is killed', () => {
  test('loses its lanes to another instance when their time ends, and not before', async () => {
    const [id = ''] = await addParcels(dataSource, 1);
    const worker = spawn(process.execPath, [...fromSource('test/integration/work/lane-worker.mjs'), database.url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    heldChild(worker);
    await once(worker.stdout, 'data');
    const seconds = async () => {
      const [lane] = await dataSource.query<[{ left: number }]>(
        'SELECT extract(epoch FROM owned_until - now())::float8 AS left FROM lanes',
      );
      return lane.left;
    };
    await dataSource.query("UPDATE lanes SET owned_until = now() + interval '3 seconds'");
    await eventually(async () => expect(await seconds()).toBeGreaterThan(8));
    worker.kill('SIGKILL');
    await once(worker, 'exit');
    const service = await start({ run: async () => 'done' });
    await delay(1_500);
    expect(await parcel(dataSource, id)).toMatchObject({ attempts: 1, started_at: expect.any(Date) });
    await dataSource.query('UPDATE lanes SET owned_until = now()');
    await eventually(async () => expect(await parcel(dataSource, id)).toMatchObject({ due_at: null, attempts: 0 }));
    await service.close();
  });
});
