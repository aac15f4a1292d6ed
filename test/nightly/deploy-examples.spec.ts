import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { VARIABLES } from '../../src/core/config/variables.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

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
