import { ObjectField } from '../common/fields/nested-fields.js';
import { BooleanField, EnumField, InstantField, NameField, UuidField } from '../common/fields/scalar-fields.js';

const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const HAULER_NAME = { description: 'Name of the hauler', max: 200, example: 'Green Valley Hauling' };

export class CreateHaulerRequest {
  @UuidField({ description: 'Id of the hauler; generated if absent', optional: true, example: HAULER_ID })
  id?: string;

  @NameField(HAULER_NAME)
  name!: string;
}

/** Without an id, so that the example works more than once. */
export const HAULER_EXAMPLES = { named: { summary: 'A hauler', value: { name: HAULER_NAME.example } } };

export const MOVE_STATES = ['locked', 'moved', 'imported'] as const;

/** Where a hauler stands on its way between two cells. */
export class HaulerMove {
  @EnumField({
    description:
      '`locked`: it is being moved from here, and its pushes are 503; `moved`: it was released here; `imported`: it came from another cell',
    values: MOVE_STATES,
    example: 'locked',
  })
  state!: (typeof MOVE_STATES)[number];

  @InstantField({ description: 'Since when', example: '2026-11-20T14:03:27.512Z' })
  since!: string;

  @BooleanField({ description: 'Whether its export has ended', example: true })
  isExported!: boolean;
}

export class Hauler {
  @UuidField({ description: 'Id of the hauler, the `haulerId` of the Site API', example: HAULER_ID })
  id!: string;

  @NameField(HAULER_NAME)
  name!: string;

  @InstantField({ description: 'When it was created', example: '2026-11-20T14:03:27.512Z' })
  createdAt!: string;

  @ObjectField(() => HaulerMove, { description: 'Its move between cells; absent for most', optional: true })
  move?: HaulerMove;
}
