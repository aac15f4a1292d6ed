import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { Database } from '../../core/database/database.js';
import { PARTITIONED, type PartitionedTable } from '../../core/database/partitions.rules.js';
import { partitionsAhead, rowsInRest } from '../../core/database/partitions.repository.js';
import { Metrics } from '../../core/observability/metrics.js';
import { HttpAdapterHost } from '@nestjs/core';
import type { Application } from 'express';
import type { ConnectionCounts } from '../../core/database/pool.js';
import { receivingBytes } from '../../core/http/body-reader.js';
import { WorkService } from '../../core/work/work.service.js';

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

/** `/metrics` responds without the ages of due work if the database needs longer. */
const OLDEST_DUE_TIMEOUT_MS = 3_000;

/** Gauges of this instance that are read when `/metrics` is requested. */
@Injectable()
export class InstanceMetrics {
  constructor(
    { general, hot, bulk }: Database,
    work: WorkService,
    { registry }: Metrics,
    { httpAdapter }: HttpAdapterHost,
  ) {
    const registers = [registry];
    const connections = (name: string, help: string, counts: () => ConnectionCounts) =>
      new Gauge({
        name,
        help,
        labelNames: ['state'],
        registers,
        collect() {
          for (const [state, count] of Object.entries(counts())) this.set({ state }, count);
        },
      });
    connections(
      'database_pool_connections',
      'Database connections of this instance by state; waiting are requests without one',
      () => general.counts(),
    );
    connections(
      'hot_path_pool_connections',
      'Database connections of ticket pushes, key look-up and readiness by state; waiting are those without one',
      () => hot.counts(),
    );
    connections('bulk_pool_connections', 'Database connections of synchronisations by state', () => bulk.counts());
    new Gauge({
      name: 'request_bodies_receiving_bytes',
      help: 'Bytes of the large request bodies (more than 4 KiB) whose requests have no answer yet',
      registers,
      collect() {
        this.set(receivingBytes(httpAdapter.getInstance<Application>()));
      },
    });
    new Gauge({
      name: 'work_running',
      help: 'Due rows that this instance is processing, by kind of work',
      labelNames: ['kind'],
      registers,
      collect() {
        for (const [kind, rows] of work.running()) this.set({ kind }, rows);
      },
    });
    const oldest = new Gauge({
      name: 'work_oldest_due_seconds',
      help: 'Time that the oldest due row has waited for an instance, by kind of work; absent while the database is unavailable',
      labelNames: ['kind'],
      registers,
      collect: async () => {
        const timeout = delay(OLDEST_DUE_TIMEOUT_MS, undefined, { ref: false });
        const ages = await Promise.race([work.oldestDue(), timeout]).catch(() => undefined);
        oldest.reset();
        for (const [kind, seconds] of ages ?? []) oldest.set({ kind }, seconds);
      },
    });
  }
}
