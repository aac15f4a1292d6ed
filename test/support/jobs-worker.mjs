// An instance of its own that takes rows and never finishes them. Arguments: the database's address, the lease in ms.
import { setInterval } from 'node:timers';
import { registerTypeScript } from './typescript-hook.mjs';

registerTypeScript();
const { DataSource } = await import('typeorm');
const { createDataSourceOptions } = await import('../../src/database/data-source.ts');
const { DueRows } = await import('../../src/jobs/due-rows.repository.ts');
const { JobRunner } = await import('../../src/jobs/job-runner.ts');
const { PARCELS } = await import('./due-table.ts');

const [url, leaseMs] = process.argv.slice(2);
const dataSource = await new DataSource(createDataSourceOptions({ DATABASE_URL: url, DATABASE_POOL: 2 })).initialize();
const run = () => new Promise(() => process.stdout.write('begun\n'));
const runner = new JobRunner(new DueRows(dataSource, { ...PARCELS, leaseMs: Number(leaseMs), run }));
setInterval(() => void runner.heartbeat(), Number(leaseMs) / 3);
await runner.tick();
