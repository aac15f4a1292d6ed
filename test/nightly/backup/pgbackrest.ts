import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, chownSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chooseUser } from '../../../src/embedded-postgres/owner.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { held, heldChild } from '../../support/held.js';
import { requirePrograms } from '../../support/programs.js';
import { onServer } from '../../support/test-run.js';
import { binaries } from '../system-postgres.js';

const run = promisify(execFile);
const DEPLOY = join(import.meta.dirname, '../../../deploy/backup');

/** A server of the machine's PostgreSQL that runs. */
interface RunningServer {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * A database server and its backups, with the files of `deploy/backup` as they are. Only the places differ, which the environment
 * of pgBackRest names.
 */
export class BackedUpServer implements RunningServer {
  private constructor(
    readonly url: string,
    readonly stop: () => Promise<void>,
    private readonly place: Place,
  ) {}

  static async start(): Promise<BackedUpServer> {
    requirePrograms('pgbackrest');
    const place = new Place();
    const data = place.folder('original');
    await place.run(join(binaries(), 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-N']);
    appendFileSync(join(data, 'postgresql.conf'), `include '${place.file('postgresql.conf')}'\n`);
    const { url, stop } = await place.serve(data);
    const server = new BackedUpServer(url, stop, place);
    await server.pgbackrest('stanza-create');
    await server.pgbackrest('check');
    return server;
  }

  /** A command of the guide; returns the seconds that it took. */
  async pgbackrest(...parameters: string[]): Promise<number> {
    const start = performance.now();
    await this.place.run('pgbackrest', ['--stanza=haulbridge', ...parameters]);
    return (performance.now() - start) / 1000;
  }

  /** Waits until the write-ahead log up to now is in the backups. */
  async archived(): Promise<void> {
    const segment = await onServer(this.url, async (client) => {
      const { rows } = await client.query<{ name: string }>('SELECT pg_walfile_name(pg_switch_wal()) AS name');
      return rows[0]?.name ?? '';
    });
    await eventually(async () => {
      const { rows } = await onServer(this.url, (client) =>
        client.query<{ name: string }>('SELECT last_archived_wal AS name FROM pg_stat_archiver'),
      );
      if ((rows[0]?.name ?? '') < segment) throw new Error(`${segment} is not archived yet`);
    }, 60_000);
  }

  /** A second server beside this one, as it was at that moment, and the seconds until it took writes. */
  async restore(moment: string): Promise<RunningServer & { readonly seconds: number }> {
    const copy = this.place.folder('copy');
    const target = ['--type=time', `--target=${moment}`, '--target-action=promote'];
    const start = performance.now();
    await this.pgbackrest(`--pg1-path=${copy}`, '--archive-mode=off', '--delta', ...target, 'restore');
    const server = await this.place.serve(copy);
    await eventually(async () => {
      const { rows } = await onServer(server.url, (client) =>
        client.query<{ recovers: boolean }>('SELECT pg_is_in_recovery() AS recovers'),
      );
      if (rows[0]?.recovers !== false) throw new Error('the copy is still in recovery');
    }, 120_000);
    return { ...server, seconds: (performance.now() - start) / 1000 };
  }
}

/** A folder with the configuration, the backups and the data of the servers, which run as the user of PostgreSQL. */
class Place {
  private readonly path = mkdtempSync(join(tmpdir(), 'haulbridge-pgbackrest-'));
  private readonly owner = chooseUser(this.path);
  private readonly env: NodeJS.ProcessEnv;

  constructor() {
    held(() => Promise.resolve(rmSync(this.path, { recursive: true, force: true })));
    this.give(this.path);
    for (const name of ['pgbackrest.conf', 'postgresql.conf']) cpSync(join(DEPLOY, name), this.file(name));
    this.env = {
      PATH: process.env['PATH'],
      PGBACKREST_CONFIG: this.file('pgbackrest.conf'),
      PGBACKREST_REPO1_PATH: this.folder('backups'),
      PGBACKREST_LOG_PATH: this.folder('log'),
      PGBACKREST_LOCK_PATH: this.folder('lock'),
      PGBACKREST_PG1_PATH: join(this.path, 'original'),
      PGBACKREST_PG1_SOCKET_PATH: this.path,
      PGBACKREST_PG1_USER: 'postgres',
    };
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** A new folder of that user. */
  folder(name: string): string {
    const path = join(this.path, name);
    mkdirSync(path, { mode: 0o700 });
    this.give(path);
    return path;
  }

  async run(program: string, parameters: readonly string[]): Promise<void> {
    await run(program, parameters, { ...this.owner, env: this.env, cwd: this.path });
  }

  async serve(data: string): Promise<RunningServer> {
    const port = await freePort();
    // Both servers have sockets in this folder, by their ports; pgBackRest looks for that of the original.
    this.env['PGBACKREST_PG1_PORT'] ??= String(port);
    const settings = ['listen_addresses=127.0.0.1', `unix_socket_directories=${this.path}`].flatMap((s) => ['-c', s]);
    const server = heldChild(
      spawn(join(binaries(), 'postgres'), ['-D', data, '-p', String(port), ...settings], {
        ...this.owner,
        cwd: this.path,
        env: this.env,
        stdio: 'ignore',
      }),
      'SIGQUIT',
    );
    const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
    await eventually(() => onServer(url, (client) => client.query('SELECT')), 60_000);
    const stop = async () => {
      const ended = once(server, 'exit');
      server.kill('SIGINT');
      await ended;
    };
    return { url, stop };
  }

  private give(path: string): void {
    if (this.owner !== undefined) chownSync(path, this.owner.uid, this.owner.gid);
  }
}
