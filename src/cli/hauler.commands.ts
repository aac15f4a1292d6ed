import { Command } from 'commander';
import { HaulersService } from '../auth/haulers.service.js';
import { CreateHaulerRequest } from '../contracts/admin/hauler.dto.js';
import { PageQuery } from '../contracts/common/pagination.dto.js';
import type { CommandGroup } from './command-line.js';
import { idOf, readInput } from './input.js';

export const haulerCommands: CommandGroup = (action) => {
  const hauler = new Command('hauler').description('tenants of the platform');
  hauler
    .command('create')
    .description('create a hauler')
    .requiredOption('--name <text>', 'name of the hauler')
    .option('--id <uuid>', 'id to give it; made up if absent')
    .action(
      action((services, options: object) =>
        services.get(HaulersService).create(readInput(CreateHaulerRequest, options)),
      ),
    );
  hauler
    .command('list')
    .description('list haulers, newest first')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'haulers a page, 1 to 100')
    .action(action((services, options: object) => services.get(HaulersService).list(readInput(PageQuery, options))));
  hauler
    .command('show')
    .description('show a hauler')
    .argument('<id>', 'id of the hauler')
    .action(action((services, id: string) => services.get(HaulersService).get(idOf(id))));
  return hauler;
};
