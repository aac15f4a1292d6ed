import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { freePort } from './free-port.js';
import { heldChild } from './held.js';
import { newFolder } from './new-folder.js';

/** The proxy in front of two cells, with the configuration that the guide has. */
export interface CellProxy {
  /** Routes the keys with these prefixes to the cell b, as the guide says. */
  move(prefixes: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

export type ProxyKind = 'haproxy' | 'nginx';

const FOLDER = join(import.meta.dirname, '../../deploy/cells');
const read = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

/** Its address, which stands in PUBLIC_URL of the cells, is known before them. */
export async function prepareProxy(
  kind: ProxyKind,
): Promise<{ url: string; start(cells: readonly string[]): Promise<CellProxy> }> {
  const port = await freePort();
  return {
    url: `http://127.0.0.1:${port}`,
    async start(cells) {
      const [a, b] = cells.map((url) => new URL(url).port);
      const folder = newFolder();
      const filled = (text: string): string =>
        text
          .replace(/\b3001\b/g, a ?? '')
          .replace(/\b3002\b/g, b ?? '')
          .replace(/(bind |listen )\S*?8080/, `$1127.0.0.1:${port}`)
          .replaceAll('/etc/haproxy', folder)
          .replaceAll('/etc/nginx', folder);
      return kind === 'haproxy' ? haproxy(port, folder, filled) : nginx(port, folder, filled);
    },
  };
}

async function haproxy(port: number, folder: string, filled: (text: string) => string): Promise<CellProxy> {
  const config = join(folder, 'haproxy.cfg');
  writeFileSync(config, filled(read('haproxy.cfg')));
  writeFileSync(join(folder, 'keys.map'), read('keys.map'));
  const child = started('haproxy', ['-W', '-f', config], folder);
  await isOpen(port);
  return {
    async move(prefixes) {
      const lines = prefixes.map((prefix) => `${prefix} b\n`).join('');
      writeFileSync(join(folder, 'keys.map'), read('keys.map') + lines);
      child.kill('SIGUSR2');
      await routesTo(port, prefixes);
    },
    stop: () => ended(child),
  };
}

async function nginx(port: number, folder: string, filled: (text: string) => string): Promise<CellProxy> {
  const config = join(folder, 'nginx.conf');
  mkdirSync(join(folder, 'tmp'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/tmp;`);
  const head = `daemon off; master_process on; pid ${folder}/pid; error_log ${folder}/error.log; user root;`;
  writeFileSync(
    config,
    `${head} events {} http { access_log off; ${paths.join(' ')}\n${filled(read('nginx.conf'))}\n}`,
  );
  writeFileSync(join(folder, 'moved-keys.map'), read('moved-keys.map'));
  const child = started('nginx', ['-c', config], folder);
  await isOpen(port);
  return {
    async move(prefixes) {
      writeFileSync(join(folder, 'moved-keys.map'), prefixes.map((prefix) => `~^${prefix} b;\n`).join(''));
      child.kill('SIGHUP');
      await routesTo(port, prefixes);
    },
    stop: () => ended(child),
  };
}

function started(program: string, parameters: readonly string[], cwd: string): ChildProcess {
  const child = spawn(program, parameters, { stdio: ['ignore', 'ignore', 'ignore'], cwd });
  return heldChild(child, 'SIGTERM');
}

const isOpen = (port: number): Promise<unknown> => eventually(() => fetch(`http://127.0.0.1:${port}/health/live`));

/** The old workers of a proxy serve their connections to the end. */
async function routesTo(port: number, prefixes: readonly string[]): Promise<void> {
  await eventually(async () => {
    const response = await fetch(`http://127.0.0.1:${port}/cells/b/health/live`, {
      headers: { Connection: 'close', 'API-KEY': prefixes[0] ?? '' },
    });
    if (response.status !== 200) throw new Error(`the proxy answers ${response.status}`);
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
