import { createPartition } from '../../src/core/database/partitions.repository.js';
import { PARTITIONED, partitionOf } from '../../src/core/database/partitions.rules.js';
import type { Database } from '../../src/core/database/database.js';

/** Creates the partitions of exchanges for the days (UTC) from `first` to `last`. */
export async function createExchangeDays(database: Database, first: Date, last: Date): Promise<void> {
  for (let time = first.getTime(); time <= last.getTime(); time += 86_400_000) {
    const partition = partitionOf(PARTITIONED.exchanges, time, time);
    if (partition === undefined) continue;
    await database.transaction((transaction) => createPartition(transaction, PARTITIONED.exchanges, partition));
  }
}

export const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);
