import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { heldChild } from './held.js';
import { requiredProgram } from './programs.js';
import { testServer } from './test-run.js';

export type ProxyKind = 'haproxy' | 'nginx';

/** The loopback addresses that stand for the hosts of `deploy/cells`. */
export const HOSTS = { partners: '127.0.0.1', a: '127.0.0.2', b: '127.0.0.3' };

const FOLDER = join(import.meta.dirname, '../../deploy/cells');

/** Starts a proxy with its file of `deploy/cells`, whose hosts and ports are those of this machine. */
export async function startCellProxy(kind: ProxyKind, port: number, cells: Readonly<Record<'a' | 'b', string>>) {
  const folder = mkdtempSync(join(testServer().folder, 'proxy-'));
  const addresses = Object.values(HOSTS).map((host) => `${host}:${port}`);
  const text = readFileSync(join(FOLDER, kind === 'haproxy' ? 'haproxy.cfg' : 'nginx.conf'), 'utf8')
    .replaceAll('a.haulbridge.example', HOSTS.a)
    .replaceAll('b.haulbridge.example', HOSTS.b)
    .replace('127.0.0.1:3001', new URL(cells.a).host)
    .replace('127.0.0.1:3002', new URL(cells.b).host)
    .replace('bind :8080', `bind ${addresses.join(',')}`)
    .replace('listen 8080;', addresses.map((address) => `listen ${address};`).join(' '));
  if (kind === 'haproxy') startHaproxy(folder, text);
  else startNginx(folder, text);
  await eventually(() => fetch(`http://${HOSTS.b}:${port}/health/ready`));
}

function startHaproxy(folder: string, text: string): void {
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(file, text);
  start('haproxy', ['-f', file], folder);
}

function startNginx(folder: string, text: string): void {
  const file = join(folder, 'nginx.conf');
  mkdirSync(join(folder, 'tmp'));
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/tmp;`);
  const main = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; user root;`;
  writeFileSync(file, `${main} events {} http { access_log off; ${paths.join(' ')}\n${text}\n}`);
  start('nginx', ['-c', file], folder);
}

/** It ends at the end of the test file. */
function start(program: ProxyKind, words: readonly string[], cwd: string): void {
  heldChild(spawn(requiredProgram(program), words, { stdio: 'ignore', cwd }), 'SIGTERM');
}
