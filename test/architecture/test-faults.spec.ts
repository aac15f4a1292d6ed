import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

const listed = (...words: string[]) => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['scripts/test-faults.mjs', ...words, ...(words.includes('--listTests') ? [] : ['--listTests'])],
    { cwd: ROOT, encoding: 'utf8' },
  );
  const files = stdout.split('\n').filter((line) => line.endsWith('.spec.ts'));
  return { status, stderr, files: files.map((file) => basename(file, '.spec.ts')).sort() };
};

test('a suite of faults runs by its name', () => {
  // More than one test file has `kill` in its path.
  expect(listed('kill')).toMatchObject({ status: 0, files: ['kill'] });
  expect(listed('security', 'kill', '--verbose', '--listTests')).toMatchObject({
    status: 0,
    files: ['kill', 'security'],
  });
});

test('all suites run without a name, and an unknown name is refused', () => {
  const all = globSync('test/faults/*.spec.ts', { cwd: ROOT }).map((file) => basename(file, '.spec.ts'));
  expect(listed()).toMatchObject({ status: 0, files: all.sort() });
  expect(listed('kil')).toMatchObject({ status: 1, files: [], stderr: expect.stringContaining('no such suite: kil') });
});
