// An instance of its own that takes rows and never finishes them. Arguments: the database's address, the lease in ms.
import { setInterval } from 'node:timers';
import { DataSource } from 'typeorm';
import { createDataSourceOptions } from '../../src/database/data-source.ts';
import { Database } from '../../src/database/database.ts';
import { DueRows } from '../../src/jobs/due-rows.repository.ts';
import { JobRunner } from '../../src/jobs/job-runner.ts';
import { PARCELS } from './due-table.ts';

const [url, leaseMs] = process.argv.slice(2);
const dataSource = await new DataSource(
  createDataSourceOptions(new Database({ DATABASE_URL: url, DATABASE_POOL: 2 })),
).initialize();
const run = () => new Promise(() => process.stdout.write('begun\n'));
const runner = new JobRunner(new DueRows(dataSource, { ...PARCELS, leaseMs: Number(leaseMs), run }));
setInterval(() => void runner.heartbeat(), Number(leaseMs) / 3);
await runner.tick();
