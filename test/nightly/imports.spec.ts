import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@jest/globals';
import { testServer } from '../support/test-run.js';

const ROOT = join(import.meta.dirname, '../..');

/** A folder with these sources, and the names of the rules of imports that they break. */
function brokenRules(sources: Readonly<Record<string, string>>, rules: string): string[] {
  const folder = mkdtempSync(join(testServer().folder, 'imports-'));
  copyFileSync(join(ROOT, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  for (const [file, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  const program = join(ROOT, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const words = ['--config', join(ROOT, 'test/architecture', rules), '--output-type', 'json', 'src', 'test'];
  const { stdout } = spawnSync(process.execPath, [program, ...words], { cwd: folder, encoding: 'utf8' });
  const { summary } = JSON.parse(stdout) as { summary: { violations: { rule: { name: string } }[] } };
  return [...new Set(summary.violations.map(({ rule }) => rule.name))];
}

const EMPTY = 'export const value = 1;\n';
const importing = (...paths: string[]) =>
  paths.map((path, i) => `export { value as v${i} } from '${path}';\n`).join('');

test.each([
  [
    'a contract that imports a module of a higher level',
    {
      'src/contracts/ticket.ts': importing('../errors/app-error.js'),
      'src/errors/app-error.ts': EMPTY,
      'test/a.ts': EMPTY,
    },
    'dependency-rules.cjs',
    ['level-0-imports-no-higher-level'],
  ],
  [
    'an acceptance case that reaches the source through a helper',
    {
      'src/errors/app-error.ts': EMPTY,
      'test/support/helper.ts': importing('../../src/errors/app-error.js'),
      'test/acceptance/tickets.spec.ts': importing('../support/helper.js'),
    },
    'dependency-rules.cjs',
    ['acceptance-is-outside'],
  ],
  [
    'an acceptance case that imports the helpers with SQL',
    {
      'src/a.ts': EMPTY,
      'test/support/rows.ts': EMPTY,
      'test/acceptance/tickets.spec.ts': importing('../support/rows.js'),
    },
    'dependency-rules.cjs',
    ['acceptance-sends-no-sql'],
  ],
  [
    'two folders that import each other',
    {
      'src/a/one.ts': importing('../b/two.js'),
      'src/b/two.ts': EMPTY,
      'src/b/three.ts': importing('../a/four.js'),
      'src/a/four.ts': EMPTY,
      'test/a.ts': EMPTY,
    },
    'folder-rules.cjs',
    ['no-folder-cycles'],
  ],
  [
    'an acceptance case whose helper imports no source',
    {
      'src/a/one.ts': EMPTY,
      'test/support/helper.ts': EMPTY,
      'test/acceptance/a.spec.ts': importing('../support/helper.js'),
    },
    'dependency-rules.cjs',
    [],
  ],
])('the rules of imports find what is wrong in %s', (_sources, sources, rules, broken) => {
  expect(brokenRules(sources as unknown as Readonly<Record<string, string>>, rules)).toEqual(broken);
});
