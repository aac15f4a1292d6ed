import type { AxiosRequestConfig } from 'axios';
import type { SettledEnv } from '../config/env.js';
import { partnerAgents } from './partner-agents.js';

/**
 * How axios sends: through guarded agents and no proxy, following nothing, and handing over the body as it comes, for
 * `exchange` limits, decompresses and judges it.
 */
export function httpDefaults(
  env: Pick<SettledEnv, 'OUTBOUND_ALLOW_PRIVATE' | 'PARTNER_CONNECT_TIMEOUT'>,
): AxiosRequestConfig {
  return {
    ...partnerAgents({ allowPrivate: env.OUTBOUND_ALLOW_PRIVATE }, env.PARTNER_CONNECT_TIMEOUT),
    adapter: 'http',
    proxy: false,
    maxRedirects: 0,
    responseType: 'stream',
    decompress: false,
    timeout: 0,
    maxContentLength: -1,
    maxBodyLength: -1,
    validateStatus: () => true,
    // The body is JSON already.
    transformRequest: [(data: unknown) => data],
  };
}
