import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { serviceVersion } from '../../src/config/version.js';
import { VARIABLES } from '../../src/config/variables.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const rendered = spawnSync('kubectl', ['kustomize', join(ROOT, 'deploy/kubernetes')], { encoding: 'utf8' });
const hasKubectl = rendered.error === undefined;

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
