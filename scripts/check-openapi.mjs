// Checks the OpenAPI documents by the recommended rules of redocly and the OWASP rules of Spectral. That takes half a minute of
// processor time, so documents that were valid before are not checked again.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const RULESET = 'scripts/spectral.yaml';
const VALID = join(ROOT, 'node_modules/.cache/haulbridge-openapi');
const documents = globSync('docs/openapi/*.json', { cwd: ROOT }).sort();

const hash = createHash('sha256');
for (const file of [...documents, RULESET, 'package-lock.json', 'scripts/check-openapi.mjs'])
  hash.update(readFileSync(join(ROOT, file)));
const state = hash.digest('hex');

if (state !== lastValid()) {
  run('@redocly/cli/bin/cli.js', 'lint', '--extends', 'recommended', ...documents);
  const severity = ['--fail-severity', 'error', '--display-only-failures'];
  run('@stoplight/spectral-cli/dist/index.js', 'lint', '--ruleset', RULESET, ...severity, ...documents);
  if (process.exitCode === undefined) {
    mkdirSync(dirname(VALID), { recursive: true });
    writeFileSync(VALID, state);
  }
}

function run(program, ...words) {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { status, stdout, stderr } = spawnSync(process.execPath, [join('node_modules', program), ...words], {
    cwd: ROOT,
    env,
    encoding: 'utf8',
  });
  if (status === 0) return;
  process.stderr.write(stdout + stderr);
  process.exitCode = 1;
}

function lastValid() {
  try {
    return readFileSync(VALID, 'utf8');
  } catch {
    return undefined;
  }
}
