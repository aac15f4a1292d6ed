import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

interface Locked {
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
}

const ACCEPTED = [
  ...['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT', 'MIT-0'],
  ...['MPL-2.0', 'Python-2.0'],
];

/** Their manifests have an old form that npm does not read. */
const READ: Readonly<Record<string, string>> = { 'node_modules/busboy': 'MIT', 'node_modules/streamsearch': 'MIT' };

test('each package of the container has an accepted licence: the terms of another may demand more than a notice', () => {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, Locked>>;
  };
  const delivered = Object.entries(packages).filter(
    ([path, { dev, devOptional, optional }]) => path !== '' && !dev && !devOptional && !optional,
  );
  expect(delivered.length).toBeGreaterThan(100);
  const others = delivered.filter(([path, { license }]) => !ACCEPTED.includes(READ[path] ?? license ?? ''));
  expect(others).toEqual([]);
});
