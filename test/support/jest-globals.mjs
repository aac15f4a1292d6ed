/**
 * `@jest/globals` of test files that Node itself loads (`native-runner.mjs`). A module of `test/support` is loaded once,
 * but every test file has a `test` and an `expect` of its own: these find the one of the running file.
 */
const current = (name) =>
  new Proxy(() => undefined, {
    apply: (_target, _self, words) => globalThis[name](...words),
    get: (_target, property) => globalThis[name][property],
  });

export const afterAll = current('afterAll');
export const afterEach = current('afterEach');
export const beforeAll = current('beforeAll');
export const beforeEach = current('beforeEach');
export const describe = current('describe');
export const expect = current('expect');
export const it = current('it');
export const jest = current('jest');
export const test = current('test');
