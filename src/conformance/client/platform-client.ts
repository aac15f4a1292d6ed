import { SITE_API } from '../../contracts/site/site.api.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import {
  bodyRules,
  type ClientRole,
  clientRules,
  everyCallOf,
  inOrder,
  keyRules,
  unknownRoutes,
} from './client-rule.js';
import { DOWNLOAD_RULES } from './download-rules.js';
import { PartnerPeer } from './partner-peer.js';
import { SITE_CLIENT_RULES } from './site-client-rules.js';
import { VISION_CLIENT_RULES } from './vision-client-rules.js';

const OPERATIONS = ['getSites', 'requestVideo', 'listVideos', 'listContinuous'] as const;

const TABLE = clientRules(
  `
PLATFORM-001 | must | 4 | every | every call is an operation of the Site or Vision interface, or a download | Call the paths under ${SITE_API.prefix} and ${VISION_API.prefix}.
PLATFORM-008 | must | 5 | download | the key is not sent to the address of a download link | Call a download link without the header API-KEY.
`,
  {
    'PLATFORM-001': unknownRoutes,
    'PLATFORM-008': everyCallOf('download', ({ headers }, { apiKey }) =>
      headers.some(([name, value]) => name.toLowerCase() === 'api-key' || value.includes(apiKey))
        ? 'the key was sent'
        : undefined,
    ),
  },
);

/** The kit acts as the partner, which the platform calls. */
export const PLATFORM_CLIENT: ClientRole = {
  name: 'platform-client',
  peer: ({ url, apiKey }) => new PartnerPeer(url, apiKey),
  rules: inOrder(
    ...TABLE,
    ...keyRules('PLATFORM', SITE_API.keyHeader, 'PLATFORM-API-KEY', OPERATIONS),
    ...bodyRules('PLATFORM', '4.4', ['requestVideo']),
    ...SITE_CLIENT_RULES,
    ...VISION_CLIENT_RULES,
    ...DOWNLOAD_RULES,
  ),
};
