import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { delimiter, join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { testServer } from '../support/test-database.js';

const BUNDLE = join(import.meta.dirname, '../../dist/conformance/haulbridge-conformance.mjs');

/** This Node.js, and every other one on the path that is new enough for the kit. */
const NODES = [
  process.execPath,
  ...(process.env['PATH'] ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'node'))
    .filter((file) => existsSync(file)),
];
const versionOf = (node: string) => execFileSync(node, ['--version']).toString().trim();
const BY_VERSION = new Map(NODES.map((node) => [versionOf(node), node]));

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(testServer().folder, 'bundle-'));
  copyFileSync(BUNDLE, join(folder, 'kit.mjs'));
});

test('the kit is one file that imports nothing but Node.js', () => {
  const imports = [...readFileSync(BUNDLE, 'utf8').matchAll(/^import .*? from "([^"]+)";$|\bimport\("([^"]+)"\)/gm)];
  expect(imports.length).toBeGreaterThan(3);
  expect(imports.map(([, name, dynamic]) => name ?? dynamic ?? '').filter((name) => !isBuiltin(name))).toEqual([]);
});

test.each([...BY_VERSION].filter(([version]) => Number(/\d+/.exec(version)?.[0]) >= 20))(
  'it runs alone with Node.js %s, without an environment',
  (_, node) => {
    const run = (...words: string[]) =>
      spawnSync(node, ['kit.mjs', ...words], { cwd: folder, env: {}, encoding: 'utf8', timeout: 30_000 });
    const list = run('--list');
    expect([list.status, list.stderr]).toEqual([0, '']);
    expect(list.stdout.match(/^[A-Z]+-\d{3} /gm)?.length).toBeGreaterThan(400);
    const piped = spawnSync('sh', ['-c', '"$0" kit.mjs --list | head -n 1', node], { cwd: folder, encoding: 'utf8' });
    expect([piped.stdout.split('  ')[0], piped.stderr]).toEqual(['SITE-001', '']);
    expect(run('--role', 'truck')).toMatchObject({ status: 2, stdout: '' });
    const refused = run('--role', 'scale-server', '--url', 'http://127.0.0.1:1', '--api-key', 'k');
    expect(refused.status).toBe(1);
    expect(refused.stdout).toContain('connection refused by 127.0.0.1:1');
  },
  60_000,
);
