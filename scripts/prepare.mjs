// Brings a clone to where `npm start` and `npm test` can run: packages as locked, sources built. `prepare.mjs cli` does so
// for `npm run cli`, beside a service that may be running; `prepare.mjs build` is `npm run build`.
// It runs before any package is there, on any Node from 20.19 on: nothing but Node's own modules.
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const LOCK_FILE = 'package-lock.json';
/** npm's own record of what it installed. */
const INSTALLED = 'node_modules/.package-lock.json';
/** The lock file that the packages were installed from: another branch may bring another one with an older date. */
const INSTALLED_FROM = 'node_modules/.haulbridge-lock';
/** What the build was made from. */
const BUILT = 'dist/.built';
/** Where a build is made. It takes the place of `dist` when it is whole: a service may be running on that one. */
const BESIDE = '.dist-new';
const BEFORE = '.dist-old';
const COMPILER = 'node_modules/@nestjs/cli/bin/nest.js';
const BUNDLER = 'scripts/bundle-conformance.mjs';
const COMMAND_LINE = 'dist/src/cli/main.js';
const CONSOLE_BUILD = 'scripts/build-console.mjs';
const BUILD_SETTINGS = ['tsconfig.json', 'nest-cli.json', BUNDLER, LOCK_FILE, CONSOLE_BUILD];
const SOURCES = ['src', 'migrations'];
/** Held while installing or building: two commands may be started at once. */
const TURN = '.prepare.lock';
const OLDEST_NODE = 24;
/** The Node of the packages needs this library, which small Linux systems lack; what stands in for it there does not. */
const LIBRARY = 'libatomic.so.1';
const STAND_IN = 'scripts/stand-in-node';
const LONGEST_WAIT_MS = 15 * 60_000;

/** True where the packages are absent, of another lock file, or older than it. */
export function mustInstall(root) {
  const installed = modified(join(root, INSTALLED));
  if (installed === undefined) return true;
  const from = read(join(root, INSTALLED_FROM));
  if (from !== undefined) return from !== read(join(root, LOCK_FILE));
  return installed < modified(join(root, LOCK_FILE));
}

/** `none` where the build is of just these sources; `all` where its settings have changed, or there is none. */
export function mustBuild(root) {
  const built = JSON.parse(read(join(root, BUILT)) ?? '{}');
  if (built.settings !== stateOf(root, BUILD_SETTINGS)) return 'all';
  return built.sources === stateOf(root, SOURCES) ? 'none' : 'changed';
}

/** Installs and builds what is missing, and returns the exit code. */
function prepare(root) {
  if (!mustInstall(root) && mustBuild(root) === 'none') return 0;
  return inTurn(root, () => (mustInstall(root) ? install(root) : 0) || checkNode(root) || build(root, mustBuild(root)));
}

/**
 * The same for a command, except that nothing is taken away that a service may be running on: where there are packages they
 * stay, and what is built stays in use until a new build is whole. Without the compiler's packages it stays in use for good.
 */
function prepareCommand(root) {
  const runs = existsSync(join(root, COMMAND_LINE)) && existsSync(join(root, INSTALLED));
  if (!runs) return prepare(root);
  if (mustBuild(root) === 'none') return 0;
  if (!mustInstall(root) && existsSync(join(root, COMPILER))) return prepare(root);
  say('this runs what was built of other sources or packages: renew it with npm ci and npm run build');
  return 0;
}

/** Builds with the packages that are there, also where nothing has changed. */
function rebuild(root) {
  return inTurn(root, () => build(root, mustBuild(root) === 'all' ? 'all' : 'changed'));
}

function inTurn(root, work) {
  const release = takeTurn(root);
  try {
    return work();
  } finally {
    release();
  }
}

function install(root) {
  say('installing packages (about a minute) …');
  // With the npm and the Node of the machine: those of the clone are being replaced.
  const path = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(join(root, 'node_modules')));
  const flags = [
    '--include=dev',
    '--include=optional',
    '--no-audit',
    '--no-fund',
    '--no-update-notifier',
    '--loglevel=error',
  ];
  const npm = (folder, ...words) => run(folder, 'npm', [...words, ...flags], path.join(delimiter));
  const code = lacksLibrary() ? installWithStandIn(root, npm) : npm(root, 'ci');
  if (code === 0) copyFileSync(join(root, LOCK_FILE), join(root, INSTALLED_FROM));
  return code;
}

/** Where the system's linker cannot be asked, it is taken to have the library. */
function lacksLibrary() {
  const path = [process.env.PATH ?? '', '/sbin', '/usr/sbin'].join(delimiter);
  const { status, stdout } = spawnSync('ldconfig', ['-p'], { env: { ...process.env, PATH: path }, encoding: 'utf8' });
  return status === 0 && !stdout.includes(LIBRARY);
}

/**
 * Scripts of packages run on the Node that is linked: not before it is one that runs here. What stands in comes first: npm
 * would run this very file, the next time, on one that does not.
 */
function installWithStandIn(root, npm) {
  say(`this system has no ${LIBRARY}, which Node.js 26 needs: Node.js 24 stands in for it`);
  const code = npm(join(root, STAND_IN), 'ci') || npm(root, 'ci', '--ignore-scripts');
  if (code !== 0) return code;
  const link = 'node_modules/.bin/node';
  remove(root, link);
  symlinkSync(join('..', '..', STAND_IN, link), join(root, link));
  // npm takes the packages for whole by now, and they are not until their scripts have run.
  writeFileSync(join(root, INSTALLED_FROM), '');
  return npm(root, 'rebuild', '--no-bin-links');
}

