import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';
import { setGlobals } from './jest-globals.mjs';
import { sourceMaps } from './typescript-hook.mjs';

const require = createRequire(import.meta.url);

/**
 * Runs a test file as Jest does, except that Node itself loads the file and all that it imports. Jest would load the service
 * into a new virtual machine for each test file (0.5 s of 2 s); a worker loads it once. The test files of a worker share
 * modules and global objects: see CONTRIBUTING.md.
 */
export default async function run(globalConfig, config, environment, jestRuntime, path, report) {
  const runtime = {
    requireInternalModule: requireNew,
    requireModule: require,
    setGlobalsForRuntime: setGlobals,
    unstable_shouldLoadAsEsm: () => true,
    async unstable_importModule(file) {
      try {
        await import(pathToFileURL(file).href);
      } finally {
        for (const [url, map] of sourceMaps) jestRuntime.getSourceMaps().set(url, map);
      }
    },
    enterTestCode: () => undefined,
    leaveTestCode: () => undefined,
  };
  return circus.default(globalConfig, config, environment, runtime, path, report);
}

/** Jest's module that collects and runs the tests has their state in it. */
function requireNew(name) {
  delete require.cache[name];
  delete globalThis[Symbol.for('EVENT_HANDLERS')];
  return require(name);
}
