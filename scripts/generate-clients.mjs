// Generates the clients of the four interfaces from docs/openapi: `npm run clients [-- FOLDER]`.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = join(import.meta.dirname, '..');
const folder = resolve(process.argv[2] ?? join(root, 'clients'));
const program = join(root, 'node_modules/@redocly/cli/bin/cli.js');
const IMPORT =
  // Names that programs import from the module of their interface.
  'from haulbridge import ApiConnectionError as ApiConnectionError, ApiError as ApiError, ApiTimeoutError as ApiTimeoutError\n' +
  'from haulbridge import CallError as CallError, Number, Retry, around, around_async';
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
  const generated = join(folder, 'typescript', `${name}.py`);
  writeFileSync(join(folder, 'python', `${name}_client.py`), withLayer(readFileSync(generated, 'utf8')));
  rmSync(generated);
}
const LAYER = 'python/haulbridge.py';
if (folder !== join(root, 'clients')) copyFileSync(join(root, 'clients', LAYER), join(folder, LAYER));

/** Puts the hand-written layer of `haulbridge.py` around the request core, and its errors in place of the generated ones. */
function withLayer(source) {
  const [models = '', runtime = ''] = split(source, '# ─── Embedded runtime');
  const changed = [
    [/^# Requires .*$/m, '# Requires Python >= 3.9, httpx (pip install httpx) and haulbridge.py of the same folder.'],
    [/^class ApiError\(Exception\):[\s\S]*?(?=^@dataclass\nclass Result)/m, `${IMPORT}\n\n\n`],
    // The layer has read it before.
    [/retry: Optional\[Dict\[str, Any\]\] = None(?=,\n\) ->)/g, 'retry: Any = None'],
    [/^(?=def send\()/m, '@around\n'],
    [/^(?=async def send_async\()/m, '@around_async\n'],
  ].reduce(
    (text, [pattern, replacement]) => {
      if (!pattern.test(text)) throw new Error(`the generator has changed: nothing matches ${pattern}`);
      return text.replace(pattern, replacement);
    },
    `${models.replaceAll(/(?<=: (?:Optional\[)?)float\b/g, 'Number')}# ─── Embedded runtime${runtime}`,
  );
  // The models need the type of a number, which the runtime imports below them: annotations are read later.
  return changed.replaceAll('retry: Optional[Dict[str, Any]] = None', 'retry: Retry = None');
}

function split(text, mark) {
  const parts = text.split(mark);
  if (parts.length !== 2) throw new Error(`the generator has changed: ${parts.length - 1} times ${mark}`);
  return parts;
}
