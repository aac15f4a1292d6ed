import { transformSync } from '@swc/core';
import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const { jest } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
const [, swcOptions] = jest.transform['^.+\\.ts$'];

/** Lets plain Node load the sources: for what runs beside the tests and not in them, such as Jest's global setup. */
export function registerTypeScript() {
  return registerHooks({
    resolve: (specifier, context, next) =>
      next(isOurs(specifier, context) ? specifier.replace(/\.js$/, '.ts') : specifier, context),
    load(url, context, next) {
      if (!url.endsWith('.ts')) return next(url, context);
      const path = new URL(url);
      const { code } = transformSync(readFileSync(path, 'utf8'), {
        ...swcOptions,
        filename: path.pathname,
        swcrc: false,
      });
      return { format: 'module', source: code, shortCircuit: true };
    },
  });
}

const isOurs = (specifier, { parentURL }) => /^\.{1,2}\//.test(specifier) && parentURL?.endsWith('.ts');
