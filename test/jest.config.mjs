import { availableParallelism } from 'node:os';
import { join } from 'node:path';

/**
 * The tiers of the tests, each a project of Jest: `npm run jest -- --selectProjects unit`. `npm test` runs all but `nightly`.
 *
 * | tier          | starts                                                                              |
 * | ------------- | ----------------------------------------------------------------------------------- |
 * | `unit`        | nothing: pure functions                                                             |
 * | `integration` | one module with PostgreSQL, or the service in the process of the test               |
 * | `acceptance`  | the built service, seen from outside alone                                          |
 * | `console`     | the built service with its demo, and a browser                                      |
 * | `nightly`     | what takes minutes, or programs that npm does not install                           |
 */
const shared = {
  rootDir: join(import.meta.dirname, '..'),
  testRunner: '<rootDir>/test/support/native-runner.mjs',
  testEnvironment: '<rootDir>/test/support/environment.mjs',
  transform: {},
  // Node itself loads the modules; `jest -o` and `--findRelatedTests` need it to find the tests of a changed source.
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: ['<rootDir>/(dist|data|\\.dist-new|\\.dist-old)/'],
};

const project = (name, more = {}) => ({
  ...shared,
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.spec.ts`],
  ...more,
});

/** One PostgreSQL server and one migrated template for the run. */
const postgres = {
  globalSetup: '<rootDir>/test/support/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/global-teardown.mjs',
};

/** The service with its demo, and one browser. */
const consoleTarget = {
  globalSetup: '<rootDir>/test/console/target.mjs',
  globalTeardown: '<rootDir>/test/console/target-end.mjs',
};

export default {
  reporters: ['default', join(import.meta.dirname, 'acceptance/coverage-reporter.mjs')],
  projects: [
    project('unit'),
    project('integration', postgres),
    project('acceptance', {
      globalSetup: '<rootDir>/test/acceptance/target.mjs',
      globalTeardown: '<rootDir>/test/acceptance/target-end.mjs',
    }),
    project('console', consoleTarget),
    project('nightly', { ...postgres, testPathIgnorePatterns: ['<rootDir>/test/nightly/console/'] }),
    project('nightly-console', { ...consoleTarget, testMatch: ['<rootDir>/test/nightly/console/**/*.spec.ts'] }),
  ],
  // The acceptance tier waits for half of its time.
  maxWorkers: availableParallelism() + 1,
  workerIdleMemoryLimit: '1200MB',
  testTimeout: 60_000,
};
