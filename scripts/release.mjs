// Run by `npm version`: records the hash of each migration of the new version, because a released migration is never edited,
// names the version in the example for Kubernetes and in the image, and lists the packages (CycloneDX) in deploy/sbom.cdx.json.
import { spawnSync } from 'node:child_process';
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

replaceIn('deploy/kubernetes/kustomization.yaml', /newTag: .*/, `newTag: ${version}`);
replaceIn('Dockerfile', /image\.version=\S+/, `image.version=${version}`);
writeFileSync(join(ROOT, 'deploy/sbom.cdx.json'), `${JSON.stringify(packages(), null, 2)}\n`);
console.log(`${version}: ${added.length} migrations are released`);

function replaceIn(file, pattern, text) {
  writeFileSync(join(ROOT, file), readFileSync(join(ROOT, file), 'utf8').replace(pattern, text));
}

/** What is delivered, from the lock file. npm names the root by its folder. */
function packages() {
  const words = ['sbom', '--package-lock-only', '--omit=dev', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const { status, stdout, stderr } = spawnSync('npm', words, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  const sbom = JSON.parse(stdout);
  const { name } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return { ...sbom, metadata: { ...sbom.metadata, component: { ...sbom.metadata.component, name } } };
}

/** Line ends do not count. */
function hashOf(file) {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll('\r\n', '\n');
  return createHash('sha256').update(text).digest('hex');
}
