import { Command } from 'commander';
import { TicketQuery } from '../contracts/admin/ticket.dto.js';
import { PageQuery } from '../contracts/common/pagination.dto.js';
import type { JsonList } from '../http/json-list.js';
import { TicketQueries } from '../scale/ticket-queries.js';
import type { CommandGroup } from './command-line.js';
import { exactValue } from './exact-value.js';
import { idOf, readInput } from './input.js';

export const ticketCommands: CommandGroup = (action) => {
  const ticket = new Command('ticket').description('disposal tickets, as partners have pushed them');
  ticket
    .command('list')
    .description('list tickets, the last received first')
    .option('--hauler-id <uuid>', 'tickets of this hauler only')
    .option('--site-id <uuid>', "tickets of this site only, by the partner's id of it")
    .option('--ticket-number <text>', 'the exact ticket number of the inbound or of the outbound flow')
    .option('--from <time>', 'tickets first received at this time or later')
    .option('--to <time>', 'tickets first received before this time')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'tickets a page, 1 to 100')
    .action(
      action(async (services, options: object) =>
        read(await services.get(TicketQueries).list(readInput(TicketQuery, options))),
      ),
    );
  ticket
    .command('show')
    .description('show a ticket as it stands')
    .argument('<id>', 'id of the ticket')
    .action(action(async (services, id: string) => exactValue(await services.get(TicketQueries).get(idOf(id)))));
  ticket
    .command('revisions')
    .description("list a ticket's kept pushes as they were sent, oldest first")
    .argument('<id>', 'id of the ticket')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'pushes a page, 1 to 100')
    .action(
      action(async (services, id: string, options: object) =>
        read(await services.get(TicketQueries).revisions(idOf(id), readInput(PageQuery, options))),
      ),
    );
  return ticket;
};

async function read({ data, pagination }: JsonList): Promise<object> {
  const rows: unknown[] = [];
  for await (const text of data) rows.push(exactValue(text));
  return { data: rows, pagination };
}
