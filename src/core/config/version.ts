import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

/** The folder of package.json. The build bundles modules, so that no path is relative to one of them. */
export const PACKAGE_FOLDER = dirname(findPackageJSON(import.meta.url) ?? '');

/** The version of this service, as in package.json. */
export function serviceVersion(): string {
  return (JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')) as { readonly version: string })
    .version;
}
