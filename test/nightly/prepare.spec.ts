import { beforeEach, describe, expect, test } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { heldChild } from '../support/held.js';
import { testServer } from '../support/test-run.js';

const CLONE = join(import.meta.dirname, '../..');

interface Prepare {
  readonly mustInstall: (root: string) => boolean;
  readonly mustBuild: (root: string) => 'none' | 'changed' | 'all';
}
const { mustInstall, mustBuild } = (await import(join(CLONE, 'scripts/prepare.mjs'))) as Prepare;

const json = (name: string): unknown => JSON.parse(readFileSync(join(CLONE, name), 'utf8'));
const { scripts } = json('package.json') as { readonly scripts: object };
const tsconfig = json('tsconfig.json') as { readonly compilerOptions: object };

/** Without the declarations of Node and newer ECMAScript, which would take most of the time of so small a build. */
const QUICK = { lib: ['es5'], types: [] };

let root: string;

/** A small project with the real compiler; nothing of it is bundled. */
const COPIER = `import { cpSync } from 'node:fs';
const [, , folder] = process.argv;
cpSync(folder + '/compiled/src', folder + '/src', { recursive: true });
`;

beforeEach(() => {
  root = mkdtempSync(join(testServer().folder, 'clone-'));
  for (const name of ['scripts/prepare.mjs', 'nest-cli.json']) cpSync(join(CLONE, name), join(root, name));
  write('tsconfig.json', JSON.stringify({ ...tsconfig, compilerOptions: { ...tsconfig.compilerOptions, ...QUICK } }));
  write('package.json', JSON.stringify({ name: 'small', version: '1.0.0', type: 'module', scripts }));
  write('package-lock.json', '{}');
  write('node_modules/.package-lock.json', '{}');
  write('node_modules/.haulbridge-lock', '{}');
  for (const name of ['.bin', '@nestjs', '@types', 'typescript']) {
    symlinkSync(join(CLONE, 'node_modules', name), join(root, 'node_modules', name));
  }
  write('scripts/bundle.mjs', COPIER);
  write('src/main.ts', 'export const answer: number = 42;\n');
  write('migrations/1-first.ts', 'export const first = 1;\n');
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}
const age = (path: string, seconds: number) => utimesSync(join(root, path), seconds, seconds);
const built = () => readdirSync(join(root, 'dist/src')).sort();

function run(command: string, ...words: string[]) {
  const { status, stderr, stdout } = spawnSync(command, words, { cwd: root, encoding: 'utf8' });
  return { status, text: stdout + stderr };
}
const prepare = () => run(process.execPath, 'scripts/prepare.mjs');

/** Runs a script of the real package.json. */
const npmRun = (...words: string[]) => run('npm', 'run', '-s', ...words);

async function prepareBeside() {
  const child = spawn(process.execPath, ['scripts/prepare.mjs'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  heldChild(child);
  let text = '';
  child.stderr.on('data', (chunk) => (text += String(chunk)));
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, text };
}

describe('npm start installs packages', () => {
  test.each<[string, boolean, () => void]>([
    ['if there are none', true, () => rmSync(join(root, 'node_modules'), { recursive: true })],
    ['not if they are those of the lock file', false, () => undefined],
    [
      'if they are those of another lock file, even of an older one',
      true,
      () => {
        write('package-lock.json', '{"other":true}');
        age('package-lock.json', 1000);
      },
    ],
  ])('%s', (_, expected, arrange) => {
    arrange();
    expect(mustInstall(root)).toBe(expected);
  });

  // npm goes on for minutes after Ctrl-C, and would remove what the next installation writes.
  test('until Ctrl-C: nothing is left of it', async () => {
    rmSync(join(root, 'node_modules'), { recursive: true });
    write('bin/npm', '#!/bin/sh\ntrap "" INT\necho $$ > started\nmv started pid\nexec sleep 600\n');
    chmodSync(join(root, 'bin/npm'), 0o755);
    const env = { ...process.env, PATH: [join(root, 'bin'), process.env['PATH']].join(delimiter) };
    const child = spawn(process.execPath, ['scripts/prepare.mjs'], { cwd: root, env, stdio: 'ignore' });
    heldChild(child);
    const npm = await eventually(() => Number(readFileSync(join(root, 'pid'), 'utf8')));
    child.kill('SIGINT');
    expect(await once(child, 'close')).toEqual([null, 'SIGINT']);
    expect(() => process.kill(npm, 0)).toThrow('ESRCH');
    expect(readdirSync(root).filter((name) => name.startsWith('.prepare'))).toEqual([]);
  });
});

describe('npm start builds the sources', () => {
  test('once, also for two processes, and again only after a change, an addition or a deletion', async () => {
    write('src/other.ts', 'export const other = 1;\n');
    expect(mustBuild(root)).toBe('all');
    const both = await Promise.all([prepareBeside(), prepareBeside()]);
    expect(both.map(({ status }) => status)).toEqual([0, 0]);
    expect(both.map(({ text }) => text).join('')).toBe('haulbridge: building …\n');
    expect(readdirSync(root).filter((name) => name.startsWith('.prepare'))).toEqual([]);
    expect(built()).toEqual(['main.js', 'main.js.map', 'other.js', 'other.js.map']);
    const time = statSync(join(root, 'dist/src/main.js')).mtimeMs;
    expect(mustBuild(root)).toBe('none');
    expect(prepare()).toEqual({ status: 0, text: '' });
    expect(statSync(join(root, 'dist/src/main.js')).mtimeMs).toBe(time);

    rmSync(join(root, 'src/other.ts'));
    write('src/main.ts', 'export const answer: number = 43;\n');
    expect(mustBuild(root)).toBe('changed');
    expect(prepare().status).toBe(0);
    expect(readFileSync(join(root, 'dist/src/main.js'), 'utf8')).toContain('43');
    expect(readdirSync(join(root, 'dist/compiled/migrations'))).toContain('1-first.js');

    for (const name of ['migrations/2-second.ts', 'tsconfig.json', 'nest-cli.json', 'package-lock.json']) {
      expect(mustBuild(root)).toBe('none');
      const text = existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : undefined;
      write(name, `${text ?? ''}\n`);
      expect(mustBuild(root)).toBe(text === undefined ? 'changed' : 'all');
      if (text === undefined) rmSync(join(root, name));
      else restore(name, text);
    }
  });
});

describe('npm run cli', () => {
  const FOREIGN = 'console.log("foreign", process.argv.slice(2).join())\n';

  beforeEach(() => {
    write(
      'src/cli/node.d.ts',
      'declare const console: { log(...words: unknown[]): void }, process: { argv: string[] };\n',
    );
    write('src/cli/main.ts', 'console.log("own", process.argv.slice(2).join());\n');
  });

  test('builds if nothing is built, and after a change; not after npm run build, and then installs nothing either', () => {
    expect(npmRun('cli', '--', 'a', 'b')).toEqual({ status: 0, text: 'own a,b\nhaulbridge: building …\n' });
    write('src/cli/main.ts', 'console.log("changed");\n');
    expect(npmRun('cli')).toEqual({ status: 0, text: 'changed\nhaulbridge: building …\n' });
    expect(npmRun('build')).toEqual({ status: 0, text: 'haulbridge: building …\n' });
    expect(mustBuild(root)).toBe('none');
    rmSync(join(root, 'node_modules/@nestjs'));
    rmSync(join(root, 'node_modules/.haulbridge-lock'));
    age('node_modules/.package-lock.json', 1000);
    expect(mustInstall(root)).toBe(true);
    expect(npmRun('cli')).toEqual({ status: 0, text: 'changed\n' });
  });

  test('runs with package.json, packages and a build only, as in the container image', () => {
    write('dist/src/cli/main.js', FOREIGN);
    for (const name of ['scripts', 'src', 'migrations', 'tsconfig.json', 'nest-cli.json', 'package-lock.json'])
      rmSync(join(root, name), { recursive: true });
    expect(npmRun('cli', '--', 'hauler', 'list')).toEqual({ status: 0, text: 'foreign hauler,list\n' });
  });
});

/** Restores the text and the time of a file as they were at the build. */
function restore(name: string, text: string): void {
  const { settings } = JSON.parse(readFileSync(join(root, 'dist/.built'), 'utf8')) as { settings: string };
  write(name, text);
  const time = Number(new RegExp(`^${name} \\d+ ([\\d.]+)$`, 'm').exec(settings)?.[1]) / 1000;
  utimesSync(join(root, name), time, time);
}
