import { Command } from 'commander';
import { AccountQueries } from '../accounts/account-queries.js';
import { AccountQuery } from '../contracts/admin/account.dto.js';
import type { CommandGroup } from './command-line.js';
import { idOf, readInput } from './input.js';

export const accountCommands: CommandGroup = (action) => {
  const account = new Command('account').description("haulers' customer accounts, as partners have created them");
  account
    .command('list')
    .description('list accounts, newest first')
    .option('--hauler-id <uuid>', 'accounts of this hauler only')
    .option('--search <text>', 'part of the name, of the account number or of the e-mail address')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'accounts a page, 1 to 100')
    .action(action((services, options: object) => services.get(AccountQueries).list(readInput(AccountQuery, options))));
  account
    .command('show')
    .description('show an account')
    .argument('<id>', 'id of the account')
    .action(action((services, id: string) => services.get(AccountQueries).get(idOf(id))));
  return account;
};
