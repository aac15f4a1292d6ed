const HELD = Symbol.for('haulbridge.held');

/** The environment of a test file (`environment.mjs`) reads it at the end. */
const all = ((globalThis as { [HELD]?: Set<() => Promise<unknown>> })[HELD] ??= new Set());

/**
 * Ensures that `end` is called before the test file ends, also if a test fails. The environment calls the remaining ones,
 * the newest first. `end` runs only once.
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
