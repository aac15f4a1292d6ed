import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** The version of this service, as in package.json. */
export function serviceVersion(): string {
  const path = findPackageJSON(import.meta.url);
  if (path === undefined) throw new Error('the service has no package.json');
  return (JSON.parse(readFileSync(path, 'utf8')) as { readonly version: string }).version;
}
