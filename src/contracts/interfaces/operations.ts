import { ACCOUNT_API } from '../account/account.api.js';
import type { ApiContract, ApiRoute } from '../common/api-contract.js';
import type { InterfaceName } from '../common/interfaces.values.js';
import { withoutFinalSlashes } from '../common/text.js';
import { SCALE_API } from '../scale/scale.api.js';
import { SITE_API } from '../site/site.api.js';
import { VIDEO_FILES_API, VISION_API } from '../vision/vision.api.js';

/** A call of one of the four interfaces, by its path alone: the request may be refused before it has a route. */
export interface Operation {
  readonly api: ApiContract & { readonly name: InterfaceName };
  /** Undefined for an unknown path below the prefix. */
  readonly route: ApiRoute | undefined;
}

const APIS: readonly Operation['api'][] = [SCALE_API, ACCOUNT_API, SITE_API, VISION_API, VIDEO_FILES_API];

const BY_PATH: ReadonlyMap<string, Operation> = new Map(
  APIS.flatMap((api) => Object.values(api.routes).map((route) => [api.prefix + route.path, { api, route }] as const)),
);

/** Of two APIs with one prefix the first. Every path of files is a download. */
const BY_PREFIX = APIS.map(
  (api) =>
    [`${api.prefix}/`, { api, route: api.isHidden === true ? Object.values(api.routes)[0] : undefined }] as const,
);

/** The operation of a path; undefined outside the four interfaces. Express ignores case and final slashes, and so does this. */
export function operationOf(path: string): Operation | undefined {
  const known = BY_PATH.get(path);
  if (known !== undefined) return known;
  const comparable = withoutFinalSlashes(path.toLowerCase());
  return BY_PATH.get(comparable) ?? BY_PREFIX.find(([prefix]) => comparable.startsWith(prefix))?.[1];
}
