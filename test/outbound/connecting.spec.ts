import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createInterface } from 'node:readline';
import { guardedAgents } from '../../src/outbound/guarded-agents.js';
import { networkFailure } from '../../src/outbound/network-errors.js';
import { type DnsServer, startDnsServer } from '../support/dns-server.js';
import { held, heldChild } from '../support/held.js';

let dns: DnsServer;
beforeAll(async () => void (dns = await startDnsServer(0)));
afterAll(() => dns.close());

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

test.each([
  ['ECONNREFUSED', 'unreachable', 'partner could not be reached: it refuses connections.'],
  ['ENOTFOUND', 'unreachable', 'partner could not be reached: its name is not known.'],
  ['CERT_HAS_EXPIRED', 'unreachable', 'partner could not be reached: its certificate has expired.'],
  ['EOTHER', 'unreachable', 'partner could not be reached: the connection failed (EOTHER).'],
  [undefined, 'unreachable', 'partner could not be reached: the connection failed.'],
  ['EPIPE', 'broken', 'The connection to partner broke before its whole answer had come.'],
  ['HPE_INVALID_CONSTANT', 'broken', 'partner sent invalid HTTP (HPE_INVALID_CONSTANT).'],
])('an error with the code %s is %s: %s', (code, kind, message) => {
  expect(networkFailure({ code }, 'partner', false)).toEqual({ kind, message });
});
