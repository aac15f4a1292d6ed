import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Database } from '../../database/database.js';
import { partitionsAhead } from '../../database/partitions.repository.js';
import { PARTITIONED, type PartitionedTable } from '../../database/partitions.rules.js';
import { consolePage, type Notice } from './attention.rules.js';
import { AttentionService } from './attention.service.js';

type Divided = (typeof PARTITIONED)[keyof typeof PARTITIONED];

const PAGES = { exchanges: 'exchanges', ticket_revisions: 'tickets', recordings: 'recordings' } as const;

/** Whether each divided table has a partition for the time that comes next, as the alert asks. */
@Injectable()
export class PartitionAttention implements OnModuleInit {
  constructor(
    private readonly attention: AttentionService,
    private readonly database: Database,
  ) {}

  onModuleInit(): void {
    this.attention.add([{ kinds: ['missing-partitions'], find: (now) => this.find(now) }]);
  }

  private async find(now: number): Promise<Notice[]> {
    const tables = Object.values<Divided>(PARTITIONED);
    const ahead = await Promise.all(tables.map((table) => partitionsAhead(this.database, table, now)));
    return tables.filter((_, i) => ahead[i] === 0).map((table) => notice(table, now));
  }
}

function notice(table: Divided, now: number): Notice {
  const { name, unit } = table;
  const sentence = `${name} has no partition for the next ${unit}: the service creates them each hour, and could not. ${consequence(table)} The log of the service has the reason.`;
  return {
    ...{ kind: 'missing-partitions', severity: 'soon', count: 1, subject: name, since: new Date(now), sentence },
    page: consolePage(PAGES[name], {}),
  };
}

const consequence = ({ rest, unit }: PartitionedTable): string =>
  rest === undefined
    ? `The first row of the ${unit} has to wait for one.`
    : `Without one its rows are stored in ${rest}, and move later.`;
