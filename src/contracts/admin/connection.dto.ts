import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  NameField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import { ListQuery } from './list.dto.js';

const ID = '0197a1d0-11aa-7c33-9b44-0f1e2d3c4b5a';
const HAULER_ID = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';

export const PARTNER_INTERFACES = ['site', 'vision'] as const;
export type PartnerInterface = (typeof PARTNER_INTERFACES)[number];

/** A key must be a valid value of an HTTP header. */
const KEY = {
  min: 1,
  max: 4096,
  pattern: /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/,
  form: 'visible ASCII text',
  example: 'pk_live_5f0c1f2e7a3b4c8d',
};
const BASE_URL = {
  description: 'Address of the partner; a path in it precedes the path of the contract',
  max: 2048,
  format: 'uri',
  example: 'https://partner.example.com',
};
/** It is in the key of a table, whose entries have at most 2,704 bytes. */
const MAX_CUSTOMER = 600;
const CUSTOMER = {
  description: "Customer as the partner's video service names it; default: the hauler's id",
  max: MAX_CUSTOMER,
  optional: true,
  example: 'green-valley',
};
const INTERVAL = {
  description:
    'Seconds between runs: of a site connection 60 to 86400, default 900; of a vision connection the read interval of each new subscription, at least 30, default 300',
  min: 30,
  max: 86_400,
  optional: true,
  example: 900,
};

const FIRST_BYTE_TIMEOUT = {
  description:
    'Of a vision connection: seconds that the host of a file has for its answer, and then for the first byte; 0: `VISION_FIRST_BYTE_TIMEOUT`, the default',
  min: 0,
  max: 3_600,
  optional: true,
  example: 300,
};

const PAUSED =
  'A paused connection still executes requests of an admin: a synchronisation, a video request, and downloads of listed recordings';

export class CreateConnectionRequest {
  @UuidField({ description: 'Hauler whose data the partner provides', example: HAULER_ID })
  haulerId!: string;

  @EnumField({ description: 'Interface that the partner hosts', values: PARTNER_INTERFACES, example: 'site' })
  interface!: PartnerInterface;

  @TextField(BASE_URL)
  baseUrl!: string;

  @TextField({ ...KEY, description: 'Key that the partner issued to the platform; never shown again' })
  apiKey!: string;

  @NameField(CUSTOMER)
  customerId?: string;

  @IntegerField(INTERVAL)
  intervalSeconds?: number;

  @IntegerField(FIRST_BYTE_TIMEOUT)
  firstByteTimeoutSeconds?: number;

  @BooleanField({ description: `Whether it runs on schedule; default true. ${PAUSED}`, optional: true, example: true })
  enabled?: boolean;
}

/** A request with all fields is invalid, because `customerId` is for vision only. */
export const NEW_CONNECTIONS = {
  site: {
    summary: 'A partner of the Site API',
    value: {
      haulerId: HAULER_ID,
      interface: 'site',
      baseUrl: BASE_URL.example,
      apiKey: KEY.example,
      intervalSeconds: INTERVAL.example,
    },
  },
  vision: {
    summary: 'A partner of the Vision API',
    value: {
      haulerId: HAULER_ID,
      interface: 'vision',
      baseUrl: BASE_URL.example,
      apiKey: KEY.example,
      customerId: CUSTOMER.example,
    },
  },
};

/** Absent fields stay the same. */
export class UpdateConnectionRequest {
  @TextField({
    ...BASE_URL,
    description: `${BASE_URL.description}. Another scheme, host or port needs \`apiKey\`, and deletes the stored next key`,
    optional: true,
  })
  baseUrl?: string;

  @TextField({
    ...KEY,
    description: 'Replaces the current key at once. Required with a `baseUrl` of another scheme, host or port',
    optional: true,
  })
  apiKey?: string;

  @TextField({
    ...KEY,
    description: 'Used when the partner refuses the current key, and current from then on',
    optional: true,
  })
  nextApiKey?: string;

  @NameField(CUSTOMER)
  customerId?: string;

  @IntegerField(INTERVAL)
  intervalSeconds?: number;

  @IntegerField(FIRST_BYTE_TIMEOUT)
  firstByteTimeoutSeconds?: number;

  @BooleanField({ description: `false pauses it. ${PAUSED}`, optional: true, example: false })
  enabled?: boolean;
}

export const CONNECTION_CHANGES = {
  pause: { summary: 'Pause it', value: { enabled: false } },
  resume: { summary: 'Resume it, every half hour', value: { enabled: true, intervalSeconds: 1800 } },
  slow: { summary: 'Cameras that wake up slowly', value: { firstByteTimeoutSeconds: FIRST_BYTE_TIMEOUT.example } },
  key: { summary: 'The next key of a rotation', value: { nextApiKey: KEY.example } },
  move: { summary: 'Another host, with its key', value: { baseUrl: BASE_URL.example, apiKey: KEY.example } },
};

export class ConnectionQuery extends ListQuery {
  @UuidField({ description: 'Connections of this hauler only', optional: true })
  haulerId?: string;

  @EnumField({
    description: 'Connections of this interface only',
    values: PARTNER_INTERFACES,
    optional: true,
  })
  interface?: PartnerInterface;

  @BooleanField({
    description: 'true: connections whose last run failed; false: all others',
    optional: true,
    inQuery: true,
  })
  failing?: boolean;
}

/** A connection, without its keys. */
export class Connection {
  @UuidField({ description: 'Id of the connection', example: ID })
  id!: string;

  @UuidField({ description: 'Hauler whose data the partner provides', example: HAULER_ID })
  haulerId!: string;

  @EnumField({ description: 'Interface that the partner hosts', values: PARTNER_INTERFACES, example: 'site' })
  interface!: PartnerInterface;

  @TextField(BASE_URL)
  baseUrl!: string;

  @TextField({
    description: 'Customer of a vision connection',
    nullable: true,
    max: MAX_CUSTOMER,
    example: 'green-valley',
  })
  customerId!: string | null;

  @IntegerField({ description: 'Seconds between runs', min: 30, max: 86_400, example: 900 })
  intervalSeconds!: number;

  @IntegerField({
    description: 'Seconds that the host of a file has for its answer, and then for the first byte; null: the default',
    nullable: true,
    min: 1,
    max: 3_600,
    example: 300,
  })
  firstByteTimeoutSeconds!: number | null;

  @BooleanField({ description: 'Whether it runs on schedule', example: true })
  enabled!: boolean;

  @BooleanField({ description: 'Whether a next key is stored', example: false })
  hasNextApiKey!: boolean;

  @InstantField({ description: 'When its next run is due', nullable: true, example: '2026-11-20T14:18:27Z' })
  nextRunAt!: string | null;

  @TextField({
    description: 'Why its last run failed',
    nullable: true,
    example: 'partner.example.com does not accept our API key.',
  })
  lastError!: string | null;

  @InstantField({ description: 'When it was created', example: '2026-11-20T14:03:27.512Z' })
  createdAt!: string;

  @InstantField({ description: 'When it last changed', example: '2026-11-20T14:03:27.512Z' })
  updatedAt!: string;
}
