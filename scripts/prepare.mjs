// Prepares a clone for `npm start` and `npm test`: installs the packages of the lock file and builds the sources.
// `prepare.mjs cli` does the same for `npm run cli`, while a service may be running; `prepare.mjs build` is `npm run build`.
// It runs before any package is installed, on Node.js 20.19 and later, and uses only the modules of Node.js.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const LOCK_FILE = 'package-lock.json';
/** The record that npm writes of installed packages. */
const INSTALLED = 'node_modules/.package-lock.json';
/** A copy of the lock file of the installation: the lock file of another branch can differ and have an older date. */
const INSTALLED_FROM = 'node_modules/.haulbridge-lock';
/** State of the sources at the last build. */
const BUILT = 'dist/.built';
const COMPILED = 'dist/compiled';
/** A build is written here and replaces `dist` when it is complete, because a service may be running from `dist`. */
const NEW_BUILD = '.dist-new';
const OLD_BUILD = '.dist-old';
const COMPILER = 'node_modules/@nestjs/cli/bin/nest.js';
const BUNDLER = 'scripts/bundle.mjs';
const COMMAND_LINE = 'dist/src/cli/main.js';
const CONSOLE_BUILD = 'scripts/build-console.mjs';
const DOCS_BUILD = 'scripts/build-docs.mjs';
const BUILD_SETTINGS = ['tsconfig.json', 'nest-cli.json', BUNDLER, LOCK_FILE, CONSOLE_BUILD, DOCS_BUILD];
/** Documents and clients are served: they are a part of the build. */
const SOURCES = ['src', 'migrations', 'docs', 'clients', 'CHANGELOG.md'];
/** Lock file: two commands may start at the same time, and only one installs or builds. */
const LOCK = '.prepare.lock';
/** The service needs it, where the packages contain none. */
const MIN_NODE = 24;
/** Of the packages. */
const NEEDED_MB = 950;
const MAX_WAIT_MS = 15 * 60_000;
const ENDING = ['SIGINT', 'SIGTERM', 'SIGHUP'];
/** The signal that ended the last child. */
let endedBy;

/** True if the packages are missing, come from another lock file, or are older than the lock file. */
export function mustInstall(root) {
  const installed = modified(join(root, INSTALLED));
  if (installed === undefined) return true;
  const from = read(join(root, INSTALLED_FROM));
  if (from !== undefined) return from !== read(join(root, LOCK_FILE));
  return installed < modified(join(root, LOCK_FILE));
}

/** `none` if the build is up to date; `all` if there is no build or its settings have changed; else `changed`. */
export function mustBuild(root) {
  const built = JSON.parse(read(join(root, BUILT)) ?? '{}');
  if (built.settings !== stateOf(root, BUILD_SETTINGS)) return 'all';
  return built.sources === stateOf(root, SOURCES) ? 'none' : 'changed';
}

/** Installs and builds what is missing, and returns the exit code. */
function prepare(root) {
  if (!mustInstall(root) && mustBuild(root) === 'none') return 0;
  return withLock(
    root,
    async () => (mustInstall(root) ? await install(root) : 0) || checkNode(root) || build(root, mustBuild(root)),
  );
}

/**
 * The same for a command, but without disturbing a running service: installed packages are not replaced, and the current
 * build stays in use until a new one is complete. Without the compiler the current build stays in use.
 */
function prepareCommand(root) {
  const runs = existsSync(join(root, COMMAND_LINE)) && existsSync(join(root, INSTALLED));
  if (!runs) return prepare(root);
  if (mustBuild(root) === 'none') return 0;
  if (!mustInstall(root) && existsSync(join(root, COMPILER))) return prepare(root);
  say('the build is older than the sources or packages: update it with npm ci and npm run build');
  return 0;
}

/** Builds with the installed packages, even if nothing has changed. */
function rebuild(root) {
  return withLock(root, () => build(root, mustBuild(root) === 'all' ? 'all' : 'changed'));
}

async function withLock(root, work) {
  const release = acquireLock(root);
  try {
    return await work();
  } finally {
    release();
  }
}

async function install(root) {
  if (!canInstall()) return 1;
  say('installing packages (about a minute) …');
  // Uses npm and Node.js of the machine, because those of the clone are being replaced.
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
  const code = await run(root, 'npm', ['ci', ...flags], path.join(delimiter));
  if (code === 0) copyFileSync(join(root, LOCK_FILE), join(root, INSTALLED_FROM));
  else sayIfFull(root);
  return code;
}

/** npm does not report a full disk: a package that it has cut off ends with "Segmentation fault". */
function sayIfFull(root) {
  const { bavail, bsize } = statfsSync(root);
  const free = Math.floor((bavail * bsize) / 1_000_000);
  if (free < NEEDED_MB) say(`the packages need ${NEEDED_MB} MB, and the disk of this folder has ${free} MB left`);
}

/** npm of an older Node.js leaves packages out, or ends without a reason. */
function canInstall() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const isNew = major > 20 || (major === 20 && minor >= 19);
  if (!isNew)
    say(`Node.js ${process.versions.node} is too old: install Node.js 20.19 or newer, and run the command again`);
  return isNew;
}

