import { type BeforeApplicationShutdown, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { inBackground } from '../errors/background.js';
import { Database } from './database.js';
import { createPartition, partitionsOf, timesInRest } from './partitions.repository.js';
import {
  type Partition,
  PARTITIONED,
  type PartitionedTable,
  partitionOf,
  plannedPartitions,
} from './partitions.rules.js';
import { Sweep } from './sweep.js';

const EVERY_MS = 3_600_000;

/** Creates the partitions of all partitioned tables, ahead of the clock and for the rows that arrive. */
@Injectable()
export class PartitionPlanner implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Partitions');
  /** Of each table; read again at each plan, because partitions are dropped too. */
  private readonly known = new Map<string, Set<string>>();
  private readonly planning = new Sweep((stopping) => this.planAll(stopping));

  constructor(private readonly database: Database) {}

  onApplicationBootstrap(): void {
    inBackground(this.plan());
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.planning.stop();
  }

  @Interval('partitions', EVERY_MS)
  plan(): Promise<void> {
    return this.planning.run();
  }

  /**
   * Creates the partitions of rows that are about to be written. Without one a row goes to the partition of the rest, so a failure is
   * logged only; the next plan tries again.
   */
  async ensure(table: PartitionedTable, times: readonly number[], now: number = Date.now()): Promise<void> {
    const wanted = new Map<string, Partition>();
    for (const time of times) {
      const partition = partitionOf(table, time, now);
      if (partition !== undefined) wanted.set(partition.name, partition);
    }
    for (const partition of wanted.values()) {
      if (this.known.get(table.name)?.has(partition.name) !== true) await this.create(table, partition);
    }
  }

  /** The partitions are some days ahead, and another attempt follows in an hour. */
  private async planAll(stopping: AbortSignal): Promise<void> {
    for (const table of Object.values<PartitionedTable>(PARTITIONED)) {
      if (stopping.aborted) return;
      try {
        this.known.set(table.name, new Set(await partitionsOf(this.database, table)));
        const now = Date.now();
        const times = await timesInRest(this.database, table);
        for (const partition of plannedPartitions(table, now)) {
          if (this.known.get(table.name)?.has(partition.name) !== true) await this.create(table, partition);
        }
        await this.ensure(
          table,
          times.map((at) => at.getTime()),
          now,
        );
      } catch (err) {
        this.logger.warn({ err }, `the partitions of ${table.name} could not be planned`);
      }
    }
  }

  private async create(table: PartitionedTable, partition: Partition): Promise<void> {
    try {
      await this.database.transaction((transaction) => createPartition(transaction, table, partition));
      this.known.set(table.name, (this.known.get(table.name) ?? new Set()).add(partition.name));
    } catch (err) {
      this.logger.warn({ err }, `the partition ${partition.name} could not be created`);
    }
  }
}