/** The packages bring their own Node for the usual platforms; elsewhere the machine's must do. */
function checkNode(root) {
  const version = Number.parseInt(process.versions.node, 10);
  if (version >= OLDEST_NODE || existsSync(join(root, 'node_modules', '.bin', 'node'))) return 0;
  say(`no Node.js came with the packages for this platform, and this one is ${version}: install Node.js 26`);
  return 1;
}

function build(root, what) {
  if (what === 'none') return 0;
  const settings = stateOf(root, BUILD_SETTINGS);
  const sources = stateOf(root, SOURCES);
  say('building …');
  remove(root, BESIDE);
  if (what === 'changed') cpSync(join(root, 'dist'), join(root, BESIDE), { recursive: true, preserveTimestamps: true });
  else mkdirSync(join(root, BESIDE));
  removeOrphans(root, BESIDE);
  const code = compile(root) || buildConsole(root) || bundleKit(root);
  if (code === 0) {
    writeFileSync(join(root, BESIDE, '.built'), JSON.stringify({ settings, sources }));
    takePlace(root);
  }
  remove(root, BESIDE);
  return code;
}

function compile(root) {
  const config = join(root, BESIDE, 'tsconfig.json');
  const compilerOptions = { outDir: '.', tsBuildInfoFile: '.tsbuildinfo' };
  writeFileSync(config, JSON.stringify({ extends: '../tsconfig.json', compilerOptions }));
  const path = [join(root, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter);
  const code = run(root, 'node', [COMPILER, 'build', '--path', `${BESIDE}/tsconfig.json`], path);
  rmSync(config);
  return code;
}

/** The pages of the admin console, as static files. */
function buildConsole(root) {
  if (!existsSync(join(root, 'src/console'))) return 0;
  const path = [join(root, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter);
  return run(root, 'node', [CONSOLE_BUILD, `${BESIDE}/console`], path);
}

/** The conformance kit, as one file that needs nothing but Node. */
function bundleKit(root) {
  if (!existsSync(join(root, 'src/conformance'))) return 0;
  const path = [join(root, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter);
  return run(root, 'node', [BUNDLER, BESIDE], path);
}

function takePlace(root) {
  remove(root, BEFORE);
  if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), join(root, BEFORE));
  renameSync(join(root, BESIDE), join(root, 'dist'));
  remove(root, BEFORE);
}

/** Removes compiled files whose source is gone; the compiler leaves them. */
function removeOrphans(root, folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) removeOrphans(root, path);
    else if (/\.js(\.map)?$/.test(path) && !existsSync(join(root, sourceOf(path)))) rmSync(join(root, path));
  }
}

const sourceOf = (compiled) => compiled.replace(`${BESIDE}/`, '').replace(/\.js(\.map)?$/, '.ts');

function run(root, command, parameters, path) {
  const { status, signal, error } = spawnSync(command, parameters, {
    cwd: root,
    env: { ...process.env, PATH: path },
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (error !== undefined) say(`cannot run ${command}: ${error.message}`);
  else if (status !== 0) say(`${command} ${parameters[0]} failed${signal ? ` (${signal})` : ''}`);
  return status ?? 1;
}

/** Paths, sizes and times of files, as text. */
function stateOf(root, paths) {
  const lines = [];
  const visit = (path) => {
    const info = statSync(join(root, path), { throwIfNoEntry: false });
    if (info?.isDirectory()) for (const name of readdirSync(join(root, path)).sort()) visit(`${path}/${name}`);
    else if (info !== undefined) lines.push(`${path} ${info.size} ${info.mtimeMs}`);
  };
  paths.forEach(visit);
  return lines.join('\n');
}

/** Waits until no other preparation of this clone runs; one whose process has ended does not count. */
function takeTurn(root) {
  const turn = join(root, TURN);
  const ticket = `${turn}.${process.pid}`;
  writeFileSync(ticket, String(process.pid));
  try {
    for (const start = Date.now(); ; sleep(100)) {
      try {
        // A link appears with its content, or not at all.
        linkSync(ticket, turn);
        return () => rmSync(turn, { force: true });
      } catch (error) {
        if (error.code !== 'EEXIST') throw error;
      }
      const holder = Number(read(turn));
      if (holder > 0 && !alive(holder)) discard(turn, holder);
      if (Date.now() - start > LONGEST_WAIT_MS)
        throw new Error(`process ${holder} does not finish; if it is none of ours, remove ${turn}`);
    }
  } finally {
    rmSync(ticket, { force: true });
  }
}

/** Moves a dead holder's file aside; one that another process took over in this very moment is put back. */
function discard(turn, holder) {
  const aside = `${turn}.${holder}.ended`;
  try {
    renameSync(turn, aside);
    if (Number(read(aside)) !== holder) renameSync(aside, turn);
    else rmSync(aside);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

const sleep = (milliseconds) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
const remove = (root, folder) => rmSync(join(root, folder), { recursive: true, force: true });
const say = (text) => console.error(`haulbridge: ${text}`);
const modified = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs;

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const work = { cli: prepareCommand, build: rebuild }[process.argv[2]] ?? prepare;
  process.exitCode = work(dirname(dirname(fileURLToPath(import.meta.url))));
}
