import { type ChildProcess, spawn } from 'node:child_process';
import { inBackground } from '../core/errors/background.js';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { clusterName, readPostmaster, STOP_SIGNALS } from './postmaster.js';
import { type SystemUser, spawnSetup } from './owner.js';
import { StartupError } from '../core/config/startup-error.js';

/** The log of the supervisor, for example a pino logger. */
export interface SupervisorLog {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
}

export interface ServerOptions {
  readonly program: string;
  readonly folder: string;
  readonly user: SystemUser | undefined;
  readonly port: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly log: SupervisorLog;
}

const DEADLY_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const START_TIMEOUT_MS = 60_000;
const MAX_PAUSE_MS = 5_000;

/** One PostgreSQL server as a child process. Restarts it if it ends unexpectedly. */
export class Server {
  private child: ChildProcess | undefined;
  private output = '';
  private stopping = false;
  private readonly killChild = () => void this.child?.kill('SIGINT');
  private readonly onSignal = (signal: NodeJS.Signals) => this.onDeadlySignal(signal);

  constructor(private readonly options: ServerOptions) {}

  /** Resolves when the server accepts connections. Rejects with the output of the server. */
  async start(): Promise<void> {
    // If this process ends unexpectedly, the server must end too.
    process.on('exit', this.killChild);
    for (const signal of DEADLY_SIGNALS) process.on(signal, this.onSignal);
    try {
      await this.launch();
    } catch (error) {
      this.removeHandlers();
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.removeHandlers();
    for (const [signal, timeoutMs] of STOP_SIGNALS) {
      const child = this.child;
      if (child === undefined) return;
      child.kill(signal);
      await Promise.race([once(child, 'exit'), delay(timeoutMs, undefined, { ref: false })]);
    }
  }

  /** Ends the server and this process, unless the service has its own handler of the signal. */
  private onDeadlySignal(signal: NodeJS.Signals): void {
    if (process.listenerCount(signal) > 1) return;
    this.killChild();
    this.removeHandlers();
    process.kill(process.pid, signal);
  }

  private removeHandlers(): void {
    process.removeListener('exit', this.killChild);
    for (const signal of DEADLY_SIGNALS) process.removeListener(signal, this.onSignal);
  }

  private async launch(): Promise<void> {
    const child = this.spawn();
    const failed = new Promise<never>((_, reject) => {
      child.once('error', reject);
      child.once('close', () => reject(new StartupError(`PostgreSQL did not start: ${this.output.trim()}`)));
    });
    try {
      await Promise.race([this.ready(child, failed), failed]);
    } catch (error) {
      child.kill('SIGQUIT');
      throw error;
    }
    child.once('exit', (code, signal) => {
      if (!this.stopping) inBackground(this.restart(`ended with ${signal ?? code}`));
    });
  }

  private spawn(): ChildProcess {
    const { program, folder, user, port, settings } = this.options;
    const setup = spawnSetup(folder, user);
    const parameters = Object.entries({ ...settings, cluster_name: clusterName(folder) });
    const child = spawn(
      program,
      ['-D', setup.folder, '-p', String(port), ...parameters.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      // Its own process group, so that Ctrl-C in a terminal reaches only the service, which finishes its requests first.
      { ...setup.options, stdio: ['ignore', 'ignore', 'pipe'], detached: true },
    );
    this.output = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => this.record(text));
    child.once('exit', () => (this.child = undefined));
    this.child = child;
    return child;
  }

  /** Polls until the server is ready. Rejects with `failed` if it has ended. */
  private async ready(child: ChildProcess, failed: Promise<never>): Promise<void> {
    for (const end = Date.now() + START_TIMEOUT_MS; Date.now() < end; await delay(5)) {
      const postmaster = readPostmaster(this.options.folder);
      if (postmaster?.ready === true && postmaster.pid === child.pid) return;
      if (child.exitCode !== null || child.signalCode !== null) return failed;
    }
    throw new StartupError(`PostgreSQL was not ready within ${START_TIMEOUT_MS / 1000} s: ${this.output.trim()}`);
  }

  private async restart(reason: string): Promise<void> {
    this.options.log.warn(`the embedded PostgreSQL ${reason}, starting it again`);
    for (let pause = 50; !this.stopping; pause = Math.min(pause * 2, MAX_PAUSE_MS)) {
      try {
        await this.launch();
        this.options.log.info('the embedded PostgreSQL runs again');
        return;
      } catch (error) {
        this.options.log.warn((error as Error).message);
        await delay(pause, undefined, { ref: false });
      }
    }
  }

  private record(text: string): void {
    this.output = (this.output + text).slice(-4000);
    for (const line of text.split('\n')) {
      if (this.isAlarming(line)) this.options.log.warn(`PostgreSQL: ${line}`);
      else if (line !== '') this.options.log.debug(`PostgreSQL: ${line}`);
    }
  }

  /** FATAL ends one connection, which is normal while the server stops. */
  private isAlarming(line: string): boolean {
    return / PANIC: /.test(line) || (/ FATAL: /.test(line) && !this.stopping);
  }
}
