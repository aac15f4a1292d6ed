/**
 * Work that runs again and again. A stop ends it after its step, and awaits that (`beforeApplicationShutdown`): the connections
 * are closed afterwards.
 */
export class Sweep<T = void> {
  private readonly stopping = new AbortController();
  private running: Promise<T> | undefined;

  /** `work` looks at the signal before each step. */
  constructor(private readonly work: (stopping: AbortSignal) => Promise<T>) {}

  /** Joins the run that is under way. */
  run(): Promise<T> {
    this.running ??= this.work(this.stopping.signal).finally(() => (this.running = undefined));
    return this.running;
  }

  /** Never rejects: the caller of `run` gets the error. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running?.catch(() => undefined);
  }
}
