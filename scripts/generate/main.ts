import 'reflect-metadata';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { columns } from './columns.js';
import { diagrams } from './diagrams.js';
import { errors } from './errors.js';
import type { Files, Generator } from './generator.js';
import { interfaces } from './interfaces.js';
import { limits } from './limits.js';
import { MigratedDatabase } from './migrated-database.js';
import { openapi } from './openapi.js';
import { rules } from './rules.js';
import { webhooks } from './webhooks.js';

const ROOT = join(import.meta.dirname, '../..');

/** In this order: some read what those before them have written. */
const GENERATORS: Readonly<Record<string, Generator>> = {
  openapi,
  errors,
  limits,
  rules,
  interfaces,
  webhooks,
  columns,
  diagrams,
};

/** Writes the files of the named generators, of all if none is named. `--check` compares them. Returns the exit code. */
export async function generate(words: readonly string[]): Promise<number> {
  const isCheck = words.includes('--check');
  const named = words.filter((word) => word !== '--check');
  const all = Object.keys(GENERATORS);
  const unknown = named.filter((name) => !all.includes(name));
  if (unknown.length > 0) {
    process.stderr.write(`unknown: ${unknown.join(', ')}. There are: ${all.join(', ')}\n`);
    return 1;
  }
  const isChosen = (name: string) => named.length === 0 || named.includes(name);
  const database = new MigratedDatabase();
  const stale: string[] = [];
  try {
    for (const [name, generator] of Object.entries(GENERATORS)) {
      if (!isChosen(name)) continue;
      const changed = changedIn(await generator(database));
      if (Object.keys(changed).length > 0) stale.push(name);
      for (const [file, text] of Object.entries(changed)) {
        process.stdout.write(isCheck ? `${file} differs from the code\n` : `${file} is written\n`);
        if (!isCheck) write(file, text);
      }
    }
  } finally {
    await database.close();
  }
  if (!isCheck || stale.length === 0) return 0;
  process.stdout.write(`Run: npm run generate -- ${stale.join(' ')}\n`);
  return 1;
}

const changedIn = (files: Files): Files =>
  Object.fromEntries(Object.entries(files).filter(([file, text]) => text !== current(file)));

function current(file: string): string | undefined {
  try {
    return readFileSync(join(ROOT, file), 'utf8').replaceAll('\r\n', '\n');
  } catch {
    return undefined;
  }
}

function write(file: string, text: string): void {
  const path = join(ROOT, file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
