import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const read = (name) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const compile = await withSwc().catch(withTypeScript);

/**
 * Lets plain Node load the sources: for what runs beside the tests and not in them, such as Jest's global setup. The
 * child processes that the sources fork inherit it.
 */
export function registerTypeScript() {
  inheritTypeScript();
  return registerHooks({
    resolve: (specifier, context, next) =>
      next(isOurs(specifier, context) ? specifier.replace(/\.js$/, '.ts') : specifier, context),
    load(url, context, next) {
      if (!url.endsWith('.ts')) return next(url, context);
      const path = new URL(url);
      const source = compile(readFileSync(path, 'utf8'), path.pathname);
      return { format: 'module', source, shortCircuit: true };
    },
  });
}

/** Lets the forked processes of this one load TypeScript. */
export function inheritTypeScript() {
  const option = `--import=${new URL('register-typescript.mjs', import.meta.url)}`;
  if (!process.execArgv.includes(option)) process.execArgv.push(option);
}

const isOurs = (specifier, { parentURL }) => /^\.{1,2}\//.test(specifier) && parentURL?.endsWith('.ts');

/** As in the tests themselves. */
async function withSwc() {
  const { transformSync } = await import('@swc/core');
  const [, options] = JSON.parse(read('package.json')).jest.transform['^.+\\.ts$'];
  return (source, filename) => transformSync(source, { ...options, filename, swcrc: false }).code;
}

/** Slower. In a name space of an ordinary user's own, swc trusts no folder with its native part, and does not start. */
async function withTypeScript() {
  const { default: ts } = await import('typescript');
  const { compilerOptions } = ts.parseConfigFileTextToJson('tsconfig.json', read('tsconfig.json')).config;
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...compilerOptions, module: 'esnext', moduleResolution: 'bundler', sourceMap: false, inlineSourceMap: true },
    '.',
  );
  return (source, fileName) => ts.transpileModule(source, { fileName, compilerOptions: options }).outputText;
}
