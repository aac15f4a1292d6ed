import { afterAll, afterEach, beforeAll } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import { DueRows } from '../../../src/work/due-rows.repository.js';
import { LaneOwners } from '../../../src/work/lanes.repository.js';
import type { WorkKind } from '../../../src/work/work-kind.js';
import { LaneRunner } from '../../../src/work/lane-runner.js';
import type { Run } from '../../../src/work/run.js';
import { createParcels, PARCELS, type Parcel } from './due-table.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

export type Work = Partial<WorkKind<Parcel>> & Pick<WorkKind<Parcel>, 'run'>;

interface Runner {
  readonly runner: LaneRunner;
  readonly rows: DueRows;
  readonly owners: LaneOwners;
}

/** Two instances with due rows in one database. A spec file calls `useParcelRunners()` once, at its top. */
export interface ParcelRunners {
  readonly first: DataSource;
  readonly second: DataSource;
  readonly runnerOf: (dataSource: DataSource, work: Work) => LaneRunner;
  /** Returns the rows as well, so that a test can replace one of their statements. */
  readonly withRows: (dataSource: DataSource, work: Work) => Runner;
  readonly count: (condition: string) => Promise<number>;
}

export function useParcelRunners(): ParcelRunners {
  Logger.overrideLogger(false);
  let database: TestDatabase;
  let first: DataSource;
  let second: DataSource;
  const runners: LaneRunner[] = [];

  beforeAll(async () => {
    database = await createTestDatabase({ migrated: false });
    first = await database.connect();
    second = await database.connect();
    await createParcels(first);
  });
  afterEach(async () => {
    await Promise.all(runners.splice(0).map((runner) => runner.drain(0, 1_000)));
    await first.query('TRUNCATE parcels, lanes');
  });
  afterAll(() => database.drop());

  const withRows = (dataSource: DataSource, work: Work) => {
    const rows = new DueRows(dataSource, { ...PARCELS, ...work });
    const owners = new LaneOwners(dataSource);
    const runner = new LaneRunner(rows, owners);
    runners.push(runner);
    return { runner, rows, owners };
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
