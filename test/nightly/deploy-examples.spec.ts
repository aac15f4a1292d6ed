import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { VARIABLES } from '../../src/config/variables.js';
import { serviceVersion } from '../../src/config/version.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

interface Sbom {
  readonly bomFormat: string;
  readonly metadata: { readonly component: { readonly name: string; readonly type: string } };
  readonly components: readonly { readonly group?: string; readonly name: string }[];
}

/** The variables that an example sets, without `_FILE`. */
const variablesIn = (text: string, form: RegExp): string[] =>
  [...text.matchAll(form)].map(([, name = '']) => name.replace(/_FILE$/, ''));

test.each([
  ['deploy/kubernetes/kustomization.yaml', /^ +- ([A-Z_]+)=/gm],
  ['deploy/kubernetes/deployment.yaml', /- name: ([A-Z_]+)$/gm],
  ['deploy/kubernetes/migrate.yaml', /- name: ([A-Z_]+)$/gm],
  ['deploy/systemd/haulbridge.service', /(?:^Environment=| )([A-Z_]{4,})=/gm],
])('%s sets variables that the service knows', (file, form) => {
  const known = [...Object.keys(VARIABLES), 'NODE_ENV'];
  const names = variablesIn(read(file), form);
  expect(names.length).toBeGreaterThan(2);
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
});

test('a release names its version in the image, and lists what it delivers', () => {
  const folder = mkdtempSync(join(tmpdir(), 'release-'));
  try {
    for (const name of [
      'package.json',
      'package-lock.json',
      'Dockerfile',
      'scripts/release.mjs',
      'migrations',
      'deploy',
    ])
      cpSync(join(ROOT, name), join(folder, name), { recursive: true });
    cpSync(
      join(ROOT, 'test/fixtures/released-migrations.json'),
      join(folder, 'test/fixtures/released-migrations.json'),
    );
    writeFileSync(join(folder, 'package.json'), read('package.json').replace(/"version": ".*"/, '"version": "9.8.7"'));
    const { stderr, status } = spawnSync(process.execPath, ['scripts/release.mjs'], { cwd: folder, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
    expect(readFileSync(join(folder, 'Dockerfile'), 'utf8')).toContain('org.opencontainers.image.version=9.8.7 ');
    const { bomFormat, metadata, components } = JSON.parse(
      readFileSync(join(folder, 'deploy/sbom.cdx.json'), 'utf8'),
    ) as Sbom;
    expect([bomFormat, metadata.component]).toMatchObject(['CycloneDX', { name: 'haulbridge', type: 'application' }]);
    const names = components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`));
    const { dependencies, devDependencies } = JSON.parse(read('package.json')) as Record<string, object>;
    expect(names).toEqual(expect.arrayContaining(Object.keys(dependencies ?? {})));
    expect(names.filter((name) => Object.hasOwn(devDependencies ?? {}, name))).toEqual([]);
    expect(read('Dockerfile')).toContain(`org.opencontainers.image.version=${serviceVersion()} `);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('each example stops later than the service', () => {
  const seconds = (file: string, form: RegExp) => Number(form.exec(read(file))?.[1]);
  const drain = seconds('deploy/kubernetes/kustomization.yaml', /SHUTDOWN_DRAIN=(\d+)s/);
  const grace = VARIABLES.SHUTDOWN_GRACE.fallback / 1_000;
  const pause = seconds('deploy/kubernetes/deployment.yaml', /sleep:\n +seconds: (\d+)/);
  expect(seconds('deploy/kubernetes/deployment.yaml', /terminationGracePeriodSeconds: (\d+)/)).toBeGreaterThan(
    drain + grace + pause,
  );
  expect(seconds('deploy/systemd/haulbridge.service', /TimeoutStopSec=(\d+)/)).toBeGreaterThan(5 + grace);
});

test('docker-compose.yml passes .env to the service, and sets seven variables itself', () => {
  const [, service = ''] = read('docker-compose.yml').split(/^ {2}haulbridge:\n/m);
  const under = (key: string): string[] =>
    new RegExp(`^ {4}${key}:\\n((?: {6}.*\\n)+)`, 'm').exec(service)?.[1]?.trimEnd().split('\n') ?? [];
  expect(under('env_file').map((line) => line.trim())).toEqual(['- path: .env', 'required: false']);
  const fixed = under('environment').map((line) => line.trim().split(':')[0] ?? '');
  expect(fixed).toEqual(['DATABASE_URL', 'ADMIN_TOKEN', 'SECRETS_KEY', 'PUBLIC_URL', 'HOST', 'PORT', 'DATA_DIR']);
  expect(Object.keys(VARIABLES)).toEqual(expect.arrayContaining(fixed));
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
  const sent = read('.dockerignore').split('\n');
  expect(sent).toContain('*');
  expect(sent.filter((line) => line.startsWith('!.'))).toEqual(['!.npmrc']);
});
