import type pg from 'pg';
import { createPartition } from '../../src/database/partitions.repository.js';
import { PARTITIONED, partitionOf } from '../../src/database/partitions.rules.js';
import type { Querying } from '../../src/database/sql.js';

/** Creates the partitions of exchanges for the days (UTC) from `first` to `last`. */
export async function createExchangeDays(database: Querying, first: Date, last: Date): Promise<void> {
  for (let time = first.getTime(); time <= last.getTime(); time += 86_400_000) {
    const partition = partitionOf(PARTITIONED.exchanges, time, time);
    if (partition !== undefined) await createPartition(database, PARTITIONED.exchanges, partition);
  }
}

export const daysAgo = (days: number): Date => new Date(Date.now() - days * 86_400_000);

export const queryingOf = (client: Pick<pg.Client, 'query'>): Querying => ({
  query: async <T>(sql: string, parameters: unknown[]) => (await client.query(sql, parameters)).rows as T,
});
