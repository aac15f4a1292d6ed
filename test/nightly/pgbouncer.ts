import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseOwner } from '../../src/embedded-postgres/owner.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { held } from '../support/held.js';

export interface Pgbouncer {
  /** Of the same database, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

/** A pooler in transaction mode before a database, with few connections of its own so that clients must share them. */
export async function startPgbouncer(databaseUrl: string, poolSize = 3): Promise<Pgbouncer> {
  // Not in the folder of this run, which nobody else may enter.
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-pgbouncer-'));
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const listenPort = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
${pathname.slice(1)} = host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${listenPort}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${poolSize}
max_client_conn = 200
`,
  );
  // It refuses to run as root.
  const owner = chooseOwner(folder);
  if (owner !== undefined) for (const path of [folder, file]) chownSync(path, owner.uid, owner.gid);
  const child = spawn('pgbouncer', [file], { stdio: ['ignore', 'ignore', 'pipe'], ...owner });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-4000)));
  const ended = once(child, 'close');
  const endWithUs = () => void child.kill('SIGKILL');
  process.once('exit', endWithUs);
  await listens(child, listenPort, () => output);
  const url = new URL(databaseUrl);
  url.port = String(listenPort);
  return {
    url: url.href,
    stop: held(async () => {
      process.removeListener('exit', endWithUs);
      child.kill('SIGKILL');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    }),
  };
}

function listens(child: ChildProcess, port: number, output: () => string): Promise<void> {
  return eventually(async () => {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended: ${output()}`);
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.destroy();
  });
}
