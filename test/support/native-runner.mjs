import { createRequire, flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import circus from 'jest-circus/runner';
import { registerTypeScript } from './typescript-hook.mjs';

registerTypeScript();
process.setSourceMapsEnabled(true);
// A worker has half a second to end, and would free its memory piece by piece in it.
if (process.send !== undefined) process.once('beforeExit', () => process.exit());

const require = createRequire(import.meta.url);
/** Jest keeps the handlers of a file's events here. */
const EVENT_HANDLERS = Symbol.for('EVENT_HANDLERS');

/**
 * The `testRunner` of Jest: its own, but Node itself loads the modules. Jest would load each of them anew for every test
 * file, in a virtual machine, which takes two seconds a file. Here a worker loads it once, and thus all files of a worker
 * share the modules.
 */
export default async function run(globalConfig, config, environment, runtime, path, report) {
  delete globalThis[EVENT_HANDLERS];
  // Jest's formatter of stacks does not know the maps of Node.
  delete Error.prepareStackTrace;
  const result = await circus.default(globalConfig, config, environment, new NativeRuntime(runtime), path, report);
  // At its end, a worker has half a second.
  flushCompileCache();
  return result;
}

/** What the test runner of Jest needs of its `Runtime`. */
class NativeRuntime {
  constructor(runtime) {
    this.runtime = runtime;
  }

  /** Jest's state of one test file: a new one for each. */
  requireInternalModule(path) {
    delete require.cache[path];
    return require(path);
  }

  requireModule = (path) => require(path);
  unstable_importModule = (path) => import(pathToFileURL(path).href);
  unstable_shouldLoadAsEsm = () => true;
  setGlobalsForRuntime = () => undefined;
  enterTestCode = () => this.runtime.enterTestCode();
  leaveTestCode = () => this.runtime.leaveTestCode();
}
