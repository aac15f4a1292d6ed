import { INTERFACES, type InterfaceName } from '../common/api-contract.js';
import { InstantField, IntegerField, NameField, TextField, UuidField } from '../common/fields/scalar-fields.js';
import { EnumListField } from '../common/fields/nested-fields.js';
import { type Instant } from '../common/instant.js';
import { PageQuery } from '../common/pagination.dto.js';

const ID = '0197a1c8-02d1-7c55-8a3e-5b7d9e1f2a34';
const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const MAX_OVERLAP_SECONDS = 7 * 86_400;

export class IssueApiKeyRequest {
  @UuidField({
    description:
      'Hauler that owns the key; required for scale and account. A site key may read this hauler only. Only `customerId` limits a vision key.',
    optional: true,
    example: HAULER_ID,
  })
  haulerId?: string;

  @NameField({
    description: 'The only customer that a vision key may read; all customers if absent',
    max: 255,
    optional: true,
    example: 'green-valley',
  })
  customerId?: string;

  @EnumListField({
    description: 'Interfaces that the key may call',
    values: INTERFACES,
    min: 1,
    max: 100,
    example: ['scale', 'account'],
  })
  interfaces!: InterfaceName[];

  @NameField({ description: 'Display name', max: 200, optional: true, example: 'Weighbridge north' })
  name?: string;

  @InstantField({
    description: 'When the key expires; never if absent',
    optional: true,
    example: '2027-11-20T00:00:00Z',
  })
  expiresAt?: Instant;
}

/** A request with all fields is invalid, because `customerId` is for vision only. */
export const API_KEY_EXAMPLES = {
  platform: {
    summary: 'A key for tickets and accounts',
    value: { haulerId: HAULER_ID, interfaces: ['scale', 'account'], name: 'Weighbridge north' },
  },
  partner: {
    summary: "A key for one hauler's sites and one customer's videos",
    value: { haulerId: HAULER_ID, customerId: HAULER_ID, interfaces: ['site', 'vision'], name: 'Sandbox' },
  },
};

export class RotateApiKeyRequest {
  @IntegerField({
    description: 'Seconds that the old key works after the first use of the new one',
    min: 0,
    max: MAX_OVERLAP_SECONDS,
    default: 86_400,
    optional: true,
    example: 3600,
  })
  overlapSeconds?: number;
}

export class ApiKeyQuery extends PageQuery {
  @UuidField({ description: 'Keys of this hauler only', optional: true })
  haulerId?: string;
}

/** An issued key, without the key. */
export class ApiKey {
  @UuidField({ description: 'Id of the key', example: ID })
  id!: string;

  @TextField({ description: 'First characters of the key', example: 'hb_7Kq2mZ9x', max: 11 })
  prefix!: string;

  @UuidField({ description: 'Hauler that owns the key', nullable: true, example: HAULER_ID })
  haulerId!: string | null;

  @TextField({
    description: 'The only customer that it may read in Vision',
    nullable: true,
    max: 255,
    example: 'green-valley',
  })
  customerId!: string | null;

  @EnumListField({
    description: 'Interfaces that the key may call',
    values: INTERFACES,
    max: INTERFACES.length,
    example: ['scale', 'account'],
  })
  interfaces!: InterfaceName[];

  @TextField({ description: 'Display name', nullable: true, max: 200, example: 'Weighbridge north' })
  name!: string | null;

  @InstantField({ description: 'When it was issued', example: '2026-11-20T14:03:27.512Z' })
  createdAt!: string;

  @InstantField({
    description: 'When it expires; after the first use of its successor, the end of the overlap',
    nullable: true,
    example: '2027-11-20T00:00:00Z',
  })
  expiresAt!: string | null;

  @InstantField({ description: 'Last use, to the minute', nullable: true, example: '2026-11-20T15:11:02.004Z' })
  lastUsedAt!: string | null;

  @InstantField({ description: 'When it was revoked', nullable: true, example: '2026-11-21T08:00:00Z' })
  revokedAt!: string | null;
}

/** The response to an issue or a rotation, the only one with the key. */
export class IssuedApiKey extends ApiKey {
  @TextField({
    description: 'The key itself, in this response only',
    max: 52,
    example: 'hb_7Kq2mZ9xTgV4cW1nB8yLr5dPsJ3fHk6QoUaEiXwMvRt00000',
  })
  key!: string;
}
