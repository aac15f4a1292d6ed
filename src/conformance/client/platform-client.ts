import { SITE_API } from '../../contracts/site/site.api.js';
import { VISION_API } from '../../contracts/vision/vision.api.js';
import { headersOf } from './call.js';
import { bodyRules, callsOf, type ClientRole, clientRule, everyCall, keyRules, unknownRoutes } from './client-rule.js';
import { DOWNLOAD_RULES } from './download-rules.js';
import { PartnerPeer } from './partner-peer.js';
import { SITE_CLIENT_RULES } from './site-client-rules.js';
import { LIST_CLIENT_RULES, REQUEST_CLIENT_RULES } from './vision-client-rules.js';

const OPERATIONS = ['getSites', 'requestVideo', 'listVideos', 'listContinuous'] as const;

const ROUTES = clientRule(
  'PLATFORM-001',
  '4',
  'every',
  'every call is an operation of the Site or Vision interface, or a download',
  `Call the paths under ${SITE_API.prefix} and ${VISION_API.prefix}.`,
  unknownRoutes,
);

const LINK_KEY = clientRule(
  'PLATFORM-008',
  '5',
  'download',
  'the key is not sent to the address of a download link',
  'Call a download link without the header API-KEY.',
  (log) =>
    everyCall(callsOf(log, 'download'), 'no download was seen', (call) =>
      headersOf(call, SITE_API.keyHeader).length === 0 && !call.headers.some(([, value]) => value.includes(log.apiKey))
        ? undefined
        : 'the key was sent',
    ),
);

/** The kit acts as the partner, which the platform calls. */
export const PLATFORM_CLIENT: ClientRole = {
  name: 'platform-client',
  peer: ({ url, apiKey }) => new PartnerPeer(url, apiKey),
  rules: [
    ROUTES,
    ...keyRules('PLATFORM', SITE_API.keyHeader, 'PLATFORM-API-KEY', OPERATIONS),
    ...bodyRules('PLATFORM', '4.4', ['requestVideo']),
    LINK_KEY,
    ...SITE_CLIENT_RULES,
    ...REQUEST_CLIENT_RULES,
    ...LIST_CLIENT_RULES,
    ...DOWNLOAD_RULES,
  ],
};
