import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { chooseUser } from '../../src/embedded-postgres/owner.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { held } from '../support/held.js';
import { requirePrograms } from '../support/programs.js';

/** A server of the PostgreSQL that the machine itself has, with the tools that fit it. */
export interface SystemPostgres {
  /** Of the database `postgres`, as superuser. */
  readonly url: string;
  readonly version: string;
  /** Runs one of its programs, such as `pg_dump`, and returns what it prints. */
  run(program: string, parameters: readonly string[]): string;
  stop(): Promise<void>;
}

/** Where a whole PostgreSQL is installed. */
export function binaries(): string {
  requirePrograms('pg_config', 'pg_dump');
  const folder = execFileSync('pg_config', ['--bindir'], { encoding: 'utf8' }).trim();
  const absent = ['initdb', 'postgres', 'pg_dump', 'pg_restore'].filter(
    (program) => !existsSync(join(folder, program)),
  );
  if (absent.length > 0) throw new Error(`${absent.join(', ')} is absent in ${folder}: apt-get install postgresql`);
  return folder;
}

export async function startSystemPostgres(): Promise<SystemPostgres> {
  const bin = binaries();
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-system-postgres-'));
  const owner = chooseUser(folder);
  if (owner !== undefined) chownSync(folder, owner.uid, owner.gid);
  const data = join(folder, 'data');
  execFileSync(join(bin, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-N'], { ...owner, stdio: 'ignore' });
  const port = await freePort();
  const settings = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'fsync=off'];
  const server: ChildProcess = spawn(join(bin, 'postgres'), ['-D', data, '-p', String(port), ...settings], {
    ...owner,
    stdio: 'ignore',
  });
  const endWithUs = () => void server.kill('SIGQUIT');
  process.once('exit', endWithUs);
  const url = `postgresql://postgres@127.0.0.1:${port}/postgres`;
  return {
    url,
    version: await eventually(() => versionOf(url)),
    run: (program, parameters) =>
      execFileSync(join(bin, program), parameters, { encoding: 'utf8', stdio: 'pipe', maxBuffer: 64 * 1024 ** 2 }),
    stop: held(async () => {
      process.removeListener('exit', endWithUs);
      const ended = once(server, 'exit');
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    }),
  };
}

async function versionOf(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version');
  await client.end();
  return rows[0]?.server_version ?? '';
}
