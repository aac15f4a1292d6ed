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

/**
 * What is delivered, by the lock file. npm names the root by its folder, and `--omit=dev` would leave out every package that a
 * development package needs too.
 */
function packages() {
  const words = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'];
  const { status, stdout, stderr } = spawnSync('npm', words, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 ** 2,
  });
  if (status !== 0) throw new Error(`npm sbom failed: ${stderr}`);
  const { metadata, components, dependencies, ...sbom } = JSON.parse(stdout);
  const { name } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const delivered = new Set(
    Object.entries(lock.packages)
      .filter(([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional)
      .map(([path, { version: of }]) => `${path.split('node_modules/').at(-1)}@${of}`),
  );
  const isDelivered = (reference) => delivered.has(reference) || reference === metadata.component['bom-ref'];
  return {
    ...sbom,
    metadata: { ...metadata, component: { ...metadata.component, name } },
    components: components.filter((component) => isDelivered(`${component.name}@${component.version}`)),
    dependencies: dependencies
      .filter(({ ref }) => isDelivered(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn?.filter(isDelivered) })),
  };
}

/** Line ends do not count. */
function hashOf(file) {
  const text = readFileSync(join(ROOT, file), 'utf8').replaceAll('\r\n', '\n');
  return createHash('sha256').update(text).digest('hex');
}
