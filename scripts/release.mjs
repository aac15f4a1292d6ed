// Run by `npm version`: records the hash of each migration of the new version. A released migration is never edited.
import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FILE = join(ROOT, 'test/fixtures/released-migrations.json');

const released = JSON.parse(readFileSync(FILE, 'utf8'));
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const known = new Set(Object.values(released).flatMap(Object.keys));
const added = globSync('migrations/*.ts', { cwd: ROOT })
  .sort()
  .filter((file) => !known.has(file));
released[version] = Object.fromEntries(added.map((file) => [file, hashOf(file)]));
writeFileSync(FILE, `${JSON.stringify(released, null, 2)}\n`);
console.log(`${version}: ${added.length} migrations are released`);

/** Line ends do not count. */
function hashOf(file) {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll('\r\n', '\n');
  return createHash('sha256').update(text).digest('hex');
}
