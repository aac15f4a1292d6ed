import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type INestApplicationContext, Logger, Module, type OnModuleInit } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigModule } from '../../../src/config/config.module.js';
import { DatabaseModule } from '../../../src/database/database.module.js';
import { DatabaseConnectionError } from '../../../src/database/postgres-errors.js';
import type { WorkKind } from '../../../src/work/work-kind.js';
import { WorkModule } from '../../../src/work/work.module.js';
import { WorkService, TICK } from '../../../src/work/work.service.js';
import { RowLostError, type Run, StoppingError } from '../../../src/work/run.js';
import { addParcels, createParcels, parcel, type Parcel, PARCELS } from './due-table.js';
import { testEnv } from '../../support/env.js';
import { eventually } from '../../support/eventually.js';
import { held } from '../../support/held.js';
import { untilAborted, useParcelRunners } from './parcel-runners.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

const work = useParcelRunners();
const { runnerOf, withRows, count } = work;

/** As the time would in which an instance renews nothing. */
const lanesAreFree = () => work.first.query('UPDATE lanes SET owned_until = now()');
const owned = async () => (await work.first.query<unknown[]>('SELECT FROM lanes')).length;

describe('a step', () => {
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
});

describe('several instances', () => {
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
    await runner.drain(300, 200);
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
});
