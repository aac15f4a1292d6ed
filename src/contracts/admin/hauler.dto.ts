import { InstantField, NameField, UuidField } from '../common/fields/scalar-fields.js';

const ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const NAME = { description: 'Name of the hauler', max: 200, example: 'Green Valley Hauling' };

export class CreateHaulerRequest {
  @UuidField({ description: 'Id of the hauler; generated if absent', optional: true, example: ID })
  id?: string;

  @NameField(NAME)
  name!: string;
}

/** Without an id, so that the example works more than once. */
export const HAULER_EXAMPLES = { named: { summary: 'A hauler', value: { name: 'Green Valley Hauling' } } };

export class Hauler {
  @UuidField({ description: 'Id of the hauler, the `haulerId` of the Site API', example: ID })
  id!: string;

  @NameField(NAME)
  name!: string;

  @InstantField({ description: 'When it was created', example: '2026-11-20T14:03:27.512Z' })
  createdAt!: string;
}
