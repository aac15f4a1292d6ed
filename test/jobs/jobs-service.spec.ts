import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type INestApplicationContext, Logger, Module, type OnModuleInit } from '@nestjs/common';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { ConfigModule } from '../../src/config/config.module.js';
import { DatabaseModule } from '../../src/database/database.module.js';
import { JobsModule } from '../../src/jobs/jobs.module.js';
import { JobsService, TICK } from '../../src/jobs/jobs.service.js';
import type { Run } from '../../src/jobs/run.js';
import type { JobKind } from '../../src/jobs/job-kind.js';
import { addParcels, createParcels, type Parcel, parcel, PARCELS } from '../support/due-table.js';
import { testEnv } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { held, heldChild } from '../support/held.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

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
      [join(import.meta.dirname, '../support/jobs-worker.mjs'), database.url, String(leaseMs)],
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
