// An instance of its own that starts rows and never finishes them. Argument: the database's address.
import { setInterval } from 'node:timers';
import { DataSource } from 'typeorm';
import { createDataSourceOptions } from '../../../src/database/data-source.ts';
import { Database } from '../../../src/database/database.ts';
import { DueRows } from '../../../src/work/due-rows.repository.ts';
import { LaneOwners } from '../../../src/work/lanes.repository.ts';
import { LaneRunner } from '../../../src/work/lane-runner.ts';
import { PARCELS } from './due-table.ts';

const [url] = process.argv.slice(2);
const dataSource = await new DataSource(
  createDataSourceOptions(new Database({ DATABASE_URL: url, DATABASE_POOL: 2 })),
).initialize();
const run = () => new Promise(() => process.stdout.write('begun\n'));
const runner = new LaneRunner(new DueRows(dataSource, { ...PARCELS, run }), new LaneOwners(dataSource));
setInterval(() => void runner.renew(), 2_500);
await runner.tick();
