import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Database } from '../../core/database/database.js';
import { PARTITIONED, type PartitionedTable } from '../../core/database/partitions.rules.js';
import { partitionsAhead, rowsInRest } from '../../core/database/partitions.repository.js';
import { Metrics } from '../../core/observability/metrics.js';

/** `/metrics` responds without these if the database needs longer. */
const TIMEOUT_MS = 3_000;

const MAX_ROWS = 10_000;
const TABLES = Object.values<PartitionedTable>(PARTITIONED);

/** Gauges of the partitions of the database; absent while it is unavailable. */
@Injectable()
export class PartitionMetrics {
  constructor(database: Database, { registry }: Metrics) {
    const gauge = (name: string, help: string, valueOf: (table: PartitionedTable) => Promise<number | undefined>) => {
      const each = new Gauge({
        name,
        help,
        labelNames: ['table'],
        registers: [registry],
        collect: async () => {
          const timeout = delay(TIMEOUT_MS, undefined, { ref: false });
          const values = Promise.all(TABLES.map(async (table) => [table.name, await valueOf(table)] as const));
          const read = await Promise.race([values, timeout]).catch(() => undefined);
          each.reset();
          for (const [table, value] of read ?? []) if (value !== undefined) each.set({ table }, value);
        },
      });
    };
    gauge(
      'partitions_ahead',
      'Partitions of a table after the current day or month; absent while the database is unavailable',
      (table) => partitionsAhead(database, table, Date.now()),
    );
    gauge(
      'partition_rest_rows',
      'Rows of a table in its default partition, of times that have none of their own, counted up to 10,000',
      async ({ rest }) => (rest === undefined ? undefined : rowsInRest(database, rest, MAX_ROWS)),
    );
  }
}
