import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Compiled sources of this and earlier runs. The tests start many processes from the same sources. */
export const CACHE = join(ROOT, 'node_modules/.cache/haulbridge-tests');

const require = createRequire(import.meta.url);
const JEST_GLOBALS = new URL('jest-globals.mjs', import.meta.url).href;
const SETTINGS = {
  // Node reads them for the stacks of errors.
  sourceMaps: 'inline',
  swcrc: false,
  jsc: {
    target: 'es2024',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
  module: { type: 'es6' },
};
/** A cached text was compiled by the same settings and compiler. */
const VERSION = JSON.stringify([SETTINGS, require('@swc/core/package.json').version]);

/**
 * Lets plain Node load the sources: for what runs beside the tests and not in them, such as Jest's global setup. The
 * child processes that the sources fork inherit it.
 */
export function registerTypeScript() {
  inheritTypeScript();
  enableCompileCache(CACHE);
  return registerHooks({
    resolve: (specifier, context, next) =>
      specifier === '@jest/globals'
        ? { url: JEST_GLOBALS, shortCircuit: true }
        : next(isOurs(specifier, context) ? specifier.replace(/\.js(?=$|\?)/, '.ts') : specifier, context),
    load(url, context, next) {
      if (!/\.ts($|\?)/.test(url)) return next(url, context);
      return { format: 'module', source: compiled(fileURLToPath(url)), shortCircuit: true };
    },
  });
}

/** Lets the forked processes of this one load TypeScript. */
export function inheritTypeScript() {
  const option = `--import=${new URL('register-typescript.mjs', import.meta.url)}`;
  if (!process.execArgv.includes(option)) process.execArgv.push(option);
}

const isOurs = (specifier, { parentURL }) => /^\.{1,2}\//.test(specifier) && /\.ts($|\?)/.test(parentURL);

let compiler;

/** The JavaScript of a source, from the cache if the same source was compiled before by the same settings. */
function compiled(path) {
  const source = readFileSync(path, 'utf8');
  const key = createHash('sha256').update(VERSION).update(path).update(source).digest('hex');
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

function withSwc() {
  const { transformSync } = require('@swc/core');
  return (source, filename) => transformSync(source, { ...SETTINGS, filename }).code;
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
