// Run by `npm version`: records the hash of each migration of the new version, because a released migration is never edited, and
// names the version in the example for Kubernetes and in the image.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const FILE = 'test/fixtures/released-migrations.json';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const released = JSON.parse(readFileSync(FILE, 'utf8'));
const known = new Set(Object.values(released).flatMap(Object.keys));
const added = readdirSync('migrations')
  .filter((name) => /^\d/.test(name))
  .map((name) => `migrations/${name}`)
  .filter((file) => !known.has(file));
released[version] = Object.fromEntries(added.map((file) => [file, hashOf(file)]));
writeFileSync(FILE, `${JSON.stringify(released, null, 2)}\n`);

replaceIn('deploy/kubernetes/kustomization.yaml', /newTag: .*/, `newTag: ${version}`);
replaceIn('Dockerfile', /image\.version=\S+/, `image.version=${version}`);
console.log(`${version}: ${added.length} migrations are released`);

function replaceIn(file, pattern, text) {
  writeFileSync(file, readFileSync(file, 'utf8').replace(pattern, text));
}

/** Line ends do not count. */
function hashOf(file) {
  return createHash('sha256').update(readFileSync(file, 'utf8').replaceAll('\r\n', '\n')).digest('hex');
}
