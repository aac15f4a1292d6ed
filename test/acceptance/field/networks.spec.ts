import { beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createInterface } from 'node:readline';
import { type DnsServer, startDnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { held, heldChild } from '../../support/held.js';
import { sampleVideo } from '../../support/sample-video.js';
import { Hauler } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin, administer, call, type Service, target } from '../support/target.js';

/** Networks between the service, its callers and its partners: what was reported, and what the service does. */
const CUSTOMER = 'ACME Hauling';
const bytes = sampleVideo(5_000);
const RANGE = { startTime: '2026-01-31T08:30:00Z', endTime: '2026-01-31T08:31:00Z' };

/** Uploads a recording to the reference partner; returns a key that reads it. */
async function upload(service: Service = target): Promise<{ key: string; truckId: string }> {
  const truckId = `TRUCK-${Math.random()}`;
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId, cameraId: 'front', ...RANGE }).toString();
  const headers = { Authorization: `Bearer ${service.adminToken}`, 'Content-Type': 'video/mp4' };
  expect((await call('POST', `/admin/v1/hosted/recordings?${query}`, { headers, body: bytes }, service)).status).toBe(
    201,
  );
  const { key } = await administer<{ key: string }>(
    'POST',
    '/api-keys',
    { interfaces: ['vision'], allCustomers: true },
    service,
  );
  return { key, truckId };
}

/** The link of the uploaded recording. */
async function linkOf(
  { key, truckId }: { key: string; truckId: string },
  service: Service,
  more: Record<string, string> = {},
): Promise<string> {
  const query = new URLSearchParams({ customerId: CUSTOMER, truckId, ...RANGE }).toString();
  const path = `/video-platform/v1/videos/continuous?${query}`;
  const { body } = await call<{ data: { recordings: { downloadUrl: string }[] } }>(
    'GET',
    path,
    { headers: { 'API-KEY': key, ...more } },
    service,
  );
  return body.data.recordings[0]?.downloadUrl ?? '';
}

let dns: DnsServer;
let proxied: OwnService;
beforeAll(async () => {
  dns = await startDnsServer(0);
  held(() => dns.close());
  const env = { OUTBOUND_NAME_SERVERS: `127.0.0.1:${dns.port}`, TRUST_PROXY: '127.0.0.1', SHUTDOWN_DRAIN: '4s' };
  proxied = await startOwnService({ env });
}, 120_000);

const SERVER = `require('node:http').createServer((_, response) => response.end())
  .listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port) })`;

/**
 * A server on 127.0.0.1 whose handshakes take a second: it is stopped and has a full queue, so the kernel drops the first
 * packet of a client, which sends it again after a second.
 */
async function slowServer(): Promise<{ readonly port: number; readonly wake: () => void }> {
  const child = heldChild(spawn(process.execPath, ['-e', SERVER], { stdio: ['ignore', 'pipe', 'inherit'] }));
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const port = Number(line);
  child.kill('SIGSTOP');
  const queued = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => undefined));
  held(async () => queued.forEach((socket) => socket.destroy()));
  await Promise.all(queued.slice(0, 2).map((socket) => once(socket, 'connect')));
  return { port, wake: () => child.kill('SIGCONT') };
}

// Source: a partner whose IPv6 address leads nowhere, and whose handshake over IPv4 takes a second: "does not answer".
describe('a partner with two addresses', () => {
  /** Whether the check of a connection reaches it. */
  async function isReached(baseUrl: string): Promise<boolean> {
    const hauler = await Hauler.create({ service: proxied });
    const id = await hauler.connect({ interface: 'site', baseUrl, enabled: false });
    return (await admin<{ reachable: boolean }>('POST', `/connections/${id}/check`, undefined, proxied)).body.reachable;
  }

  test.concurrent.each([
    ['refuses connections', '::1', 'refusing.example'],
    ['leads nowhere', '100::1', 'nowhere.example'],
  ])('is reached with a handshake of 1 s, although its IPv6 address %s (decision 50)', async (_, ipv6, name) => {
    const { port, wake } = await slowServer();
    dns.answer(name, ['127.0.0.1', ipv6]);
    setTimeout(wake, 500);
    expect(await isReached(`http://${name}:${port}`)).toBe(true);
  });

  test('is reached although only its IPv6 address answers (decision 50)', async () => {
    const server = createServer((_, response) => void response.end()).listen(0, '::1');
    held(async () => void server.close());
    await once(server, 'listening');
    dns.answer('six.example', ['127.0.0.1', '::1']);
    expect(await isReached(`http://six.example:${(server.address() as AddressInfo).port}`)).toBe(true);
  });
});

