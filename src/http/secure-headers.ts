import helmet from 'helmet';

/**
 * As helmet sets them for an API (decision 14), as lines of a head; plain http must stay possible for Swagger UI in a
 * closed network. Helmet is asked once: they are the same for every answer.
 */
export function secureHeaders(): string {
  let lines = '';
  const response = {
    setHeader: (name: string, value: string) => (lines += `${name}: ${value}\r\n`),
    removeHeader: () => undefined,
  };
  const ask = helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } });
  ask({} as Parameters<typeof ask>[0], response as unknown as Parameters<typeof ask>[1], (error?: unknown) => {
    if (error !== undefined) throw error as Error;
  });
  return lines;
}
