import type { Side } from '../../core/config/env.js';
import { ACCOUNT_API } from '../../contracts/account/account.api.js';
import { ADMIN_API } from '../../contracts/admin/admin.api.js';
import type { ApiContract } from '../../contracts/common/api-contract.js';
import { PARTNER_API } from '../../contracts/partner/partner.api.js';
import { SCALE_API } from '../../contracts/scale/scale.api.js';
import { SITE_API } from '../../contracts/site/site.api.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';

/** One published document: `/docs/<name>.json` and `.yaml`, with the text of `docs/openapi/<name>.md` above its operations. */
export interface Publication {
  readonly api: ApiContract;
  /** The side that serves it; both if absent. */
  readonly side?: Side;
}

/** In the order in which Swagger UI offers them. */
export const PUBLICATIONS: readonly Publication[] = [
  { api: SCALE_API, side: 'platform' },
  { api: ACCOUNT_API, side: 'platform' },
  { api: SITE_API, side: 'partner' },
  { api: VISION_API, side: 'partner' },
  { api: PARTNER_API },
  { api: ADMIN_API },
];
