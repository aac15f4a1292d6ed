const HELD = Symbol.for('haulbridge.held');

/** Here a test file's environment (`environment.mjs`) finds what is still running at its end. */
const all = ((globalThis as { [HELD]?: Set<() => Promise<unknown>> })[HELD] ??= new Set());

/**
 * What a test has started ends with its file, also where the test failed before it came to the end: whatever `end` is
 * not called by then is called by the environment, the youngest first. It runs once, however often it is called.
 */
export function held<T>(end: () => Promise<T>): () => Promise<T> {
  let ending: Promise<T> | undefined;
  const once = () => {
    all.delete(once);
    return (ending ??= end());
  };
  all.add(once);
  return once;
}

interface Child {
  readonly exitCode: number | null;
  readonly signalCode: NodeJS.Signals | null;
  kill(signal: NodeJS.Signals): boolean;
  once(event: 'exit', listener: () => void): unknown;
}

/** The same for a process that a test has started. */
export function heldChild<C extends Child>(child: C, signal: NodeJS.Signals = 'SIGKILL'): C {
  const end = held(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((done) => child.once('exit', done));
    child.kill(signal);
    await ended;
  });
  child.once('exit', () => void end());
  return child;
}
