import { INTERFACES, type InterfaceName } from '../common/api-contract.js';
import { EnumListField } from '../common/fields/nested-fields.js';
import {
  BooleanField,
  InstantField,
  IntegerField,
  NameField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';

const KEY_ID = '0197a1c8-02d1-7c55-8a3e-5b7d9e1f2a34';
const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const CONNECTION_ID = '0197a1d0-11aa-7c33-9b44-0f1e2d3c4b5a';

const MAX_OVERLAP_SECONDS = 7 * 86_400;

export class IssueApiKeyRequest {
  @UuidField({
    description:
      'Hauler that owns the key; required for scale and account. A site key may read this hauler only; it does not limit a vision key.',
    optional: true,
    example: HAULER_ID,
  })
  haulerId?: string;

  @NameField({
    description: 'The only customer that a vision key may read. A vision key needs this or `allCustomers`',
    max: 255,
    optional: true,
    example: 'green-valley',
  })
  customerId?: string;

  @BooleanField({
    description: 'Whether a vision key reads every customer, with `customerId` absent',
    optional: true,
    example: true,
  })
  allCustomers?: boolean;

  @EnumListField({
    description: 'Interfaces that the key may call; required without `connectionId`',
    values: INTERFACES,
    min: 1,
    max: 100,
    optional: true,
    example: ['scale', 'account'],
  })
  interfaces?: InterfaceName[];

  @UuidField({
    description:
      'For a partner who hosts: the key opens the partner API alone, for this connection alone. Without the fields above',
    optional: true,
    example: CONNECTION_ID,
  })
  connectionId?: string;

  @NameField({ description: 'Display name', max: 200, optional: true, example: 'Weighbridge north' })
  name?: string;

  @InstantField({
    description: 'When the key expires; never if absent',
    optional: true,
    example: '2027-11-20T00:00:00Z',
  })
  expiresAt?: Instant;
}

/** A request with all fields is invalid: `customerId` and `allCustomers` exclude each other. */
export const API_KEY_EXAMPLES = {
  platform: {
    summary: 'A key for tickets and accounts',
    value: { haulerId: HAULER_ID, interfaces: ['scale', 'account'], name: 'Weighbridge north' },
  },
  partner: {
    summary: "A key for one hauler's sites and one customer's videos",
    value: { haulerId: HAULER_ID, customerId: HAULER_ID, interfaces: ['site', 'vision'], name: 'Sandbox' },
  },
  allCustomers: {
    summary: "A key for every customer's videos",
    value: { interfaces: ['vision'], allCustomers: true, name: 'Archive' },
  },
  connection: {
    summary: 'A key for a partner who hosts, to see how one connection fares',
    value: { connectionId: CONNECTION_ID, name: 'Camera vendor' },
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

  @InstantField({
    description: 'When the new key expires; as the old one if absent',
    optional: true,
    example: '2027-11-20T00:00:00Z',
  })
  expiresAt?: Instant;
}

export class ApiKeyQuery extends ListQuery {
  @UuidField({ description: 'Keys of this hauler only', optional: true })
  haulerId?: string;

  @UuidField({ description: 'Keys of this connection only', optional: true })
  connectionId?: string;
}

/** An issued key, without the key. */
export class ApiKey {
  @UuidField({ description: 'Id of the key', example: KEY_ID })
  id!: string;

  @TextField({ description: 'First characters of the key', example: 'hb_7Kq2mZ9x', max: 24 })
  prefix!: string;

  @UuidField({ description: 'Hauler that owns the key', nullable: true, example: HAULER_ID })
  haulerId!: string | null;

  @UuidField({
    description: 'The connection whose key it is: it opens the partner API alone, for this connection',
    nullable: true,
    example: null,
  })
  connectionId!: string | null;

  @TextField({
    description: 'The only customer that it may read in Vision',
    nullable: true,
    max: 255,
    example: 'green-valley',
  })
  customerId!: string | null;

  @BooleanField({ description: 'Whether it reads every customer in Vision', example: false })
  allCustomers!: boolean;

  @EnumListField({
    description: 'Interfaces that the key may call; none for a key of a connection',
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

  @UuidField({
    description: 'The key whose successor it is, by a rotation',
    nullable: true,
    example: null,
  })
  replacesId!: string | null;

  @InstantField({
    description:
      'First use of a successor, at which the overlap of the key before it began; null until then, and for other keys',
    nullable: true,
    example: null,
  })
  activatedAt!: string | null;

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
