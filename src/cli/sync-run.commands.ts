import { Command } from 'commander';
import { SyncRunQuery } from '../contracts/admin/sync-run.dto.js';
import { PageQuery } from '../contracts/common/pagination.dto.js';
import { SyncRunQueries } from '../site-sync/sync/sync-run-queries.js';
import { SyncRunsService } from '../site-sync/sync/sync-runs.service.js';
import type { CommandGroup } from './command-line.js';
import { idOf, readInput } from './input.js';

export const syncRunCommands: CommandGroup = (action) => {
  const run = new Command('sync-run').description('synchronisations of site connections');
  run
    .command('list')
    .description('list runs, newest first')
    .option('--connection-id <uuid>', 'runs of this connection only')
    .option('--status <status>', 'queued, running, succeeded, failed, held or no_data')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'runs a page, 1 to 100')
    .action(action((services, options: object) => services.get(SyncRunQueries).list(readInput(SyncRunQuery, options))));
  run
    .command('show')
    .description('show a run and what it did')
    .argument('<id>', 'id of the run')
    .action(action((services, id: string) => services.get(SyncRunQueries).get(idOf(id))));
  run
    .command('quarantine')
    .description('list the records that a run did not take, or took with doubt')
    .argument('<id>', 'id of the run')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'records a page, 1 to 100')
    .action(
      action((services, id: string, options: object) =>
        services.get(SyncRunQueries).quarantine(idOf(id), readInput(PageQuery, options)),
      ),
    );
  run
    .command('confirm')
    .description("apply the removals that a run held: what the partner's answer lacked becomes inactive")
    .argument('<id>', 'id of the run')
    .action(action((services, id: string) => services.get(SyncRunsService).confirm(idOf(id))));
  return run;
};
