import { IntegerField } from '../common/fields/number-fields.js';
import { UuidField } from '../common/fields/text-fields.js';

const EXAMPLE = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';

/** About a million materials; outside HTTP_BODY_LIMIT, since a hauler's data is replaced as a whole. */
export const HOSTED_SITE_DATA_MAX_BYTES = 256 * 1024 * 1024;

/** The hauler in the path of `PUT /admin/v1/hosted/haulers/{haulerId}/site-data`. */
export class HostedHaulerParam {
  @UuidField({ description: 'The hauler whose data is replaced; any id', example: EXAMPLE })
  haulerId!: string;
}

const count = { min: 0, max: Number.MAX_SAFE_INTEGER };

/** How many records the partner side has of a hauler now, inactive ones included. */
export class HostedSiteDataCounts {
  @UuidField({ description: 'The hauler', example: EXAMPLE })
  haulerId!: string;

  @IntegerField({ description: 'Sites', ...count, example: 2 })
  sites!: number;

  @IntegerField({ description: 'Kiosks', ...count, example: 3 })
  kiosks!: number;

  @IntegerField({ description: 'Materials', ...count, example: 12 })
  materials!: number;

  @IntegerField({ description: 'Records that are active, which is what a caller is answered', ...count, example: 16 })
  active!: number;
}
