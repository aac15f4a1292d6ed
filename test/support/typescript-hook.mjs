import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Compiled sources of this and earlier runs. The tests start many processes from the same sources. */
export const CACHE = join(ROOT, 'node_modules/.cache/haulbridge-tests');

const require = createRequire(import.meta.url);
const packageJson = readFileSync(join(ROOT, 'package.json'), 'utf8');

/**
 * Lets plain Node load the sources: for what runs beside the tests and not in them, such as Jest's global setup. The
 * child processes that the sources fork inherit it.
 */
export function registerTypeScript() {
  inheritTypeScript();
  enableCompileCache(CACHE);
  return registerHooks({
    resolve: (specifier, context, next) =>
      next(isOurs(specifier, context) ? specifier.replace(/\.js$/, '.ts') : specifier, context),
    load(url, context, next) {
      if (!url.endsWith('.ts')) return next(url, context);
      return { format: 'module', source: compiled(fileURLToPath(url)), shortCircuit: true };
    },
  });
}

/** Lets the forked processes of this one load TypeScript. */
export function inheritTypeScript() {
  const option = `--import=${new URL('register-typescript.mjs', import.meta.url)}`;
  if (!process.execArgv.includes(option)) process.execArgv.push(option);
}

const isOurs = (specifier, { parentURL }) => /^\.{1,2}\//.test(specifier) && parentURL?.endsWith('.ts');

let compiler;

/** The JavaScript of a source, from the cache if the same source was compiled before by the same settings. */
function compiled(path) {
  const source = readFileSync(path, 'utf8');
  const key = createHash('sha256').update(packageJson).update(path).update(source).digest('hex');
  const kept = join(CACHE, `${key}.js`);
  try {
    return readFileSync(kept, 'utf8');
  } catch {
    const code = (compiler ??= newCompiler())(source, path);
    keep(kept, code);
    return code;
  }
}

/** Under its name only when it is complete: other processes read it at the same time. */
function keep(path, code) {
  try {
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(`${path}.${process.pid}`, code);
    renameSync(`${path}.${process.pid}`, path);
  } catch {
    // Some tests run a process as a user who may not write there.
  }
}

function newCompiler() {
  try {
    return withSwc();
  } catch {
    return withTypeScript();
  }
}

/** As in the tests themselves. */
function withSwc() {
  const { transformSync } = require('@swc/core');
  const [, options] = JSON.parse(packageJson).jest.transform['^.+\\.ts$'];
  return (source, filename) => transformSync(source, { ...options, filename, swcrc: false }).code;
}

/** Slower. In a name space of an ordinary user's own, swc trusts no folder with its native part, and does not start. */
function withTypeScript() {
  const ts = require('typescript');
  const tsconfig = readFileSync(join(ROOT, 'tsconfig.json'), 'utf8');
  const { compilerOptions } = ts.parseConfigFileTextToJson('tsconfig.json', tsconfig).config;
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...compilerOptions, module: 'esnext', moduleResolution: 'bundler', sourceMap: false, inlineSourceMap: true },
    '.',
  );
  return (source, fileName) => ts.transpileModule(source, { fileName, compilerOptions: options }).outputText;
}
