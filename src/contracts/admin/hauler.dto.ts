import { Name, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, max, optional } from '../common/fields/options.js';
import { HAULER } from './fields.js';

const HAULER_NAME = 'Green Valley Hauling';

export class CreateHaulerRequest {
  @Uuid('Id of the hauler; generated if absent', optional, example(HAULER)) id?: string;
  @Name('Name of the hauler', max(200), example(HAULER_NAME)) name!: string;
}

/** Without an id, so that the example works more than once. */
export const HAULER_EXAMPLES = { named: { summary: 'A hauler', value: { name: HAULER_NAME } } };

export class Hauler {
  @Uuid('Id of the hauler, the `haulerId` of the Site API') id!: string;
  @Text('Name of the hauler', example(HAULER_NAME)) name!: string;
  @Time('When it was created') createdAt!: string;
}
