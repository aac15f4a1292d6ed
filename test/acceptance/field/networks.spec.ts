import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createInterface } from 'node:readline';
import { guardedAgents } from '../../../src/outbound/guarded-agents.js';
import type { ContinuousResponse } from '../../../src/contracts/vision/vision.dto.js';
import { SERVER_LIMITS } from '../../../src/http/http-server.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { startService } from '../../support/built-service.js';
import { type DnsServer, startDnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { held, heldChild } from '../../support/held.js';
import { at, CUSTOMER, demoVideo, TRUCK, upload } from '../../support/reference-vision.js';
import { createTestDatabase, type TestDatabase } from '../../support/test-database.js';

/** Networks between the service, its callers and its partners: what was reported, and what the service does. */
let dns: DnsServer;
let service: TestApp;
let database: TestDatabase;
beforeAll(async () => {
  dns = await startDnsServer(0);
  service = await startTestApp();
  database = await createTestDatabase();
  expect((await upload(service, 0)).status).toBe(201);
});
afterAll(async () => {
  await dns.close();
  await service.close();
  await database.drop();
});

/** The status of a GET, or the code of its error. */
function statusOf(name: string, port: number, connectMs: number): Promise<number | string | undefined> {
  const nameServers = [`127.0.0.1:${dns.port}`];
  const { httpAgent: agent } = guardedAgents({ allowPrivate: true, nameServers, connectMs });
  const { promise, resolve } = Promise.withResolvers<number | string | undefined>();
  request({ host: name, port, agent }, (response) => resolve(response.resume().statusCode))
    .on('error', (error: NodeJS.ErrnoException) => resolve(error.code))
    .end();
  return promise;
}

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
  test.each([
    ['refuses connections', '::1'],
    ['leads nowhere', '100::1'],
  ])('a host with a handshake of 1 s is reached although its IPv6 address %s', async (_, ipv6) => {
    const { port, wake } = await slowServer();
    dns.answer('slow.example', ['127.0.0.1', ipv6]);
    const status = statusOf('slow.example', port, 5_000);
    setTimeout(wake, 300);
    expect(await status).toBe(200);
  });

  test('a host that is reached only over IPv6 is reached', async () => {
    const server = createServer((_, response) => void response.end()).listen(0, '::1');
    held(async () => void server.close());
    await once(server, 'listening');
    dns.answer('six.example', ['127.0.0.1', '::1']);
    expect(await statusOf('six.example', (server.address() as AddressInfo).port, 5_000)).toBe(200);
  });

  test('a host that does not finish its handshake is given up in time', async () => {
    const { port } = await slowServer();
    dns.answer('stopped.example', ['127.0.0.1']);
    const started = performance.now();
    expect(await statusOf('stopped.example', port, 200)).toBe('ETIMEDOUT');
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

interface Answer {
  readonly response: IncomingMessage;
  readonly socket: object;
}

/** A GET on a connection of the agent. */
function getBy(agent: Agent, url: string): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  get(url, { agent }, (response) =>
    response.resume().once('end', () => resolve({ response, socket: response.socket })),
  ).on('error', reject);
  return promise;
}

describe('a stop behind a load balancer', () => {
  // Source: each deployment lost the requests of the seconds in which the balancer had not noticed the end.
  test.concurrent.each(['1', '2'])(
    'of %s processes serves requests for SHUTDOWN_DRAIN, each on its last turn, while they are not ready',
    async (WEB_CONCURRENCY) => {
      const built = await startService({ databaseUrl: database.url, env: { SHUTDOWN_DRAIN: '4s', WEB_CONCURRENCY } });
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const before = await getBy(agent, `${built.url}/health/ready`);
      expect([before.response.statusCode, before.response.headers.connection]).toEqual([200, 'keep-alive']);
      const pending = request(`${built.url}/admin/v1/haulers`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, 'Content-Type': 'application/json' },
      });
      pending.write('{"name":');
      const started = performance.now();
      const ended = built.end('SIGTERM');
      await eventually(async () =>
        expect((await getBy(agent, `${built.url}/health/ready`)).response.statusCode).toBe(503),
      );
      const during = await getBy(agent, `${built.url}/health/live`);
      expect([during.response.statusCode, during.response.headers.connection]).toEqual([200, 'close']);
      expect((await built.admin('POST', '/haulers', { name: 'Late' })).status).toBe(201);
      // The request that was in flight is answered.
      const answered = once(pending, 'response') as Promise<[IncomingMessage]>;
      pending.end('"In flight"}');
      const [response] = await answered;
      expect(response.resume().statusCode).toBe(201);
      expect(await ended).toBe(0);
      expect(performance.now() - started).toBeGreaterThan(4_000);
      await expect(getBy(new Agent(), `${built.url}/health/live`)).rejects.toThrow('ECONNREFUSED');
    },
    60_000,
  );
});

