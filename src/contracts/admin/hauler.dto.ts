import { Integer, Name, Nested, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, max, nullable, optional } from '../common/fields/options.js';
import { HAULER } from './fields.js';

const HAULER_NAME = 'Green Valley Hauling';

export class CreateHaulerRequest {
  @Uuid('Id of the hauler; generated if absent', optional, example(HAULER)) id?: string;
  @Name('Name of the hauler', max(200), example(HAULER_NAME)) name!: string;
}

/** Without an id, so that the example works more than once. */
export const HAULER_EXAMPLES = { named: { summary: 'A hauler', value: { name: HAULER_NAME } } };

/** What came from the partners of a hauler, and how those that are called fare. */
export class HaulerHealth {
  @Integer('Its connections', example(2)) connections!: number;
  @Integer('Those whose last call or run failed', example(0)) failingConnections!: number;
  @Time('When a key for tickets or accounts was used last; null for never', nullable) lastPushAt!: string | null;
  @Integer('Pushes that were refused or failed in the last 24 hours, the current one included', example(0))
  refusedPushes!: number;
}

export class Hauler {
  @Uuid('Id of the hauler, the `haulerId` of the Site API') id!: string;
  @Text('Name of the hauler', example(HAULER_NAME)) name!: string;
  @Time('When it was created') createdAt!: string;
  @Nested('How it fares, where it is read', HaulerHealth, optional) health?: HaulerHealth;
}
