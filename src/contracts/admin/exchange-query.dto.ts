import { MAX_PARTNER_ID } from '../common/answer-limits.js';
import { INTERFACES, type InterfaceName } from '../common/interfaces.values.js';
import { Flag, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { inQuery, max, optional, between } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import { PageSize } from '../common/pagination.dto.js';
import { parseReference, REFERENCE_KINDS } from '../common/references.js';
import { Cursor, DryRun } from './fields.js';

const REFERENCE_FORM = `kind:value with one of the kinds ${REFERENCE_KINDS.join(', ')}`;

/** Filters that hours are counted by, too. All given filters apply. */
export class CountedFilters {
  @OneOf('Calls to this service, or calls of this service', ['inbound', 'outbound'], optional)
  direction?: 'inbound' | 'outbound';
  @OneOf('Exchanges of this interface only', INTERFACES, optional) interface?: InterfaceName;
  @Text(
    'A status, a class of statuses, or `none` for exchanges without a response',
    max(4),
    { pattern: /^([1-5]\d\d|[1-5]xx|none)$/, form: 'a status such as 422, 4xx or none' },
    optional,
  )
  status?: string;
  @Text('`error.code` of the response', between(1, 100), optional) errorCode?: string;
  @Text('Why it failed: `reason` of an exchange', between(1, 300), optional) reason?: string;
  @Flag('Exchanges that a scenario of the sandbox touched; or only the others', inQuery, optional) rehearsed?: boolean;
}

export class ExchangeFilters extends CountedFilters {
  @Text('`X-Request-Id` of the response', between(1, 128), optional) requestId?: string;
  @Flag(
    'Exchanges that were refused, failed or have no response, which have a `reason`; or only the others',
    inQuery,
    optional,
  )
  failed?: boolean;
  @Text(
    `A value that the exchange names, as \`ticketNumber:IN-204817\`. It is compared exactly. Kinds: ${REFERENCE_KINDS.join(', ')}`,
    between(3, MAX_PARTNER_ID + 20),
    { form: REFERENCE_FORM, rule: 'isReference', check: (value) => parseReference(value) !== undefined },
    optional,
  )
  reference?: string;
  @Time('Exchanges that began at this time or later', inQuery, optional) from?: Instant;
  @Time('Exchanges that began before this time', inQuery, optional) to?: Instant;
}

/** Filters of the exchanges of one API key. */
export class PartnerExchangeQuery extends ExchangeFilters {
  @Cursor() cursor?: string;
  @PageSize() pageSize?: number;
}

/** Filters of exchanges without pages, for an admin. */
export class AllExchangeFilters extends ExchangeFilters {
  @Uuid('Exchanges of this hauler only', optional) haulerId?: string;
  @Uuid('Outbound calls of this connection only', optional) connectionId?: string;
  @Uuid('Inbound calls with this API key only', optional) apiKeyId?: string;
}

export class ExchangeQuery extends AllExchangeFilters {
  @Cursor() cursor?: string;
  @PageSize() pageSize?: number;
}

export class ReplayExchangesRequest extends AllExchangeFilters {
  @DryRun() dryRun?: boolean;
}
