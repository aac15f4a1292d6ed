// Checks the OpenAPI documents by the recommended rules of redocly and the OWASP rules of Spectral. That takes half a minute of
// processor time, so documents that were valid before are not checked again.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { registerTypeScript } from '../test/support/typescript-hook.mjs';

const ROOT = join(import.meta.dirname, '..');
const RULESET = 'scripts/spectral.yaml';
const FOLDER = 'node_modules/.cache/haulbridge-openapi';
const VALID = join(ROOT, FOLDER, 'valid');

registerTypeScript();
await import('reflect-metadata');
const { openApiDocuments } = await import('./generate/openapi.ts');
const documents = [...openApiDocuments()].map(([name, document]) => [
  `${FOLDER}/${name}.json`,
  JSON.stringify(document),
]);

const hash = createHash('sha256');
for (const [, text] of documents) hash.update(text);
for (const file of [RULESET, 'package-lock.json', 'scripts/check-openapi.mjs'])
  hash.update(readFileSync(join(ROOT, file)));
const state = hash.digest('hex');

if (state !== lastValid()) {
  rmSync(join(ROOT, FOLDER), { recursive: true, force: true });
  mkdirSync(join(ROOT, FOLDER), { recursive: true });
  for (const [file, text] of documents) writeFileSync(join(ROOT, file), text);
  const files = documents.map(([file]) => file);
  run('@redocly/cli/bin/cli.js', 'lint', '--extends', 'recommended', ...files);
  const severity = ['--fail-severity', 'error', '--display-only-failures'];
  run('@stoplight/spectral-cli/dist/index.js', 'lint', '--ruleset', RULESET, ...severity, ...files);
  if (process.exitCode === undefined) writeFileSync(VALID, state);
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
