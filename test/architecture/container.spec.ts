import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { VARIABLES } from '../../src/config/env.js';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

const [, service = ''] = read('docker-compose.yml').split(/^ {2}haulbridge:\n/m);
/** The lines below a key of the service. */
const under = (key: string): string[] =>
  new RegExp(`^ {4}${key}:\\n((?: {6}.*\\n)+)`, 'm').exec(service)?.[1]?.trimEnd().split('\n') ?? [];

test('docker-compose.yml passes .env to the service, and sets six variables itself', () => {
  expect(under('env_file').map((line) => line.trim())).toEqual(['- path: .env', 'required: false']);
  const fixed = under('environment').map((line) => line.trim().split(':')[0] ?? '');
  expect(fixed).toEqual(['DATABASE_URL', 'ADMIN_TOKEN', 'SECRETS_KEY', 'HOST', 'PORT', 'DATA_DIR']);
  expect(Object.keys(VARIABLES)).toEqual(expect.arrayContaining(fixed));
});

test('the operator guide names every variable, and the credentials of S3', () => {
  const table = read('docs/guides/operator.md');
  for (const name of Object.keys(VARIABLES)) expect(table).toMatch(new RegExp(`^\\| \`${name}\` `, 'm'));
  for (const name of ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) expect(table).toContain(`\`${name}\``);
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
