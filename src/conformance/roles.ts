import { ACCOUNT_SERVER } from './account/account-server.js';
import type { ClientRole } from './client/client-rule.js';
import { PARTNER_CLIENT } from './client/partner-client.js';
import { PLATFORM_CLIENT } from './client/platform-client.js';
import type { RuleFacts, ServerRole } from './rule.js';
import { SCALE_SERVER } from './scale/scale-server.js';
import { SITE_SERVER } from './site/site-server.js';
import { VISION_SERVER } from './vision/vision-server.js';

export const SERVER_ROLES: Readonly<Record<string, ServerRole>> = Object.fromEntries(
  [SITE_SERVER, VISION_SERVER, SCALE_SERVER, ACCOUNT_SERVER].map((role) => [role.name, role]),
);

export const CLIENT_ROLES: Readonly<Record<string, ClientRole>> = Object.fromEntries(
  [PARTNER_CLIENT, PLATFORM_CLIENT].map((role) => [role.name, role]),
);

export const ROLES: readonly { readonly name: string; readonly rules: readonly RuleFacts[] }[] = [
  ...Object.values(SERVER_ROLES),
  ...Object.values(CLIENT_ROLES),
];

export const ROLE_NAMES: readonly string[] = ROLES.map(({ name }) => name);
