import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { type ErrorBody, Hauler } from '../acceptance/support/hauler.js';
import { HostedCustomer } from '../acceptance/support/hosted.js';
import { startOwnService } from '../acceptance/support/service.js';
import { call, listed, type Service } from '../acceptance/support/target.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { held, heldChild } from '../support/held.js';
import { CLIENT, FormBrowser, startIdentityProvider } from '../support/identity-provider.js';
import { requiredProgram, requireLinux, requirePrograms } from '../support/programs.js';
import { testServer } from '../support/test-run.js';

type ProxyKind = 'haproxy' | 'nginx';

/** The loopback addresses that stand for the hosts of `deploy/cells`. */
const HOSTS = { partners: '127.0.0.1', a: '127.0.0.2', b: '127.0.0.3' };

const FOLDER = join(import.meta.dirname, '../../deploy/cells');

/** Starts a proxy with its file of `deploy/cells`, whose hosts and ports are those of this machine. */
async function startCellProxy(kind: ProxyKind, port: number, cells: Readonly<Record<'a' | 'b', string>>) {
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

/** Two services and a proxy start. */
const HOOK_MS = 180_000;
const CELLS = ['a', 'b'] as const;
type Cell = (typeof CELLS)[number];
const otherOf = (name: Cell): Cell => (name === 'a' ? 'b' : 'a');

describe.each<ProxyKind>(['haproxy', 'nginx'])('two cells behind %s', (kind) => {
  /** Each cell at its own host. */
  const cells = new Map<Cell, Service>();
  /** The address of all partners. */
  let shared: string;

  beforeAll(async () => {
    requireLinux();
    requirePrograms(kind);
    const port = await freePort();
    const urlOf = (host: string) => `http://${host}:${port}`;
    shared = urlOf(HOSTS.partners);
    const provider = await startIdentityProvider(
      CELLS.map((name) => urlOf(HOSTS[name])),
      new Map([['dana', ['dispatch']]]),
    );
    held(provider.close);
    // A person has another role in each cell.
    const roles = { a: 'operator=dispatch', b: 'viewer=dispatch' };
    const start = (name: Cell, secretsKey: string) =>
      startOwnService({
        env: {
          CELL: name,
          PUBLIC_URL: urlOf(HOSTS[name]),
          TRUST_PROXY: '127.0.0.1',
          SECRETS_KEY: secretsKey.repeat(32),
          OIDC_ISSUER: provider.issuer,
          OIDC_CLIENT_ID: CLIENT.clientId,
          OIDC_CLIENT_SECRET: CLIENT.clientSecret,
          OIDC_ROLES: roles[name],
        },
      });
    const [a, b] = await Promise.all([start('a', 'c3'), start('b', 'd4')]);
    await startCellProxy(kind, port, { a: a.url, b: b.url });
    cells.set('a', { url: urlOf(HOSTS.a), adminToken: a.adminToken });
    cells.set('b', { url: urlOf(HOSTS.b), adminToken: b.adminToken });
  }, HOOK_MS);

  const at = (name: Cell): Service => {
    const service = cells.get(name);
    if (service === undefined) throw new TypeError('the cell has not started');
    return service;
  };

  test.each(CELLS)('a partner of cell %s pushes to the address of all partners', async (name) => {
    const hauler = await Hauler.create({ service: at(name) });
    const behindKey = hauler.at({ ...at(name), url: shared });
    expect(await hauler.key()).toMatch(new RegExp(`^hb_${name}_`));
    expect((await behindKey.createAccount({ accountName: `Of cell ${name}` })).status).toBe(200);
    const accounts = (cell: Cell) => listed<{ name: string }>(`/accounts?search=Of%20cell%20${name}`, at(cell));
    expect([(await accounts(name)).length, (await accounts(otherOf(name))).length]).toEqual([1, 0]);
  });

  test.each(CELLS)('a key of cell %s is 401 at the host of the other one, which names the cell', async (name) => {
    const hauler = await Hauler.create({ service: at(name) });
    const other = at(otherOf(name));
    const headers = { 'PLATFORM-API-KEY': await hauler.key() };
    const { status, body } = await call<ErrorBody>('POST', '/platform-api/v1/accounts', { headers, body: {} }, other);
    expect([status, body.error.message]).toEqual([401, expect.stringContaining(`belongs to cell ${name},`)]);
  });

  test.each(CELLS)(
    'videos of cell %s are listed at the address of all partners, with links to its host',
    async (name) => {
      const customer = await HostedCustomer.create(at(name));
      await customer.record([0]);
      const listing = await fetch(
        `${shared}/video-platform/v1/videos/continuous?${new URLSearchParams({
          customerId: customer.id,
          truckId: 'TRUCK-7',
          startTime: '2026-01-31T08:30:00Z',
          endTime: '2026-01-31T08:40:00Z',
        }).toString()}`,
        { headers: { 'API-KEY': customer.key } },
      );
      const { data } = (await listing.json()) as { data: { recordings: { downloadUrl: string }[] } };
      const link = data.recordings[0]?.downloadUrl ?? '';
      expect(link.startsWith(`${at(name).url}/media/`)).toBe(true);
      expect((await fetch(link)).status).toBe(200);
      const elsewhere = link.replace(at(name).url, at(otherOf(name)).url);
      expect((await fetch(elsewhere)).status).toBe(401);
    },
  );

  test('a person signs in at the host of each cell, with the role that the person has there', async () => {
    const browser = new FormBrowser();
    for (const [name, role] of [['a', 'operator'] as const, ['b', 'viewer'] as const]) {
      const { url } = at(name);
      const isEnd = ({ href, pathname }: URL) => href.startsWith(url) && !pathname.startsWith('/console/api/');
      const end = await browser.walk(`${url}/console/api/oidc/sign-in`, 'dana', isEnd);
      expect([end.origin, end.pathname, end.search]).toEqual([url, '/console/', '']);
      const session = await browser.request(`${url}/console/api/session`);
      expect(await session.json()).toMatchObject({ role, isPerson: true });
    }
    const cookie = browser.cookieOf(at('a').url, 'haulbridge_session') ?? '';
    const headers = { Cookie: `haulbridge_session=${cookie}` };
    const statusAt = async (name: Cell) => (await call('GET', '/admin/v1/haulers', { headers }, at(name))).status;
    expect([await statusAt('a'), await statusAt('b')]).toEqual([200, 401]);
  });

  test('a request without a key is for cell a', async () => {
    const before = (await listed('/haulers', at('a'))).length;
    const { body } = await call<{ pagination: { totalItems: number } }>(
      'GET',
      '/admin/v1/haulers',
      { headers: { Authorization: `Bearer ${at('a').adminToken}` } },
      { ...at('a'), url: shared },
    );
    expect([before > 0, body.pagination.totalItems]).toEqual([true, before]);
  });
});
