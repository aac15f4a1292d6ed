// Generates the clients of the four interfaces from docs/openapi: `npm run clients [-- FOLDER]`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = resolve(process.argv[2] ?? join(root, 'clients'));
const program = join(root, 'node_modules/@redocly/cli/bin/cli.js');
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

for (const language of ['typescript', 'python']) mkdirSync(join(folder, language), { recursive: true });

for (const name of ['scale', 'account', 'site', 'vision']) {
  const output = join(folder, 'typescript', `${name}.ts`);
  const generators = ['--generator', 'typescript', '--generator', 'python'];
  const words = [
    program,
    'generate-client',
    join(root, `docs/openapi/${name}.json`),
    '--output',
    output,
    ...generators,
  ];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: root, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the client of ${name} was not generated: ${stderr}`);
  // A module named `site` would hide that of Python's standard library.
  renameSync(join(folder, 'typescript', `${name}.py`), join(folder, 'python', `${name}_client.py`));
}
