import { readFileSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { relative } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import fc from 'fast-check';
import { TestEnvironment } from 'jest-environment-node';
import { inheritTypeScript } from './typescript-hook.mjs';

inheritTypeScript();

const HELD = Symbol.for('haulbridge.held');
const WRITTEN = Symbol.for('haulbridge.written');
const SECRETS = Symbol.for('haulbridge.secrets');
/** Of fast-check, in the gate: each run checks the same cases. Nightly checks others each time; a failure prints the seed. */
const GATE_SEED = 20_261_120;
const MAX_LINES = 30;
const WARN = 40;
const TIMEOUT_MS = 5_000;
/** The variables that name the log of the service that a tier shares. */
const TARGET_LOGS = { acceptance: 'ACCEPTANCE_LOG', console: 'CONSOLE_LOG', 'nightly-console': 'CONSOLE_LOG' };
/** What keeps a process from ending. A pipe does so too, but Jest's own come and go. */
const WATCHED = ['ProcessWrap', 'TCPServerWrap', 'TCPSocketWrap', 'Timeout', 'MessagePort'];

/**
 * The environment of every test file: at the file's end it ends what the tests have started and not ended, and fails
 * the file where anything still runs after that. The run itself thus always ends, with no need to force it.
 * The files of a worker share its global object (`native-runner.mjs`): spies, timers and variables are put back here.
 */
export default class Environment extends TestEnvironment {
  constructor(config, context) {
    super(config, context);
    this.tier = config.projectConfig.displayName?.name;
    this.global = globalThis;
    this.file = relative(config.globalConfig.rootDir, context.testPath);
    this.seed = config.projectConfig.displayName?.name === 'nightly' ? Date.now() % 2 ** 31 : GATE_SEED;
    // Jest replaces `exit` before the setup.
    this.process = { env: { ...process.env }, exit: process.exit };
    const { moduleMocker, fakeTimersModern } = this;
    this.moduleMocker = new moduleMocker.constructor(globalThis);
    this.fakeTimersModern = new fakeTimersModern.constructor({ config: config.projectConfig, global: globalThis });
  }

  async setup() {
    await super.setup();
    globalThis.jest = jestOf(this);
    // The texts of the services of the file before.
    globalThis[WRITTEN]?.clear();
    fc.configureGlobal({ seed: this.seed });
    this.targetLog = process.env[TARGET_LOGS[this.tier]];
    this.startsReading(Date.now());
    this.before = running();
    this.handlesBefore = new Set(process._getActiveHandles());
  }

  async handleTestEvent({ name, test }) {
    if (name === 'test_done') {
      if (test.errors.length > 0) test.errors.push(...servicesOutput(this.since, this.targetLog));
      this.startsReading(this.since.file);
    }
    if (name === 'run_finish') await endHeld(globalThis[HELD]);
  }

  /** What services write from now on is of the next test: its hooks run first. */
  startsReading(file) {
    const logSize = this.targetLog === undefined ? 0 : statSync(this.targetLog).size;
    this.since = { file, test: Date.now(), logSize };
  }

  async teardown() {
    const left = await leftovers(this.before, this.handlesBefore);
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.useRealTimers();
    process.exit = this.process.exit;
    for (const name of Object.keys(process.env)) if (!(name in this.process.env)) delete process.env[name];
    Object.assign(process.env, this.process.env);
    await super.teardown();
    const secrets = globalThis[SECRETS]?.splice(0) ?? [];
    if (secrets.length > 0)
      throw new Error(`${this.file} wrote secrets in clear (test/support/secret-search.ts): ${secrets.join(', ')}`);
    if (left.length > 0) throw new Error(`${this.file} leaves behind: ${left.join(', ')}`);
  }
}

/** What our tests use of Jest's object. */
const jestOf = ({ moduleMocker, fakeTimersModern: timers }) => ({
  fn: (implementation) => moduleMocker.fn(implementation),
  spyOn: (...words) => moduleMocker.spyOn(...words),
  restoreAllMocks: () => moduleMocker.restoreAllMocks(),
  useFakeTimers: (options) => timers.useFakeTimers(options),
  useRealTimers: () => timers.useRealTimers(),
  advanceTimersByTime: (milliseconds) => timers.advanceTimersByTime(milliseconds),
  getTimerCount: () => timers.getTimerCount(),
});

/**
 * The last lines of the services of a failed test, of level warn and above, as one more error of the test. The service of the
 * tier still works for the tests before: of its lines, those with the ids of older records are left out.
 */
function servicesOutput({ file, test, logSize }, targetLog) {
  const own = [...(globalThis[WRITTEN]?.values() ?? [])].flat().filter(({ place }) => place !== 'an answer');
  const target = targetLog === undefined ? '' : String(readFileSync(targetLog).subarray(logSize));
  const lines = [
    ...own.flatMap(({ text }) => text().split('\n')),
    ...target.split('\n').filter((line) => !(newestId(line) < file)),
  ].filter((line) => line !== '' && isWarning(line, test));
  if (lines.length === 0) return [];
  const error = new Error(`the last lines of its services:\n${lines.slice(-MAX_LINES).join('\n')}`);
  error.stack = error.message;
  return [error];
}

/** When the newest record that a line names was made: an id (UUID 7) begins with its time. */
function newestId(line) {
  const times = [...line.matchAll(/\b([0-9a-f]{8})-([0-9a-f]{4})-7/g)].map(([, high, low]) => parseInt(high + low, 16));
  return times.length === 0 ? undefined : Math.max(...times);
}

/** A line that is no entry of the log was written by Node itself, such as a crash. */
function isWarning(line, since) {
  try {
    const { level, time } = JSON.parse(line);
    return (typeof level !== 'number' || level >= WARN) && !(Date.parse(time) < since);
  } catch {
    return !line.startsWith(' ') && !/^haulbridge|listens on/.test(line);
  }
}

/** By a timer that is not counted itself. */
const pause = (milliseconds) => delay(milliseconds, undefined, { ref: false });

async function endHeld(held) {
  for (const end of [...(held ?? [])].reverse()) await Promise.race([end().catch(() => undefined), pause(TIMEOUT_MS)]);
}

const running = () => WATCHED.map((kind) => process.getActiveResourcesInfo().filter((name) => name === kind).length);

/** Waits for connections to close. After `TIMEOUT_MS` names the open ones, and ends them if possible. */
async function leftovers(before, handlesBefore) {
  const more = () => running().flatMap((count, i) => (count > before[i] ? [`${count - before[i]} ${WATCHED[i]}`] : []));
  for (const end = Date.now() + TIMEOUT_MS; more().length > 0 && Date.now() < end;) await pause(20);
  const left = more();
  if (left.length === 0) return left;
  const handles = process._getActiveHandles().filter((handle) => !handlesBefore.has(handle));
  const children = handles.filter((handle) => handle.spawnargs !== undefined);
  for (const child of children) child.kill('SIGKILL');
  for (const server of handles.filter((handle) => handle.listening === true)) server.close();
  const sockets = handles.filter((handle) => handle instanceof Socket && handle.remotePort !== undefined);
  const connections = sockets.map(
    ({ localPort, remotePort }) => `a connection from port ${localPort} to ${remotePort}`,
  );
  for (const socket of sockets) socket.destroy();
  return [...left, ...connections, ...children.map(({ pid, spawnargs }) => `process ${pid} (${spawnargs.join(' ')})`)];
}
