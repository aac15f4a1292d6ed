import { INTERFACES, type InterfaceName } from '../common/api-contract.js';
import { EnumListField } from '../common/fields/nested-fields.js';
import { BooleanField, InstantField, TextField, UuidField } from '../common/fields/scalar-fields.js';

/** The interfaces and the owner of an API key. */
export class KeyDescription {
  @EnumListField({
    description: 'Interfaces that the key may call',
    values: INTERFACES,
    max: INTERFACES.length,
    example: ['scale', 'account'],
  })
  interfaces!: InterfaceName[];

  @UuidField({ description: 'Hauler of the key', optional: true, example: '5f0c1f2e-7a3b-4c8d-9e10-112233445566' })
  haulerId?: string;

  @TextField({ description: 'The only customer that it may read in Vision', max: 255, optional: true })
  customerId?: string;

  @TextField({ description: 'First characters of the key', example: 'hb_7Kq2mZ9x', max: 11 })
  keyPrefix!: string;

  @InstantField({
    description: 'When it expires; after a rotation, the end of the overlap',
    nullable: true,
    example: '2027-11-20T00:00:00Z',
  })
  expiresAt!: string | null;

  @BooleanField({ description: 'Whether the sandbox is on', example: true })
  sandbox!: boolean;
}