describe('download links of a service behind a proxy that ends TLS', () => {
  const forwarded = {
    'X-Forwarded-Host': 'video.example.com',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-For': '192.0.2.7',
  };
  let links: ReadonlyMap<string, string>;
  beforeAll(async () => {
    const env = { PUBLIC_URL: 'https://files.example.com/base/', TRUST_PROXY: '1' };
    const named = await startOwnService({ beside: proxied, env });
    const uploaded = await upload(proxied);
    links = new Map([
      ['TRUST_PROXY=127.0.0.1', await linkOf(uploaded, proxied, forwarded)],
      ['no TRUST_PROXY', await linkOf(await upload(), target, forwarded)],
      ['PUBLIC_URL and TRUST_PROXY=1', await linkOf(uploaded, named, forwarded)],
    ]);
  }, 120_000);

  // Source: every link began with http:// and the name of a container.
  test.each([
    ['TRUST_PROXY=127.0.0.1', /^https:\/\/video\.example\.com\/media\//],
    ['no TRUST_PROXY', /^http:\/\/127\.0\.0\.1:/],
    ['PUBLIC_URL and TRUST_PROXY=1', /^https:\/\/files\.example\.com\/base\/media\//],
  ])('begin with the right address with %s (decisions 46, 63)', (name, expected) => {
    expect(links.get(name)).toMatch(expected);
  });
});

// Source: the console of a customer showed a black picture: its player is on another site.
describe('a player on another site', () => {
  let link: string;
  beforeAll(async () => {
    link = await linkOf(await upload(), target);
  });

  test.each<[string, string, Record<string, string>, number, string]>([
    ['the whole file', 'GET', {}, 200, String(bytes.length)],
    ['its beginning, as a video element does', 'GET', { Range: 'bytes=0-' }, 206, String(bytes.length)],
    ['a part in the middle', 'GET', { Range: 'bytes=100-199' }, 206, '100'],
    ['its end', 'GET', { Range: 'bytes=-64' }, 206, '64'],
    ['its size', 'HEAD', {}, 200, String(bytes.length)],
  ])('gets %s, and may embed and read it (decisions 14, 46)', async (_, method, range, status, length) => {
    const response = await fetch(link, { method, headers: { Origin: 'https://player.example', ...range } });
    expect(response.status).toBe(status);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'accept-ranges': 'bytes',
      'content-length': length,
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': expect.stringContaining('Content-Range'),
    });
    expect(response.headers.has('x-frame-options')).toBe(false);
    expect(response.headers.has('access-control-allow-credentials')).toBe(false);
    await response.arrayBuffer();
  });

  test('may read no answer of an API (decision 14)', async () => {
    const { headers } = await call('GET', '/health/live', { headers: { Origin: 'https://player.example' } });
    expect(headers.has('access-control-allow-origin')).toBe(false);
  });
});

/** A GET on a connection of the agent. */
function getBy(agent: Agent, url: string): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  get(url, { agent }, (response) => response.resume().once('end', () => resolve(response))).on('error', reject);
  return promise;
}

// Source: the service closed an idle connection in the moment in which the balancer used it: 502.
test('a balancer that keeps its connections for ten minutes reads that the service keeps them for longer (decision 63)', async () => {
  const { headers } = await fetch(`${target.url}/health/live`);
  expect(Number(/timeout=(\d+)/.exec(headers.get('keep-alive') ?? '')?.[1])).toBeGreaterThanOrEqual(620);
});

// Source: each deployment lost the requests of the seconds in which the balancer had not noticed the end.
test('a stop serves requests for SHUTDOWN_DRAIN, each the last on its connection, while it is not ready (decision 62)', async () => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const before = await getBy(agent, `${proxied.url}/health/ready`);
  expect([before.statusCode, before.headers.connection]).toEqual([200, 'keep-alive']);
  const pending = request(`${proxied.url}/admin/v1/haulers`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${proxied.adminToken}`, 'Content-Type': 'application/json' },
  });
  pending.write('{"name":');
  const started = performance.now();
  const ended = proxied.end('SIGTERM');
  await eventually(async () => expect((await getBy(agent, `${proxied.url}/health/ready`)).statusCode).toBe(503));
  const during = await getBy(agent, `${proxied.url}/health/live`);
  expect([during.statusCode, during.headers.connection]).toEqual([200, 'close']);
  expect((await proxied.admin('POST', '/haulers', { name: 'Late' })).status).toBe(201);
  // The request that was in flight is answered.
  const answered = once(pending, 'response') as Promise<[IncomingMessage]>;
  pending.end('"In flight"}');
  const [response] = await answered;
  expect(response.resume().statusCode).toBe(201);
  expect(await ended).toBe(0);
  expect(performance.now() - started).toBeGreaterThan(4_000);
  await expect(getBy(new Agent(), `${proxied.url}/health/live`)).rejects.toThrow('ECONNREFUSED');
});
