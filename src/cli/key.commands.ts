import { Command } from 'commander';
import { ApiKeyAdmin } from '../auth/api-key-admin.service.js';
import { KeyRotation } from '../auth/key-rotation.service.js';
import { ApiKeyQuery, IssueApiKeyRequest, RotateApiKeyRequest } from '../contracts/admin/api-key.dto.js';
import { integerIn } from '../contracts/common/fields/number-fields.js';
import type { CommandGroup } from './command-line.js';
import { commaSeparated, idOf, readInput } from './input.js';

export const keyCommands: CommandGroup = (action) => {
  const key = new Command('key').description('API keys that we issue; a new key is shown once');
  key
    .command('issue')
    .description('issue an API key')
    .requiredOption('--interfaces <list>', 'what it opens: scale,account,site,vision', commaSeparated)
    .option('--hauler-id <uuid>', 'hauler that owns it; required for scale and account')
    .option('--customer-id <text>', 'the only customer that a vision key may read')
    .option('--name <text>', 'name for people')
    .option('--expires-at <time>', 'when it ends by itself, such as 2027-01-31T00:00:00Z; never if absent')
    .action(
      action((services, options: object) => services.get(ApiKeyAdmin).issue(readInput(IssueApiKeyRequest, options))),
    );
  key
    .command('rotate')
    .description('issue the successor of a key; from its first use on the old one lives for the overlap')
    .argument('<id>', 'id of the key')
    .option('--overlap-seconds <number>', 'how long the old key lives on: 0 to 604800, 86400 if absent', integerIn)
    .action(
      action((services, id: string, options: object) => {
        const { overlapSeconds } = readInput(RotateApiKeyRequest, options);
        return services.get(KeyRotation).rotate(idOf(id), overlapSeconds);
      }),
    );
  key
    .command('revoke')
    .description('revoke a key for good, on every instance within 5 s')
    .argument('<id>', 'id of the key')
    .action(action((services, id: string) => services.get(ApiKeyAdmin).revoke(idOf(id))));
  key
    .command('list')
    .description('list keys, newest first')
    .option('--hauler-id <uuid>', 'keys of this hauler only')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'keys a page, 1 to 100')
    .action(action((services, options: object) => services.get(ApiKeyAdmin).list(readInput(ApiKeyQuery, options))));
  return key;
};
