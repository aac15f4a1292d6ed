import { ACCOUNT_SERVER } from './account/account-server.js';
import type { ServerRole } from './rule.js';
import { SCALE_SERVER } from './scale/scale-server.js';
import { SITE_SERVER } from './site/site-server.js';
import { VISION_SERVER } from './vision/vision-server.js';

export const SERVER_ROLES: Readonly<Record<string, ServerRole>> = Object.fromEntries(
  [SITE_SERVER, VISION_SERVER, SCALE_SERVER, ACCOUNT_SERVER].map((role) => [role.name, role]),
);

export const ROLE_NAMES: readonly string[] = Object.keys(SERVER_ROLES);
