// Checks the OpenAPI documents: by the recommended rules of redocly, or with `owasp` by those of Spectral, which take twenty
// seconds of processor time.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { registerTypeScript } from '../test/support/typescript-hook.mjs';

const ROOT = join(import.meta.dirname, '..');
const REDOCLY = ['@redocly/cli/bin/cli.js', 'lint', '--extends', 'recommended'];
const OWASP = [
  '@stoplight/spectral-cli/dist/index.js',
  'lint',
  ...['--ruleset', 'scripts/spectral.yaml', '--fail-severity', 'error', '--display-only-failures'],
];

registerTypeScript();
await import('reflect-metadata');
const { openApiDocuments } = await import('./generate/openapi.ts');
const folder = mkdtempSync(join(tmpdir(), 'haulbridge-openapi-'));
const files = [...openApiDocuments()].map(([name, document]) => {
  const file = join(folder, `${name}.json`);
  writeFileSync(file, JSON.stringify(document));
  return file;
});
const [program, ...words] = process.argv[2] === 'owasp' ? OWASP : REDOCLY;
const { status, stdout, stderr } = spawnSync(process.execPath, [join('node_modules', program), ...words, ...files], {
  cwd: ROOT,
  env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
  encoding: 'utf8',
});
rmSync(folder, { recursive: true });
if (status !== 0) {
  process.stderr.write(stdout + stderr);
  process.exitCode = 1;
}
