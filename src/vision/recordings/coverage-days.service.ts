import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Database } from '../../database/database.js';
import type { Querying } from '../../database/sql.js';
import { inTransaction } from '../../database/transaction.js';
import { correctDay, type DayTruck, trucksAfter, type WrongDay, wrongDays } from './coverage-days-check.repository.js';

const BATCH = 500;

export type WrongTruckDay = DayTruck & WrongDay;

/** Truck by truck, the days whose sums differ from the recordings; an empty list for a truck whose sums are right. */
export async function* wrongTruckDays(database: Querying): AsyncGenerator<readonly WrongTruckDay[]> {
  let trucks: DayTruck[] = [];
  do {
    trucks = await trucksAfter(database, trucks.at(-1), BATCH);
    for (const truck of trucks) yield (await wrongDays(database, truck)).map((day) => ({ ...truck, ...day }));
  } while (trucks.length === BATCH);
}

/** Compares the sums by day with the recordings, and corrects them. A day of a big fleet takes longer than a request may. */
@Injectable()
export class CoverageDays {
  constructor(
    private readonly dataSource: DataSource,
    private readonly database: Database,
  ) {}

  examine(): AsyncGenerator<readonly WrongTruckDay[]> {
    return wrongTruckDays({ query: (sql, values) => this.inBulk((database) => database.query(sql, values)) });
  }

  /** Returns how many sums were wrong; of one truck, or of all. */
  correct(day: string, truck?: DayTruck): Promise<number> {
    return this.inBulk((database) => correctDay(database, day, truck));
  }

  private inBulk<T>(work: (database: Querying) => Promise<T>): Promise<T> {
    return inTransaction(this.dataSource, work, { lane: this.database.bulk });
  }
}
