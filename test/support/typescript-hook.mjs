import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire, enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Compiled sources of this and earlier runs. The tests start many processes from the same sources. */
export const CACHE = join(ROOT, 'node_modules/.cache/haulbridge-tests');

const SWC = {
  swcrc: false,
  sourceMaps: true,
  module: { type: 'es6' },
  jsc: {
    target: 'es2024',
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
    keepClassNames: true,
  },
};
/** A new compiler or another setting compiles all sources again. */
const COMPILER = JSON.stringify(SWC) + readFileSync(join(ROOT, 'package.json'), 'utf8');

const JEST_GLOBALS = new URL('jest-globals.mjs', import.meta.url).href;
/** A test that changes the state of a module imports it with `?` and any text: that loads it, and its imports, again. */
const SOURCE = /\.ts(\?.*)?$/;

const require = createRequire(import.meta.url);
let hooks;
/** The source map of each loaded source, by its address. */
export const sourceMaps = new Map();

/** Lets plain Node load the sources, in this process and in those that it forks. */
export function registerTypeScript() {
  inheritTypeScript();
  enableCompileCache(CACHE);
  return (hooks ??= registerHooks({
    resolve(specifier, context, next) {
      if (specifier === '@jest/globals') return { url: JEST_GLOBALS, shortCircuit: true };
      return next(toSource(specifier, context.parentURL), context);
    },
    load(url, context, next) {
      if (!SOURCE.test(url)) return next(url, context);
      const { code, map } = compiled(fileURLToPath(url));
      sourceMaps.set(url, map);
      return { format: 'module', source: code, shortCircuit: true };
    },
  }));
}

function toSource(specifier, parent) {
  const fromSource = SOURCE.exec(parent);
  if (fromSource === null || !/^\.{1,2}\//.test(specifier)) return specifier;
  return specifier.replace(/\.js(\?.*)?$/, (_, query) => `.ts${query ?? fromSource[1] ?? ''}`);
}

/** Lets the forked processes of this one load TypeScript. */
export function inheritTypeScript() {
  const option = `--import=${new URL('register-typescript.mjs', import.meta.url)}`;
  if (!process.execArgv.includes(option)) process.execArgv.push(option);
}

let compiler;

/** The JavaScript of a source and the path of its map, from the cache if the same source was compiled before. */
function compiled(path) {
  const source = readFileSync(path, 'utf8');
  const key = createHash('sha256').update(COMPILER).update(path).update(source).digest('hex');
  const kept = join(CACHE, `${key}.js`);
  const map = `${kept}.map`;
  try {
    return { code: readFileSync(kept, 'utf8'), map };
  } catch {
    const output = (compiler ??= newCompiler())(source, path);
    keep(map, output.map);
    keep(kept, output.code);
    return { code: output.code, map };
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
  return (source, filename) => transformSync(source, { ...SWC, filename });
}

/** Slower. In a name space of an ordinary user's own, swc trusts no folder with its native part, and does not start. */
function withTypeScript() {
  const ts = require('typescript');
  const tsconfig = readFileSync(join(ROOT, 'tsconfig.json'), 'utf8');
  const { compilerOptions } = ts.parseConfigFileTextToJson('tsconfig.json', tsconfig).config;
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...compilerOptions, module: 'esnext', moduleResolution: 'bundler', sourceMap: true },
    '.',
  );
  return (source, fileName) => {
    const { outputText, sourceMapText } = ts.transpileModule(source, { fileName, compilerOptions: options });
    return { code: outputText, map: sourceMapText };
  };
}
