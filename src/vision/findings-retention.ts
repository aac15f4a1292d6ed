import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { DataSource } from 'typeorm';

const EVERY_MS = 3_600_000;
/** Not seen for so long. */
const KEPT_FOR = '90 days';
/** Of one connection: a partner whose every element is bad makes 1,440 a day for one truck and camera. */
const MOST = 10_000;
/** Rows of one statement. */
const BATCH = 1000;

interface Connection {
  readonly hauler_id: string;
  readonly id: string;
}

/** Where what is kept begins; the time as text, since a Date has no microseconds. */
interface Floor {
  readonly seen: string;
  readonly digest: string;
}

/**
 * Keeps the list of partners' faults of bounded length. Several instances may do it at once: each skips what another has
 * in hand, or a reading finds again. It goes by connection, whose rows the primary key finds: these are `MOST` and an
 * hour's news, so that no index by time is worth its upkeep at every reading.
 */
@Injectable()
export class FindingsRetention implements OnModuleDestroy {
  private stopping = false;

  constructor(private readonly dataSource: DataSource) {}

  /** Returns how many rows are gone. Those of deleted connections are judged alike. */
  @Interval('vision findings', EVERY_MS)
  async sweep(): Promise<number> {
    const connections = await this.dataSource.query<Connection[]>(
      `SELECT hauler_id, id FROM connections WHERE interface = 'vision'`,
    );
    let gone = 0;
    for (const connection of connections) gone += await this.sweepConnection(connection);
    return gone;
  }

  onModuleDestroy(): void {
    this.stopping = true;
  }

  private async sweepConnection(connection: Connection): Promise<number> {
    if (this.stopping) return 0;
    const floor = await this.floor(connection);
    let gone = 0;
    for (let last = BATCH; last === BATCH && !this.stopping; gone += last) last = await this.remove(connection, floor);
    return gone;
  }

  /** By digest too: a hundred findings of one answer were seen at the same moment. */
  private async floor({ hauler_id, id }: Connection): Promise<Floor> {
    const [floor] = await this.dataSource.query<[Floor]>(
      `SELECT last_seen_at::text AS seen, digest FROM (
         (SELECT last_seen_at, digest FROM vision_findings WHERE hauler_id = $1 AND connection_id = $2
          ORDER BY last_seen_at DESC, digest DESC OFFSET ${MOST - 1} LIMIT 1)
         UNION ALL SELECT now() - interval '${KEPT_FOR}', '') floors
       ORDER BY last_seen_at DESC, digest DESC LIMIT 1`,
      [hauler_id, id],
    );
    return floor;
  }

  /**
   * A finding that is seen again meanwhile is looked at anew when its row is locked, and stays. As an array the digests
   * are looked up in the primary key; a join took 2.1 s of 13,000 rows that had no statistics yet, instead of 20 ms.
   */
  private async remove({ hauler_id, id }: Connection, { seen, digest }: Floor): Promise<number> {
    const [, gone] = await this.dataSource.query<[unknown[], number]>(
      `DELETE FROM vision_findings WHERE hauler_id = $1 AND connection_id = $2 AND digest = ANY (ARRAY(
         SELECT digest FROM vision_findings
         WHERE hauler_id = $1 AND connection_id = $2 AND (last_seen_at, digest) < ($3::timestamptz, $4::text)
         LIMIT ${BATCH} FOR UPDATE SKIP LOCKED))`,
      [hauler_id, id, seen, digest],
    );
    return gone;
  }
}
