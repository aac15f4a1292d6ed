import { Flag, Name, Nested, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, max, optional } from '../common/fields/options.js';
import { HAULER } from './fields.js';

const HAULER_NAME = 'Green Valley Hauling';

export class CreateHaulerRequest {
  @Uuid('Id of the hauler; generated if absent', optional, example(HAULER)) id?: string;
  @Name('Name of the hauler', max(200), example(HAULER_NAME)) name!: string;
}

/** Without an id, so that the example works more than once. */
export const HAULER_EXAMPLES = { named: { summary: 'A hauler', value: { name: HAULER_NAME } } };

export const MOVE_STATES = ['locked', 'moved', 'imported'] as const;

/** Where a hauler stands on its way between two cells. */
export class HaulerMove {
  @OneOf(
    '`locked`: it is being moved from here, and its pushes are 503; `moved`: it was released here; `imported`: it came from another cell',
    MOVE_STATES,
  )
  state!: (typeof MOVE_STATES)[number];
  @Time('Since when') since!: string;
  @Flag('Whether its export has ended') isExported!: boolean;
}

export class Hauler {
  @Uuid('Id of the hauler, the `haulerId` of the Site API') id!: string;
  @Text('Name of the hauler', example(HAULER_NAME)) name!: string;
  @Time('When it was created') createdAt!: string;
  @Nested('Its move between cells; absent for most', HaulerMove, optional) move?: HaulerMove;
}