/** The packages contain Node.js for the common platforms; other platforms use the Node.js of the machine. */
function checkNode(root) {
  const version = Number.parseInt(process.versions.node, 10);
  if (version >= MIN_NODE || existsSync(join(root, 'node_modules', '.bin', 'node'))) return 0;
  say(`the packages contain no Node.js for this platform, and the installed one is ${version}: install Node.js 26`);
  return 1;
}

async function build(root, what) {
  if (what === 'none') return 0;
  const settings = stateOf(root, BUILD_SETTINGS);
  const sources = stateOf(root, SOURCES);
  say('building …');
  remove(root, NEW_BUILD);
  mkdirSync(join(root, NEW_BUILD));
  // The compiler goes on from there. What it leaves of a deleted source is in no bundle.
  if (what === 'changed' && existsSync(join(root, COMPILED)))
    cpSync(join(root, COMPILED), join(root, NEW_BUILD, 'compiled'), { recursive: true, preserveTimestamps: true });
  const code = (await compile(root)) || (await bundle(root)) || (await buildConsole(root)) || (await buildDocs(root));
  if (code === 0) {
    writeFileSync(join(root, NEW_BUILD, '.built'), JSON.stringify({ settings, sources }));
    replaceBuild(root);
  }
  remove(root, NEW_BUILD);
  return code;
}

async function compile(root) {
  const config = join(root, NEW_BUILD, 'tsconfig.json');
  const compilerOptions = { outDir: 'compiled', tsBuildInfoFile: 'compiled/.tsbuildinfo' };
  writeFileSync(config, JSON.stringify({ extends: '../tsconfig.json', compilerOptions }));
  const code = await runNode(root, COMPILER, 'build', '--path', `${NEW_BUILD}/tsconfig.json`);
  rmSync(config);
  return code;
}

/** The service, its commands and the conformance kit, as what Node.js loads quickly. */
function bundle(root) {
  return runNode(root, BUNDLER, NEW_BUILD);
}

/** The pages of the admin console, as static files. */
function buildConsole(root) {
  return existsSync(join(root, 'src/console')) ? runNode(root, CONSOLE_BUILD, `${NEW_BUILD}/console`) : 0;
}

/** The pages and files under /docs, the kit among them. */
function buildDocs(root) {
  return existsSync(join(root, 'docs/pages')) ? runNode(root, DOCS_BUILD, NEW_BUILD) : 0;
}

/** Runs a script on the Node.js of the packages, if they contain one. */
function runNode(root, ...words) {
  return run(root, 'node', words, [join(root, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter));
}

function replaceBuild(root) {
  remove(root, OLD_BUILD);
  if (existsSync(join(root, 'dist'))) renameSync(join(root, 'dist'), join(root, OLD_BUILD));
  renameSync(join(root, NEW_BUILD), join(root, 'dist'));
  remove(root, OLD_BUILD);
}

/** Ctrl-C ends the child as well: npm would go on, and write into the next installation. */
async function run(root, command, parameters, path) {
  const env = { ...withoutSecrets(process.env), PATH: path };
  const child = spawn(command, parameters, { cwd: root, env, stdio: 'inherit' });
  const end = (signal) => {
    endedBy = signal;
    child.kill('SIGKILL');
  };
  ENDING.forEach((signal) => process.on(signal, end));
  try {
    const [status, signal] = await once(child, 'exit');
    if (status !== 0 && endedBy === undefined) say(`${command} ${parameters[0]} failed${signal ? ` (${signal})` : ''}`);
    return status ?? 1;
  } catch (error) {
    say(`cannot run ${command}: ${error.message}`);
    return 1;
  } finally {
    ENDING.forEach((signal) => process.off(signal, end));
  }
}

/** The service reads these. Installers and compilers, which are the code of others, need none of them. */
const SECRETS =
  /^(DATABASE_URL|ADMIN_TOKENS?|ADMIN_READ_TOKEN|SECRETS_KEY|OIDC_CLIENT_SECRET|SMTP_URL|HAULBRIDGE_TOKEN|OTEL_EXPORTER_OTLP_HEADERS|AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN))(_FILE)?$/;

const withoutSecrets = (environment) =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !SECRETS.test(name)));

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

/** Waits until no other process prepares this clone. Removes the lock of a process that has ended. */
function acquireLock(root) {
  const lock = join(root, LOCK);
  for (const start = Date.now(); ; sleep(100)) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return () => rmSync(lock, { force: true });
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = Number(read(lock));
    if (holder > 0 && !alive(holder)) rmSync(lock, { force: true });
    if (Date.now() - start > MAX_WAIT_MS)
      throw new Error(`process ${holder} does not finish; if it is not a process of haulbridge, remove ${lock}`);
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
  try {
    process.exitCode = await work(dirname(dirname(fileURLToPath(import.meta.url))));
  } catch (error) {
    // Such as a disk that is full or read-only: the message names the file.
    say(error.message);
    process.exitCode = 1;
  }
  if (endedBy !== undefined) process.kill(process.pid, endedBy);
}
