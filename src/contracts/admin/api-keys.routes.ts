import { type InterfaceName, INTERFACES } from '../common/interfaces.values.js';
import { Flag, Integer, Name, OneOfList, Text, Time, Uuid } from '../common/fields/decorators.js';
import { between, example, max, nullable, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { ListQuery } from './list.dto.js';
import { CONNECTION, HAULER, HaulerId } from './fields.js';
import {
  type AdminRoutes,
  change,
  create,
  FOR_ADMINS,
  FOR_ADMINS_OF_ALL,
  FOR_VIEWERS,
  list,
  one,
  removeWithPreview,
} from './route-helpers.js';

const MAX_OVERLAP_SECONDS = 7 * 86_400;

export class IssueApiKeyRequest {
  @Uuid(
    'Hauler that owns the key; required for scale and account. A site key may read this hauler only; it does not limit a vision key.',
    optional,
    example(HAULER),
  )
  haulerId?: string;
  @Name('The only customer that a vision key may read. A vision key needs this or `allCustomers`', max(255), optional)
  customerId?: string;
  @Flag('Whether a vision key reads every customer, with `customerId` absent', optional) allCustomers?: boolean;
  @OneOfList('Interfaces that the key may call; required without `connectionId`', INTERFACES, between(1, 100), optional)
  interfaces?: InterfaceName[];
  @Uuid(
    'For a partner who hosts: the key opens the partner API alone, for this connection alone. Without the fields above',
    optional,
  )
  connectionId?: string;
  @Name('Display name', max(200), optional, example('Weighbridge north')) name?: string;
  @Time('When the key expires; never if absent', optional, example('2027-11-20T00:00:00Z')) expiresAt?: Instant;
}

/** A request with all fields is invalid: `customerId` and `allCustomers` exclude each other. */
const API_KEY_EXAMPLES = {
  platform: {
    summary: 'A key for tickets and accounts',
    value: { haulerId: HAULER, interfaces: ['scale', 'account'], name: 'Weighbridge north' },
  },
  partner: {
    summary: "A key for one hauler's sites and one customer's videos",
    value: { haulerId: HAULER, customerId: HAULER, interfaces: ['site', 'vision'], name: 'Sandbox' },
  },
  allCustomers: {
    summary: "A key for every customer's videos",
    value: { interfaces: ['vision'], allCustomers: true, name: 'Archive' },
  },
  connection: {
    summary: 'A key for a partner who hosts, to see how one connection fares',
    value: { connectionId: CONNECTION, name: 'Camera vendor' },
  },
};

export class RotateApiKeyRequest {
  @Integer(
    'Seconds that the old key works after the first use of the new one',
    max(MAX_OVERLAP_SECONDS),
    { default: 86_400 },
    optional,
    example(3600),
  )
  overlapSeconds?: number;
  @Time('When the new key expires; as the old one if absent', optional, example('2027-11-20T00:00:00Z'))
  expiresAt?: Instant;
}

export class ApiKeyQuery extends ListQuery {
  @Uuid('Keys of this hauler only', optional) haulerId?: string;
  @Uuid('Keys of this connection only', optional) connectionId?: string;
}

/** An issued key, without the key. */
export class ApiKey {
  @Uuid('Id of the key') id!: string;
  @Text('First characters of the key', example('hb_7Kq2mZ9x')) prefix!: string;
  @HaulerId(nullable) haulerId!: string | null;
  @Uuid('The connection whose key it is: it opens the partner API alone, for this connection', nullable)
  connectionId!: string | null;
  @Text('The only customer that it may read in Vision', nullable, example('green-valley')) customerId!: string | null;
  @Flag('Whether it reads every customer in Vision', example(false)) allCustomers!: boolean;
  @OneOfList('Interfaces that the key may call; none for a key of a connection', INTERFACES)
  interfaces!: InterfaceName[];
  @Text('Display name', nullable, example('Weighbridge north')) name!: string | null;
  @Time('When it was issued') createdAt!: string;
  @Time('When it expires; after the first use of its successor, the end of the overlap', nullable)
  expiresAt!: string | null;
  @Time('Last use, to the minute', nullable) lastUsedAt!: string | null;
  @Uuid('The key whose successor it is, by a rotation', nullable) replacesId!: string | null;
  @Time(
    'First use of a successor, at which the overlap of the key before it began; null until then, and for other keys',
    nullable,
  )
  activatedAt!: string | null;
  @Time('When it was revoked', nullable) revokedAt!: string | null;
}

/** The response to an issue or a rotation, the only one with the key. */
export class IssuedApiKey extends ApiKey {
  @Text('The key itself, in this response only', example('hb_7Kq2mZ9xTgV4cW1nB8yLr5dPsJ3fHk6QoUaEiXwMvRt00000'))
  key!: string;
}

/** What ends with a key. */
export class KeyRemoval {
  @Time('Last use of the key, to the minute', nullable) lastUsedAt!: string | null;
  @Integer('Sessions of the console that are signed in with it, and would end', example(0)) sessions!: number;
}

/** API keys that this service issues. */
export const API_KEY_ROUTES = {
  issueApiKey: create(FOR_ADMINS_OF_ALL, '/api-keys', IssueApiKeyRequest, IssuedApiKey, {
    summary: 'Issue an API key',
    description:
      'Only this response shows the key. A key opens interfaces; with `connectionId` it opens the partner API alone, for the partner of that connection.',
    examples: API_KEY_EXAMPLES,
    isSecret: true,
  }),
  listApiKeys: list(FOR_VIEWERS, '/api-keys', ApiKey, ApiKeyQuery, {
    summary: 'List API keys',
    description: 'Newest first, without the keys themselves.',
  }),
  getApiKey: one(FOR_VIEWERS, '/api-keys/{id}', 'key', ApiKey, {
    summary: 'Read an API key',
    description: 'By its id, without the key itself: also one that is revoked or has expired.',
  }),
  rotateApiKey: change(FOR_ADMINS, 'POST', '/api-keys/{id}/rotate', 'key', {
    summary: 'Rotate an API key',
    description:
      'The new key is dormant until its first use. From then on the old key works for the overlap only. A second rotation before the first use replaces the dormant key.',
    body: RotateApiKeyRequest,
    response: IssuedApiKey,
    isBodyOptional: true,
    status: 201,
    returns: 'The new key',
    isSecret: true,
    fails: { conflict: 'The key is revoked or has expired: issue a new key' },
  }),
  revokeApiKey: removeWithPreview(FOR_ADMINS, '/api-keys/{id}', 'key', KeyRemoval, {
    summary: 'Revoke an API key',
    description: 'Permanently, on every instance within 5 s.',
    returns: 'The key is revoked',
  }),
} as const satisfies AdminRoutes;
