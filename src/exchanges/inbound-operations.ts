import { ACCOUNT_API } from '../contracts/account/account.api.js';
import type { InterfaceName } from '../contracts/common/api-contract.js';
import { withoutFinalSlashes } from '../contracts/common/text.js';
import { SCALE_API } from '../contracts/scale/scale.api.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';

/** Downloads of the reference partner belong to Vision. */
const FILES_PREFIX = '/media/v1/';

export interface Operation {
  readonly interface: InterfaceName;
  readonly route: string | null;
  readonly isFile: boolean;
}

const OPERATIONS: ReadonlyMap<string, Operation> = new Map(
  [SCALE_API, ACCOUNT_API, SITE_API, VISION_API].flatMap((api) =>
    Object.entries(api.routes).map(([route, { path }]) => [
      `${api.prefix}${path}`,
      { interface: api.name, route, isFile: false },
    ]),
  ),
);

const PREFIXES = [SCALE_API, SITE_API, VISION_API].map(
  ({ prefix, name }) => [`${prefix}/`, { interface: name, route: null, isFile: false }] as const,
);

const DOWNLOAD: Operation = { interface: 'vision', route: 'download', isFile: true };

/** The operation of a path; undefined outside the four interfaces. An unknown path below a prefix has no route. */
export function operationOf(path: string): Operation | undefined {
  const known = OPERATIONS.get(path);
  if (known !== undefined) return known;
  const comparable = withoutFinalSlashes(path.toLowerCase());
  if (comparable.startsWith(FILES_PREFIX)) return DOWNLOAD;
  const prefixed = PREFIXES.find(([prefix]) => comparable.startsWith(prefix));
  return prefixed && (OPERATIONS.get(comparable) ?? prefixed[1]);
}