describe('a balancer that keeps its connections for ten minutes', () => {
  // Source: the service closed an idle connection in the moment in which the balancer used it: 502.
  test('reads in the header that the service keeps them for longer', async () => {
    const { headers } = await fetch(`${service.url}/health/live`);
    expect(Number(/timeout=(\d+)/.exec(headers.get('keep-alive') ?? '')?.[1])).toBeGreaterThanOrEqual(620);
  });

  test('finds a connection open that was idle for HTTP_KEEP_ALIVE, although silent requests are cut off sooner', async () => {
    const limits = { ...SERVER_LIMITS, silence: 300, check: 100, keepAlive: 4_000 };
    const patient = await startTestApp({ on: service, limits });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const first = await getBy(agent, `${patient.url}/health/live`);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    const second = await getBy(agent, `${patient.url}/health/live`);
    expect(second.socket).toBe(first.socket);
    agent.destroy();
    await patient.close();
  });
});

describe('download links of a service behind a proxy that ends TLS', () => {
  const forwarded = {
    'X-Forwarded-Host': 'video.example.com',
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-For': '192.0.2.7',
  };

  // Source: every link began with http:// and the name of a container.
  test.each<[string, object, RegExp]>([
    ['TRUST_PROXY=127.0.0.1', { TRUST_PROXY: ['127.0.0.1'] }, /^https:\/\/video\.example\.com\/media\//],
    ['TRUST_PROXY=1', { TRUST_PROXY: 1 }, /^https:\/\/video\.example\.com\/media\//],
    [
      'TRUST_PROXY of another address, as anybody may send the header',
      { TRUST_PROXY: ['10.0.0.1'] },
      /^http:\/\/127\.0\.0\.1:/,
    ],
    ['no TRUST_PROXY', {}, /^http:\/\/127\.0\.0\.1:/],
    ['PUBLIC_URL', { PUBLIC_URL: 'https://files.example.com/base/' }, /^https:\/\/files\.example\.com\/base\/media\//],
    [
      'PUBLIC_URL and TRUST_PROXY',
      { PUBLIC_URL: 'https://files.example.com', TRUST_PROXY: 1 },
      /^https:\/\/files\.example\.com\/media\//,
    ],
  ])('begin with the address of %s', async (_, env, expected) => {
    const app = await startTestApp({ on: service, env });
    expect(await firstLink(app, forwarded)).toMatch(expected);
    await app.close();
  });
});

/** The link of the uploaded recording. */
async function firstLink(app: TestApp, headers: Record<string, string> = {}): Promise<string> {
  const { key } = await issueKey(app, ['vision']);
  const range = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, startTime: at(0), endTime: at(1) });
  const { body } = await app.call<ContinuousResponse>(
    'GET',
    `/video-platform/v1/videos/continuous?${range.toString()}`,
    {
      headers: { 'API-KEY': key, ...headers },
    },
  );
  return body.data.recordings?.[0]?.downloadUrl ?? '';
}

// Source: the console of a customer showed a black picture: its player is on another site.
describe('a player on another site', () => {
  const bytes = demoVideo(0);

  test.each<[string, string, Record<string, string>, number, string]>([
    ['the whole file', 'GET', {}, 200, String(bytes.length)],
    ['its beginning, as a video element does', 'GET', { Range: 'bytes=0-' }, 206, String(bytes.length)],
    ['a part in the middle', 'GET', { Range: 'bytes=100-199' }, 206, '100'],
    ['its end', 'GET', { Range: 'bytes=-64' }, 206, '64'],
    ['its size', 'HEAD', {}, 200, String(bytes.length)],
  ])('gets %s, and may embed and read it', async (_, method, range, status, length) => {
    const link = await firstLink(service);
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

  test('may read no answer of an API', async () => {
    const { headers } = await service.call('GET', '/health/live', { headers: { Origin: 'https://player.example' } });
    expect(headers.has('access-control-allow-origin')).toBe(false);
  });
});
