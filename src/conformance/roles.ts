import type { ClientRole } from './client/client-rule.js';
import { PARTNER_CLIENT } from './client/partner-client.js';
import type { RuleFacts, ServerRole } from './rule.js';
import { SITE_SERVER } from './site/site-server.js';
import { VISION_SERVER } from './vision/vision-server.js';

export const SERVER_ROLES: Readonly<Record<string, ServerRole>> = {
  [SITE_SERVER.name]: SITE_SERVER,
  [VISION_SERVER.name]: VISION_SERVER,
};

export const CLIENT_ROLES: Readonly<Record<string, ClientRole>> = { [PARTNER_CLIENT.name]: PARTNER_CLIENT };

export const ROLES: readonly { readonly name: string; readonly rules: readonly RuleFacts[] }[] = [
  SITE_SERVER,
  VISION_SERVER,
  PARTNER_CLIENT,
];

export const ROLE_NAMES: readonly string[] = ROLES.map(({ name }) => name);

/** What to use in place of a role that the kit no longer has: those that judged a platform. */
export const REMOVED_ROLES: Readonly<Record<string, string>> = {
  'scale-server': 'the kit judges no platform: to check your calls to POST /tickets, use --role partner-client',
  'account-server': 'the kit judges no platform: to check your calls to POST /accounts, use --role partner-client',
  'platform-client':
    "the kit judges no platform: to check a partner's server, use --role site-server or --role vision-server",
};
