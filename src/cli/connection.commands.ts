import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import {
  ConnectionQuery,
  CreateConnectionRequest,
  UpdateConnectionRequest,
} from '../contracts/admin/connection.dto.js';
import { booleanIn } from '../contracts/common/fields/boolean-field.js';
import { integerIn } from '../contracts/common/fields/number-fields.js';
import { ConnectionCheckService } from '../partner-client/connection-check.service.js';
import { ConnectionsService } from '../partner-client/connections.service.js';
import { SyncRunsService } from '../site-sync/sync/sync-runs.service.js';
import type { CommandGroup } from './command-line.js';
import { idOf, readInput } from './input.js';

const STDIN = 0;

/** `-` is read from standard input: what stands in a command line is seen by everybody on the machine. */
function secret(text: string): string {
  if (text !== '-') return text;
  const read = readFileSync(STDIN, 'utf8').trim();
  if (read === '') throw new InvalidArgumentError('Standard input is empty: pipe the key into the command.');
  return read;
}

export const connectionCommands: CommandGroup = (action) => {
  const connection = new Command('connection').description("links of haulers to partners' interfaces");
  connection
    .command('add')
    .description('connect a hauler to a partner; the key is never shown again')
    .requiredOption('--hauler-id <uuid>', 'hauler whose data the partner has')
    .requiredOption('--interface <name>', 'site or vision')
    .requiredOption('--base-url <url>', 'address of the partner')
    .requiredOption('--api-key <text>', 'key that the partner issued to us; - reads it from standard input', secret)
    .option('--customer-id <text>', "customer, of a vision connection; the hauler's id if absent")
    .option('--interval-seconds <number>', 'seconds between runs', integerIn)
    .option('--enabled <boolean>', 'whether it runs by itself; true if absent', booleanIn)
    .action(
      action((services, options: object) =>
        services.get(ConnectionsService).create(readInput(CreateConnectionRequest, options)),
      ),
    );
  connection
    .command('list')
    .description('list connections, newest first')
    .option('--hauler-id <uuid>', 'connections of this hauler only')
    .option('--interface <name>', 'connections of this interface only')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'connections a page, 1 to 100')
    .action(
      action((services, options: object) => services.get(ConnectionsService).list(readInput(ConnectionQuery, options))),
    );
  connection
    .command('show')
    .description('show a connection, without its keys')
    .argument('<id>', 'id of the connection')
    .action(action((services, id: string) => services.get(ConnectionsService).get(idOf(id))));
  connection
    .command('change')
    .description('change a connection; what is not named stays')
    .argument('<id>', 'id of the connection')
    .option('--base-url <url>', 'address of the partner')
    .option('--api-key <text>', 'replaces the key at once; - reads it from standard input', secret)
    .option('--next-api-key <text>', 'tried when the current key is refused; - reads it from standard input', secret)
    .option('--customer-id <text>', 'customer, of a vision connection')
    .option('--interval-seconds <number>', 'seconds between runs', integerIn)
    .option('--enabled <boolean>', 'false pauses it', booleanIn)
    .action(
      action((services, id: string, options: object) =>
        services.get(ConnectionsService).update(idOf(id), readInput(UpdateConnectionRequest, options)),
      ),
    );
  connection
    .command('check')
    .description('call the partner once and tell what was found')
    .argument('<id>', 'id of the connection')
    .action(action((services, id: string) => services.get(ConnectionCheckService).check(idOf(id))));
  connection
    .command('sync')
    .description('synchronise a site connection now; the running service does it')
    .argument('<id>', 'id of the connection')
    .action(action((services, id: string) => services.get(SyncRunsService).request(idOf(id))));
  connection
    .command('remove')
    .description('delete a connection; the data that came through it stays')
    .argument('<id>', 'id of the connection')
    .action(action((services, id: string) => services.get(ConnectionsService).remove(idOf(id))));
  return connection;
};
