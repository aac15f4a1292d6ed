import type { ApiRoute } from '../../src/contracts/common/api-contract.js';

export const UNKNOWN_ID = '0197a1d0-11aa-7c33-9b44-0f1e2d3c4b5a';

const VALUES: Readonly<Record<string, string>> = { subject: 'haulers', name: 'server-error' };

/** A call of a route of the admin API with ids that nothing has, or with those of `ids`, and an empty body. */
export function callOf({ method, path, body, upload }: ApiRoute, ids: Readonly<Record<string, string>> = {}) {
  return {
    method,
    path: path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? VALUES[name] ?? UNKNOWN_ID),
    body: body === undefined && upload === undefined ? undefined : {},
  };
}
