import type { Application } from 'express';

interface Layer {
  match(path: string): boolean;
  readonly route?: { readonly path: unknown; readonly methods: Readonly<Record<string, boolean>> };
}

/**
 * The methods of the routes that a path matches, out of Express's own table: what a 405 names in `Allow` (decision 10).
 * None where the one that was asked is among them: then the route itself has found nothing.
 */
export function allowedMethods(application: Application, path: string, asked: string): readonly string[] {
  const layers = application.router.stack as unknown as Layer[];
  const methods = layers
    .filter((layer) => layer.route !== undefined && layer.match(path))
    .flatMap((layer) => Object.keys(layer.route?.methods ?? {}))
    .filter((method) => method !== '_all')
    .map((method) => method.toUpperCase());
  const allowed = new Set(methods.includes('GET') ? [...methods, 'HEAD'] : methods);
  return allowed.has(asked) ? [] : [...allowed].sort();
}
