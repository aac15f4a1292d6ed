import { execFile } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';

const run = promisify(execFile);

interface Violation {
  readonly from: string;
  readonly to: string;
  readonly rule: { readonly name: string };
}

async function violations(rules: string): Promise<string[]> {
  const { stdout } = await run(
    process.execPath,
    [
      'node_modules/dependency-cruiser/bin/dependency-cruise.mjs',
      '--config',
      `test/architecture/${rules}.cjs`,
      '--output-type',
      'json',
      'src',
      'migrations',
    ],
    { maxBuffer: 64 * 1024 * 1024 },
  ).catch((error: { stdout: string }) => error);
  const { summary } = JSON.parse(stdout) as { summary: { violations: Violation[] } };
  return summary.violations.map(({ from, to, rule }) => `${rule.name}: ${from} → ${to}`);
}

describe('the house keeps its import rules', () => {
  const folder = join('src', 'contracts', 'trespass');
  const trespass = 'level-0-imports-no-higher-level: src/contracts/trespass/trespass.ts → src/errors/app-error.ts';
  let found: string[];

  // One look tells both: what nobody imports cannot hide a fault of the others.
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    try {
      writeFileSync(join(folder, 'trespass.ts'), "export { AppError } from '../../errors/app-error.js';\n");
      found = (await Promise.all([violations('dependency-rules'), violations('folder-rules')])).flat();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('has no violation', () => expect(found.filter((each) => each !== trespass)).toEqual([]));

  it('would notice one', () => expect(found).toContain(trespass));
});

describe('what the compiler would let pass', () => {
  const controllers = globSync('src/**/*.controller.ts');

  it('no controller imports a DTO as a type only: that would switch its validation off in silence', () => {
    expect(controllers.length).toBeGreaterThan(0);
    const offenders = controllers.filter((file) =>
      [
        ...readFileSync(file, 'utf8').matchAll(
          /import type [^;]*?from '([^']+)'|import \{([^}]*\btype [^}]*)\} from '([^']+)'/g,
        ),
      ].some((match) => /\.dto\.js$/.test(match[1] ?? match[3] ?? '')),
    );
    expect(offenders).toEqual([]);
  });

  it('migrations are named <timestamp>-<verb>-<noun>, each timestamp once', () => {
    const names = globSync('migrations/*.ts').map((file) => file.replace(/^migrations[\\/]/, ''));
    for (const name of names) expect(name).toMatch(/^\d{13,14}-[a-z]+(-[a-z0-9]+)+\.ts$/);
    expect(new Set(names.map((name) => name.split('-')[0])).size).toBe(names.length);
  });
});
