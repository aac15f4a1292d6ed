import type { Served } from './call.js';

/** Of a route: Express ignores case and one final slash. */
interface PathMethod {
  readonly path: RegExp;
  readonly method: string;
}

/**
 * The methods of the routes that have a path, for the `Allow` header of a 405; none where the method of the request is one of
 * them (decision 10).
 */
export function allowedMethods(routes: readonly Served[]): (method: string, path: string) => readonly string[] {
  const known = routes.map(({ api, route }): PathMethod => {
    const pattern = `${api.prefix}${route.path}`.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+');
    return { path: new RegExp(`^${pattern}/?$`, 'i'), method: route.method };
  });
  return (method, path) => {
    const allowed = new Set(known.filter((each) => each.path.test(path)).map((each) => each.method));
    if (allowed.has('GET')) allowed.add('HEAD');
    return allowed.has(method) ? [] : [...allowed].sort();
  };
}
