import { execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { copyFileSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { VARIABLES } from '../../src/core/config/variables.js';
import { serviceVersion } from '../../src/core/config/version.js';
import { freePort } from '../support/free-port.js';
import { requiredProgram } from '../support/programs.js';
import { testServer } from '../support/test-run.js';
import { MACHINES, ofMachine } from './failover/configuration.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

describe('kubectl kustomize', () => {
  let rendered: SpawnSyncReturns<string>;
  beforeAll(() => {
    const words = ['kustomize', join(ROOT, 'deploy/kubernetes')];
    rendered = spawnSync(requiredProgram('kubectl'), words, { encoding: 'utf8' });
  });

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

describe('nginx', () => {
  const cases = [
    ...examples(/nginx.*\.conf$/).map((name) => [name, read(`deploy/${name}`)] as const),
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
    const words = ['-t', '-p', folder, '-c', file];
    const { status, stderr } = spawnSync(requiredProgram('nginx'), words, { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('[warn]')]);
  });
});

describe('HAProxy', () => {
  test.each(examples(/haproxy[^/]*\.cfg$/))('accepts %s', (name) => {
    const words = ['-c', '-f', join(ROOT, 'deploy', name)];
    const { status, stdout, stderr } = spawnSync(requiredProgram('haproxy'), words, { encoding: 'utf8' });
    expect([status, stdout + stderr]).toEqual([0, expect.not.stringContaining('[WARNING]')]);
  });
});

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

test('the secrets in .env are neither committed nor sent to the build of the image', () => {
  for (const line of ['.env', '.env.*']) expect(read('.gitignore').split('\n')).toContain(line);
  const sent = read('.dockerignore').split('\n');
  expect(sent).toContain('*');
  expect(sent.filter((line) => line.startsWith('!.'))).toEqual(['!.npmrc']);
});

test('the image is built without optional packages: the bundle has none of them', () => {
  const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, { optional?: boolean }> };
  const optional = Object.keys(packages).filter((path) => packages[path]?.optional === true);
  expect(optional.length).toBeGreaterThan(1);
  const bundled = globSync('dist/{src,conformance}/**/*.{js,mjs}', { cwd: ROOT }).map(read).join('\n');
  expect(optional.filter((path) => bundled.includes(`// ${path}/`))).toEqual([]);
});

test('the unit of systemd starts the Node.js of the packages', () => {
  expect(read('deploy/systemd/haulbridge.service')).toContain(
    'ExecStart=/opt/haulbridge/node_modules/.bin/node dist/src',
  );
});
