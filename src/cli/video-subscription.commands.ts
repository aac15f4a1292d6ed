import { Command } from 'commander';
import {
  ChangeVideoSubscription,
  CreateVideoSubscription,
  VideoSubscriptionQuery,
} from '../contracts/admin/video-subscription.dto.js';
import { booleanIn } from '../contracts/common/fields/boolean-field.js';
import { integerIn } from '../contracts/common/fields/number-fields.js';
import { VideoSubscriptions } from '../vision/continuous/subscriptions.service.js';
import type { CommandGroup } from './command-line.js';
import { idOf, readInput } from './input.js';

export const videoSubscriptionCommands: CommandGroup = (action) => {
  const subscription = new Command('video-subscription').description("trucks' continuous recordings that are followed");
  subscription
    .command('create')
    .description("follow a truck's continuous recordings; a running service reads and fetches them")
    .requiredOption('--connection-id <uuid>', 'vision connection to the partner')
    .requiredOption('--truck-id <text>', 'truck')
    .requiredOption('--start-time <time>', 'recordings from this time on, such as 2026-01-31T08:30:00Z')
    .option('--camera-id <text>', 'camera: placement or number; all of the truck if absent')
    .option('--interval-seconds <number>', 'seconds between two looks; as the connection says if absent', integerIn)
    .action(
      action((services, options: object) =>
        services.get(VideoSubscriptions).create(readInput(CreateVideoSubscription, options)),
      ),
    );
  subscription
    .command('list')
    .description('list subscriptions, newest first')
    .option('--connection-id <uuid>', 'subscriptions of this connection only')
    .option('--truck-id <text>', 'subscriptions of this truck only')
    .option('--page <number>', 'page, from 1')
    .option('--page-size <number>', 'subscriptions a page, 1 to 100')
    .action(
      action((services, options: object) =>
        services.get(VideoSubscriptions).list(readInput(VideoSubscriptionQuery, options)),
      ),
    );
  subscription
    .command('show')
    .description('show a subscription and how far its recordings were read')
    .argument('<id>', 'id of the subscription')
    .action(action((services, id: string) => services.get(VideoSubscriptions).get(idOf(id))));
  subscription
    .command('change')
    .description('change a subscription; what is not named stays')
    .argument('<id>', 'id of the subscription')
    .option('--interval-seconds <number>', 'seconds between two looks', integerIn)
    .option('--enabled <boolean>', 'false pauses it', booleanIn)
    .action(
      action((services, id: string, options: object) =>
        services.get(VideoSubscriptions).change(idOf(id), readInput(ChangeVideoSubscription, options)),
      ),
    );
  subscription
    .command('end')
    .description('end a subscription; what was found stays, and is fetched')
    .argument('<id>', 'id of the subscription')
    .action(action((services, id: string) => services.get(VideoSubscriptions).remove(idOf(id))));
  return subscription;
};
