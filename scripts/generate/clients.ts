import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Generator } from './generator.js';

const ROOT = join(import.meta.dirname, '../..');
const REDOCLY = join(ROOT, 'node_modules/@redocly/cli/bin/cli.js');
const ENV = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
const NAMES = ['scale', 'account', 'site', 'vision'];
const IMPORT =
  // Names that programs import from the module of their interface.
  'from haulbridge import ApiConnectionError as ApiConnectionError, ApiError as ApiError, ApiTimeoutError as ApiTimeoutError\n' +
  'from haulbridge import CallError as CallError, Number, Retry, around, around_async';

/** The clients of the four interfaces, from docs/openapi. */
export const clients: Generator = () => {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-clients-'));
  try {
    return Object.assign({}, ...NAMES.map((name) => clientsOf(name, folder))) as Record<string, string>;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

function clientsOf(name: string, folder: string): Record<string, string> {
  const document = join(ROOT, `docs/openapi/${name}.json`);
  const output = ['--output', join(folder, `${name}.ts`), '--generator', 'typescript', '--generator', 'python'];
  const words = [REDOCLY, 'generate-client', document, ...output];
  const { status, stderr } = spawnSync(process.execPath, words, { cwd: ROOT, env: ENV, encoding: 'utf8' });
  if (status !== 0) throw new Error(`the client of ${name} was not generated: ${stderr}`);
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return {
    [`clients/typescript/${name}.ts`]: read(`${name}.ts`),
    // A module named `site` would hide that of Python's standard library.
    [`clients/python/${name}_client.py`]: withLayer(read(`${name}.py`)),
  };
}

/** Puts the hand-written layer of `haulbridge.py` around the request core, and its errors in place of the generated ones. */
function withLayer(source: string): string {
  const [models = '', runtime = ''] = split(source, '# ─── Embedded runtime');
  const changes: readonly (readonly [RegExp, string])[] = [
    [/^# Requires .*$/m, '# Requires Python >= 3.9, httpx (pip install httpx) and haulbridge.py of the same folder.'],
    [/^class ApiError\(Exception\):[\s\S]*?(?=^@dataclass\nclass Result)/m, `${IMPORT}\n\n\n`],
    // The layer has read it before.
    [/retry: Optional\[Dict\[str, Any\]\] = None(?=,\n\) ->)/g, 'retry: Any = None'],
    [/^(?=def send\()/m, '@around\n'],
    [/^(?=async def send_async\()/m, '@around_async\n'],
  ];
  const changed = changes.reduce(
    (text, [pattern, replacement]) => {
      if (!pattern.test(text)) throw new Error(`the generator has changed: nothing matches ${pattern}`);
      return text.replace(pattern, replacement);
    },
    `${models.replaceAll(/(?<=: (?:Optional\[)?)float\b/g, 'Number')}# ─── Embedded runtime${runtime}`,
  );
  // The models need the type of a number, which the runtime imports below them: annotations are read later.
  return changed.replaceAll('retry: Optional[Dict[str, Any]] = None', 'retry: Retry = None');
}

function split(text: string, mark: string): string[] {
  const parts = text.split(mark);
  if (parts.length !== 2) throw new Error(`the generator has changed: ${parts.length - 1} times ${mark}`);
  return parts;
}
