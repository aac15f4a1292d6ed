import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { SystemUser } from '../../../src/embedded-postgres/owner.js';
import { pathOf, requireLinux, requirePrograms } from '../../support/programs.js';

/** As Debian installs it; `patroni.yml` names the folder. */
const POSTGRES = '/usr/lib/postgresql/15/bin/postgres';

/** Fails where a program of the cluster is absent. */
export function requireFailoverPrograms(): void {
  requireLinux();
  requirePrograms('patroni', 'etcd', 'haproxy', 'pgbouncer');
  if (!existsSync(POSTGRES)) throw new Error(`${POSTGRES} is absent: apt-get install postgresql-15`);
}

/** Starts programs in a folder, as a user that PostgreSQL accepts, and ends them and their descendants. */
export class Programs {
  private readonly endWithUs = () => this.signal('SIGKILL');
  private readonly outputs = new Map<string, string>();

  constructor(
    readonly folder: string,
    private readonly owner: SystemUser | undefined,
  ) {
    process.once('exit', this.endWithUs);
  }

  start(name: string, program: string, parameters: readonly string[]): ChildProcess {
    const child = spawn(pathOf(program) ?? program, parameters, {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC', HOME: this.folder },
      ...this.owner,
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.outputs.set(name, ((this.outputs.get(name) ?? '') + text).slice(-20_000));
      });
    }
    return child;
  }

  output(name: string): string {
    return this.outputs.get(name) ?? '';
  }

  /** Sends a signal to every process that has `within` in its command line, or works in that folder. */
  signal(signal: NodeJS.Signals, within = this.folder): void {
    for (const pid of this.processes(within)) {
      try {
        process.kill(pid, signal);
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  /** PostgreSQL's processes are no descendants of Patroni, and belong to no group of it: they are known by their folder. */
  processes(within = this.folder): number[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .map(Number)
      .filter((pid) => isWithin(pid, within));
  }

  end(): void {
    process.removeListener('exit', this.endWithUs);
    this.signal('SIGKILL');
  }
}

function isWithin(pid: number, folder: string): boolean {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
    return command.includes(folder) || (command !== '' && readlinkSync(`/proc/${pid}/cwd`).startsWith(folder));
  } catch {
    // It has ended, or is another user's.
    return false;
  }
}
