import helmet from 'helmet';
import type { Touch } from './touch.js';

/**
 * As helmet sets them for an API (decision 14); plain http must stay possible for Swagger UI in a closed network.
 * Helmet is asked once and not for every request, of which it would make thirteen calls.
 */
export function secureHeaders(): Touch {
  const headers = headersOfHelmet();
  return (_request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
  };
}

function headersOfHelmet(): readonly (readonly [string, string])[] {
  const headers: [string, string][] = [];
  const response = {
    setHeader: (name: string, value: string) => headers.push([name, value]),
    removeHeader: () => undefined,
  };
  const ask = helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } });
  ask({} as Parameters<typeof ask>[0], response as unknown as Parameters<typeof ask>[1], (error?: unknown) => {
    if (error !== undefined) throw error as Error;
  });
  return headers;
}
