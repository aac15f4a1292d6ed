import { Flag, Nested, NestedList, OneOf, Text, Time, Uuid } from '../common/fields/decorators.js';
import { example, max, optional } from '../common/fields/options.js';
import type { Instant } from '../common/instant.js';
import type { Violation } from '../common/violation.js';
import { DEMO_HAULER_ID } from '../common/demo.js';
import { COMMON_ERRORS, defineApi } from '../common/api-contract.js';

export const MEASURE_UNITS = ['Item', 'Ton', 'Pound', 'Kilogram', 'Cubic Yard', 'Cubic Meter'] as const;
type MeasureUnit = (typeof MEASURE_UNITS)[number];

const SITE_ID = example('0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10');
const KIOSK_ID = example('1c9a7d20-4d66-4c8f-9a1b-3a8a8b0a2d21');
const MATERIAL_ID = example('7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21');

/** Query of `GET /scale-platform/v1/sites` (section 4.3). */
export class GetSitesQuery {
  @Uuid('Hauler whose data is requested', example(DEMO_HAULER_ID)) haulerId!: string;
}

/** An address has all five fields (section 2.4a). */
class Address {
  @Text('Street and number', max(255), example('4400 Landfill Road')) line1!: string;
  @Text('City', max(100), example('Austin')) city!: string;
  @Text('State or province', max(100), example('Texas')) state!: string;
  @Text('Country name', max(100), example('United States')) country!: string;
  @Text('Postal code', max(20), example('78744')) zipCode!: string;
}

export class Site {
  @Uuid("Identifier in the partner's system", SITE_ID) id!: string;
  @Text('Name of the disposal site', max(255), example('Onion Creek Transfer Station')) name!: string;
  @Nested('Postal address', Address, optional) address?: Address;
  @Flag('Whether the site is in use; default true', optional) active?: boolean;
  @Time('When the record was last changed', optional) updatedAt?: Instant;
}

/** A station within a site. Partners without kiosks send none. */
export class Kiosk {
  @Uuid("Identifier in the partner's system", KIOSK_ID) id!: string;
  @Uuid('Site that the kiosk belongs to', SITE_ID) siteId!: string;
  @Text('Name of the kiosk', max(255), example('Inbound scale 1')) name!: string;
  @Flag('Whether the kiosk is in use; default true', optional) active?: boolean;
  @Time('When the record was last changed', optional) updatedAt?: Instant;
}

/** Has a `siteId`, a `kioskId`, or both (decision 32). */
export class Material {
  @Uuid("Identifier in the partner's system", MATERIAL_ID) id!: string;
  @Uuid('Site that accepts the material; each material names a site, a kiosk, or both', optional, SITE_ID)
  siteId?: string;
  @Uuid('Kiosk that accepts the material; each material names a site, a kiosk, or both', optional, KIOSK_ID)
  kioskId?: string;
  @Text('Type or category', max(100), example('Mixed construction debris')) materialType!: string;
  @OneOf('Unit in which the material is measured', MEASURE_UNITS, example('Ton')) measureUnit!: MeasureUnit;
  @Flag('Whether the material is accepted now; default true', optional) active?: boolean;
  @Time('When the record was last changed', optional) updatedAt?: Instant;
}

/**
 * Whether a material has neither a site nor a kiosk (section 2.4a); `null` counts as absent. A malformed id counts as
 * present, because it is reported on its own.
 */
export const isWithoutParent = ({
  siteId,
  kioskId,
}: {
  readonly siteId?: unknown;
  readonly kioskId?: unknown;
}): boolean => siteId == null && kioskId == null;

/** The violation of a material of a response that `isWithoutParent`. */
export const missingParent = (path: string): Violation => ({
  path,
  rule: 'hasParent',
  message: `${path} has neither a siteId nor a kioskId`,
});

/** Records of a kind whose array is absent do not change (decision 35). */
export class SiteData {
  @NestedList('Sites of the hauler', Site, optional) sites?: Site[];
  @NestedList('Kiosks of the sites', Kiosk, optional) kiosks?: Kiosk[];
  @NestedList('Materials that the sites or kiosks accept', Material, optional) materials?: Material[];
}

/** Response of `GET /scale-platform/v1/sites` (section 2.4a). */
export class GetSitesResponse {
  @Flag('Always true here') success!: boolean;
  @Nested("The hauler's active sites, kiosks and materials", SiteData) data!: SiteData;
}

const ETAG = 'W/"2c26b46b68ffc68ff99b453c1d304134"';

const ETAG_HEADERS = {
  ETag: { description: 'Identifies this state of the data', schema: { type: 'string', maxLength: 128, example: ETAG } },
  Vary: {
    description: 'The request header that decides whether the response is compressed',
    schema: { type: 'string', enum: ['Accept-Encoding'] },
  },
} as const;

/** Site API 1.0.0 (sections 2.4a, 4.3): hosted by partners, called by the platform. */
export const SITE_API = defineApi({
  name: 'site',
  title: 'Site API',
  version: '1.0.0',
  prefix: '/scale-platform/v1',
  keyHeader: 'API-KEY',
  routes: {
    getSites: {
      method: 'GET',
      path: '/sites',
      summary: "A hauler's sites, kiosks and materials",
      description:
        'All active records of the hauler in a stable order. The response is compressed for callers that accept gzip.',
      query: GetSitesQuery,
      requestHeaders: {
        'If-None-Match': {
          description:
            'The `ETag` of an earlier response. If the data has not changed since, the response is 304 without a body',
          schema: { type: 'string', maxLength: 8192, example: ETAG },
        },
      },
      status: 200,
      response: GetSitesResponse,
      returns: "The hauler's data",
      responseHeaders: {
        ...ETAG_HEADERS,
        'Content-Encoding': {
          description: 'Present if the response is compressed, as `Accept-Encoding` allows',
          schema: { type: 'string', maxLength: 16, example: 'gzip' },
        },
      },
      notModified: {
        description: 'The data is unchanged since the response that `If-None-Match` names',
        headers: ETAG_HEADERS,
      },
      fails: { notFound: 'This hauler has no data' },
    },
  },
  codes: ['INVALID_PAYLOAD', 'UNAUTHORIZED', 'INTERNAL_ERROR', 'VALIDATION_ERROR', 'NOT_FOUND'],
  errors: { ...COMMON_ERRORS, ruleViolated: 'VALIDATION_ERROR', notFound: 'NOT_FOUND' },
});
