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

describe('the import rules', () => {
  const folder = join('src', 'contracts', 'forbidden');
  const forbidden = 'level-0-imports-no-higher-level: src/contracts/forbidden/forbidden.ts → src/errors/app-error.ts';
  let found: string[];

  // One run for both tests: no other file imports the forbidden one, so it cannot hide a violation.
  beforeAll(async () => {
    mkdirSync(folder, { recursive: true });
    try {
      writeFileSync(join(folder, 'forbidden.ts'), "export { AppError } from '../../errors/app-error.js';\n");
      found = (await Promise.all([violations('dependency-rules'), violations('folder-rules')])).flat();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('are kept', () => expect(found.filter((each) => each !== forbidden)).toEqual([]));

  it('detect a violation', () => expect(found).toContain(forbidden));
});

describe('the compiler does not check that', () => {
  const controllers = globSync('src/**/*.controller.ts');

  it('the SQL of tables stands in repositories', () => {
    const isAllowed = (file: string) => /\.(repository|sql)\.ts$|^src\/(database|embedded-postgres)\//.test(file);
    const hasSql = (file: string) =>
      /\bSELECT\b[^;]*\bFROM\b|\bINSERT INTO\b|\bDELETE FROM\b|\bUPDATE [^;\n]+\bSET\b/.test(
        readFileSync(file, 'utf8'),
      );
    const files = globSync('src/**/*.ts').map((file) => file.replaceAll('\\', '/'));
    expect(files.filter((file) => isAllowed(file) && hasSql(file)).length).toBeGreaterThan(20);
    expect(files.filter((file) => !isAllowed(file) && hasSql(file))).toEqual([]);
  });

  it('a controller imports each DTO as a value: a type import would switch off its validation', () => {
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

  it('a migration is named <timestamp>-<verb>-<noun>, with its own timestamp', () => {
    const names = globSync('migrations/*.ts').map((file) => file.replace(/^migrations[\\/]/, ''));
    for (const name of names) expect(name).toMatch(/^\d{13,14}-[a-z]+(-[a-z0-9]+)+\.ts$/);
    expect(new Set(names.map((name) => name.split('-')[0])).size).toBe(names.length);
  });
});
