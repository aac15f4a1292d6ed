import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');

const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Record<'start' | 'start:prod', string> };

/** What Node.js is told before the program; where errors point to is a matter of taste. */
const optionsOf = (words: readonly string[]) =>
  words
    .slice(words.indexOf('node') + 1, words.indexOf('dist/src/main.js'))
    .filter((word) => word !== '--enable-source-maps');

test('the service runs with the same options of V8 however it is started, those that were measured', () => {
  const [, command = '[]'] = /^CMD (\[.*"dist\/src\/main\.js"\])$/m.exec(read('Dockerfile')) ?? [];
  const production = optionsOf(scripts['start:prod'].split(' '));
  expect(production).toContain('--no-allocation-site-pretenuring');
  expect(optionsOf(scripts.start.split(' '))).toEqual(production);
  expect(optionsOf(JSON.parse(command) as string[])).toEqual(production);
});
