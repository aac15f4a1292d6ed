import { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { TestEnvironment } from 'jest-environment-node';
import { inheritTypeScript } from './typescript-hook.mjs';

inheritTypeScript();

const HELD = Symbol.for('haulbridge.held');
const TIMEOUT_MS = 5_000;
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
    this.global = globalThis;
    // Jest replaces `exit` before the setup.
    this.process = { env: { ...process.env }, exit: process.exit };
    const { moduleMocker, fakeTimersModern } = this;
    this.moduleMocker = new moduleMocker.constructor(globalThis);
    this.fakeTimersModern = new fakeTimersModern.constructor({ config: config.projectConfig, global: globalThis });
  }

  async setup() {
    await super.setup();
    globalThis.jest = jestOf(this);
    this.before = running();
    this.handlesBefore = new Set(process._getActiveHandles());
  }

  async handleTestEvent({ name }) {
    if (name === 'run_finish') await endHeld(globalThis[HELD]);
  }

  async teardown() {
    const left = await leftovers(this.before, this.handlesBefore);
    this.moduleMocker.restoreAllMocks();
    this.fakeTimersModern.useRealTimers();
    process.exit = this.process.exit;
    for (const name of Object.keys(process.env)) if (!(name in this.process.env)) delete process.env[name];
    Object.assign(process.env, this.process.env);
    await super.teardown();
    if (left.length > 0) throw new Error(`these tests leave behind: ${left.join(', ')}`);
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
