import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromSource } from '../support/from-source.js';
import { TEST_SERVER_VARIABLE, testServer } from '../support/test-run.js';

/**
 * A network with these addresses and nothing else, and a name server of its own at 127.0.0.1: nothing that is sent to a
 * "public" address leaves the machine. Linux lets an ordinary user have one, where it is not forbidden.
 */
const ISOLATED = ['-r', '-m', '-n', '--', 'sh', '-c'];
const prepare = (addresses: readonly string[]) =>
  [
    'ip link set lo up',
    ...addresses.map((address) => `ip addr add ${address}/32 dev lo`),
    'mount --bind "$0" /etc/resolv.conf',
  ].join(' && ');

/** A place for files, the name server's among them. */
function folderWithResolver(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haulbridge-network-'));
  writeFileSync(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:2 attempts:1\n');
  return folder;
}

/** Whether this machine lets us: false on other systems than Linux, and where namespaces are not for everyone. */
export function hasOwnNetwork(): boolean {
  const folder = folderWithResolver();
  try {
    const tried = spawnSync('unshare', [...ISOLATED, prepare([]), join(folder, 'resolv.conf')], { stdio: 'ignore' });
    return tried.status === 0;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Runs a source in such a network and returns what it wrote to stdout. The tests' PostgreSQL is at hand there: by
 * a socket in the file system, which is the same in both networks.
 */
export async function inOwnNetwork(
  script: string,
  addresses: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string> {
  const folder = folderWithResolver();
  const server = testServer();
  const database = new URL(server.adminUrl);
  const path = join(folder, 'postgres');
  const bridge = createServer((client) => {
    const upstream = connect(Number(database.port || 5432), database.hostname);
    client.pipe(upstream).pipe(client);
    client.on('error', () => upstream.destroy());
    upstream.on('error', () => client.destroy());
  }).listen(path);
  await once(bridge, 'listening');
  database.hostname = '127.0.0.1';
  const command = `${prepare(addresses)} && exec "$@"`;
  const leash = join(import.meta.dirname, '../support/leash.mjs');
  try {
    const child = spawn(
      'unshare',
      [...ISOLATED, command, join(folder, 'resolv.conf'), process.execPath, '--import', leash, ...fromSource(script)],
      {
        stdio: ['pipe', 'pipe', 'pipe'],
        env: {
          ...process.env,
          ...env,
          HAULBRIDGE_TEST_BRIDGE: path,
          [TEST_SERVER_VARIABLE]: JSON.stringify({ ...server, adminUrl: database.href }),
        },
      },
    );
    let [out, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    const [code] = (await once(child, 'close')) as [number | null];
    if (code !== 0) throw new Error(`the script ended with ${code}: ${errors}`);
    return out;
  } finally {
    bridge.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
