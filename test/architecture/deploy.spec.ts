import { execFileSync, spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { serviceVersion } from '../../src/config/version.js';
import { VARIABLES } from '../../src/config/variables.js';
import { MACHINES, ofMachine } from '../nightly/failover/configuration.js';
import { freePort } from '../support/free-port.js';
import { testServer } from '../support/test-run.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const rendered = spawnSync('kubectl', ['kustomize', join(ROOT, 'deploy/kubernetes')], { encoding: 'utf8' });
const hasKubectl = rendered.error === undefined;

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

(hasKubectl ? describe : describe.skip)('kubectl kustomize', () => {
  test('renders a deployment that is probed, spread and not root', () => {
    expect(rendered.stderr).toBe('');
    const kinds = [...rendered.stdout.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind);
    expect(kinds.sort()).toEqual(['ConfigMap', 'Deployment', 'Job', 'PodDisruptionBudget', 'Service']);
    for (const line of [
      'path: /health/ready',
      'path: /health/live',
      'runAsNonRoot: true',
      'readOnlyRootFilesystem: true',
      `image: haulbridge:${serviceVersion()}`,
    ])
      expect(rendered.stdout).toContain(line);
  });

  test('sends requests to the servers only, and not to the migration', () => {
    const [service = ''] = rendered.stdout.split('---').filter((each) => /^kind: Service$/m.test(each));
    const [job = ''] = rendered.stdout.split('---').filter((each) => /^kind: Job$/m.test(each));
    expect(service).toContain('app.kubernetes.io/component: server');
    expect(job).not.toContain('app.kubernetes.io/component: server');
  });
});

const newFolder = () => mkdtempSync(join(testServer().folder, 'deploy-'));
const examples = (form: RegExp): string[] =>
  readdirSync(join(ROOT, 'deploy'), { recursive: true, encoding: 'utf8' }).filter((name) => form.test(name));
/** Of a guide, with the language of the block. */
const blocksOf = (guide: string, language: string): string[] =>
  [...read(`docs/guides/${guide}`).matchAll(new RegExp(`^ *\`\`\`${language}\\n([^]*?)^ *\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  );
const program = (name: string): string | undefined =>
  [name, `/usr/sbin/${name}`].find((path) => spawnSync(path, ['-v']).status === 0);

const nginx = program('nginx');
(nginx === undefined ? describe.skip : describe)(
  `nginx${nginx === undefined ? ' (skipped: it is not installed)' : ''}`,
  () => {
    const cases = [
      ...examples(/nginx\/.*\.conf$/).map((name) => [name, read(`deploy/${name}`)] as const),
      ...blocksOf('operator.md', 'nginx').map((block) => ['the block of the operator guide', block] as const),
    ];
    test.each(cases)('accepts %s', async (_, text) => {
      const folder = newFolder();
      const tls = join(ROOT, 'test/support/tls');
      const filled = text
        .replaceAll(/\/etc\/ssl\/[\w.]+\.(pem|crt)/g, join(tls, 'certificate.pem'))
        .replaceAll(/\/etc\/ssl\/[\w.]+\.key/g, join(tls, 'key.pem'))
        .replaceAll(/(listen +)\d+/g, `$1127.0.0.1:${await freePort()}`);
      const file = join(folder, 'nginx.conf');
      writeFileSync(file, `pid ${folder}/pid;\nerror_log ${folder}/log;\nevents {}\nhttp {\n${filled}\n}\n`);
      const { status, stderr } = spawnSync(nginx ?? '', ['-t', '-p', folder, '-c', file], { encoding: 'utf8' });
      expect([status, stderr]).toEqual([0, expect.not.stringContaining('[warn]')]);
    });
  },
);

const haproxy = program('haproxy');
(haproxy === undefined ? describe.skip : describe)(
  `HAProxy${haproxy === undefined ? ' (skipped: it is not installed)' : ''}`,
  () => {
    test.each(examples(/haproxy[^/]*\.cfg$/))('accepts %s', (name) => {
      const file = join(newFolder(), 'haproxy.cfg');
      // The maps lie beside the example, and not yet where it expects them.
      const maps = `${dirname(join(ROOT, 'deploy', name))}/`;
      writeFileSync(file, read(`deploy/${name}`).replaceAll('/etc/haproxy/', maps));
      const { status, stdout, stderr } = spawnSync(haproxy ?? '', ['-c', '-f', file], { encoding: 'utf8' });
      expect([status, stdout + stderr]).toEqual([0, expect.not.stringContaining('[WARNING]')]);
    });
  },
);

test('the commands of the failover guide make the files of the other machines as the failover suite uses them', () => {
  const folder = newFolder();
  mkdirSync(join(folder, 'deploy/failover'), { recursive: true });
  const files = ['etcd.yml', 'patroni.yml'];
  for (const file of files) copyFileSync(join(ROOT, 'deploy/failover', file), join(folder, 'deploy/failover', file));
  const [block = ''] = blocksOf('failover.md', 'sh').filter((text) => text.includes('sed '));
  execFileSync('sh', ['-euc', block], { cwd: folder });
  for (const machine of MACHINES.slice(1))
    for (const file of files)
      expect(readFileSync(join(folder, machine, file), 'utf8')).toBe(
        ofMachine(read(`deploy/failover/${file}`), machine),
      );
});
