import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { DueRows } from '../../src/jobs/due-rows.repository.js';
import type { JobKind } from '../../src/jobs/job-kind.js';
import { JobRunner } from '../../src/jobs/job-runner.js';
import type { Run } from '../../src/jobs/run.js';
import { createParcels, PARCELS, type Parcel } from './due-table.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

export type Work = Partial<JobKind<Parcel>> & Pick<JobKind<Parcel>, 'run'>;

/** Two instances with due rows in one database. A spec file calls `useParcelRunners()` once, at its top. */
export interface ParcelRunners {
  readonly first: DataSource;
  readonly second: DataSource;
  /** A lease lasts 60 s if the work does not set `leaseMs`: on a busy machine a short lease may end during a test. */
  readonly runnerOf: (dataSource: DataSource, work: Work) => JobRunner;
  /** Returns the rows as well, so that a test can replace one of their statements. */
  readonly withRows: (dataSource: DataSource, work: Work) => { readonly runner: JobRunner; readonly rows: DueRows };
  readonly count: (condition: string) => Promise<number>;
}

export function useParcelRunners(): ParcelRunners {
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

  const withRows = (dataSource: DataSource, work: Work) => {
    const rows = new DueRows(dataSource, { ...PARCELS, leaseMs: 60_000, ...work });
    const runner = new JobRunner(rows);
    runners.push(runner);
    return { runner, rows };
  };
  return {
    get first() {
      return first;
    },
    get second() {
      return second;
    },
    withRows,
    runnerOf: (dataSource, work) => withRows(dataSource, work).runner,
    count: async (condition) => {
      const [row] = await first.query<{ n: number }[]>(`SELECT count(*)::int AS n FROM parcels WHERE ${condition}`);
      return row?.n ?? 0;
    },
  };
}

/** Work that ends when its signal is aborted. */
export const untilAborted = (run: Run<Parcel>): Promise<never> =>
  new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason as Error)));
