import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { testServer } from '../support/test-database.js';

const ROOT = join(import.meta.dirname, '../..');
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
