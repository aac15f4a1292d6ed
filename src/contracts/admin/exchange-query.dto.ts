import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { INTERFACES, type InterfaceName } from '../common/api-contract.js';
import {
  BooleanField,
  EnumField,
  InstantField,
  IntegerField,
  TextField,
  UuidField,
} from '../common/fields/scalar-fields.js';
import type { Instant } from '../common/instant.js';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../common/pagination.dto.js';
import { parseReference, REFERENCE_KINDS } from '../common/references.js';
import { CURSOR } from './list.dto.js';

const REFERENCE_FORM = `kind:value with one of the kinds ${REFERENCE_KINDS.join(', ')}`;

/** Filters of exchanges. All given filters apply. */
export class ExchangeFilters {
  @EnumField({
    description: 'Calls to this service, or calls of this service',
    values: ['inbound', 'outbound'],
    optional: true,
  })
  direction?: 'inbound' | 'outbound';

  @EnumField({ description: 'Exchanges of this interface only', values: INTERFACES, optional: true })
  interface?: InterfaceName;

  @TextField({
    description: 'A status, a class of statuses, or `none` for exchanges without a response',
    max: 4,
    pattern: /^([1-5]\d\d|[1-5]xx|none)$/,
    form: 'a status such as 422, 4xx or none',
    optional: true,
  })
  status?: string;

  @TextField({ description: '`error.code` of the response', min: 1, max: 100, optional: true })
  errorCode?: string;

  @TextField({ description: '`X-Request-Id` of the response', min: 1, max: 128, optional: true })
  requestId?: string;

  @TextField({ description: 'Why it failed: `reason` of an exchange', min: 1, max: 300, optional: true })
  reason?: string;

  @BooleanField({
    description: 'Exchanges that were refused, failed or have no response, which have a `reason`; or only the others',
    optional: true,
    inQuery: true,
  })
  failed?: boolean;

  @TextField({
    description: `A value that the exchange names, as \`ticketNumber:IN-204817\`. It is compared exactly. Kinds: ${REFERENCE_KINDS.join(', ')}`,
    min: 3,
    max: MAX_PARTNER_ID + 20,
    check: (value) => parseReference(value) !== undefined,
    rule: 'isReference',
    form: REFERENCE_FORM,
    optional: true,
  })
  reference?: string;

  @InstantField({ description: 'Exchanges that began at this time or later', optional: true, inQuery: true })
  from?: Instant;

  @InstantField({ description: 'Exchanges that began before this time', optional: true, inQuery: true })
  to?: Instant;
}

/** Filters of the exchanges of one API key. */
export class PartnerExchangeQuery extends ExchangeFilters {
  @TextField(CURSOR)
  cursor?: string;

  @IntegerField({
    description: 'Items per page',
    min: 1,
    max: MAX_PAGE_SIZE,
    default: DEFAULT_PAGE_SIZE,
    optional: true,
    inQuery: true,
  })
  pageSize?: number;
}

const HAULER = { description: 'Exchanges of this hauler only', optional: true };
const CONNECTION = { description: 'Outbound calls of this connection only', optional: true };
const API_KEY = { description: 'Inbound calls with this API key only', optional: true };

/** Filters of all exchanges. */
export class ExchangeQuery extends PartnerExchangeQuery {
  @UuidField(HAULER)
  haulerId?: string;

  @UuidField(CONNECTION)
  connectionId?: string;

  @UuidField(API_KEY)
  apiKeyId?: string;
}

/** Filters of exchanges without pages, for an admin. */
export class AllExchangeFilters extends ExchangeFilters {
  @UuidField(HAULER)
  haulerId?: string;

  @UuidField(CONNECTION)
  connectionId?: string;

  @UuidField(API_KEY)
  apiKeyId?: string;
}

/** Filters of the exchanges that are replayed. */
export class ReplayExchangesRequest extends AllExchangeFilters {
  @BooleanField({ description: 'Send nothing, and report what would be sent', optional: true, example: true })
  dryRun?: boolean;
}
