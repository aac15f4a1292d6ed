// Run by `npm version`: records the hash of each migration of the new version, because a released migration is never edited,
// and names the version in the example for Kubernetes.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const FILE = join(ROOT, 'test/fixtures/released-migrations.json');

const released = JSON.parse(readFileSync(FILE, 'utf8'));
const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const known = new Set(Object.values(released).flatMap(Object.keys));
const added = readdirSync(join(ROOT, 'migrations'))
  .filter((name) => name.endsWith('.ts'))
  .map((name) => `migrations/${name}`)
  .sort()
  .filter((file) => !known.has(file));
released[version] = { ...released[version], ...Object.fromEntries(added.map((file) => [file, hashOf(file)])) };
writeFileSync(FILE, `${JSON.stringify(released, null, 2)}\n`);

const kubernetes = join(ROOT, 'deploy/kubernetes/kustomization.yaml');
writeFileSync(kubernetes, readFileSync(kubernetes, 'utf8').replace(/newTag: .*/, `newTag: ${version}`));
console.log(`${version}: ${added.length} migrations are released`);

/** Line ends do not count. */
function hashOf(file) {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll('\r\n', '\n');
  return createHash('sha256').update(text).digest('hex');
}
