import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type BuiltService, startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { reportFigures, shortOrLong } from '../support/faults.js';
import { held } from '../support/held.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const MIB = 1024 * 1024;
/** That read nothing. */
const PIPELINING = shortOrLong(200, 2_000);
/** More than one address may have. */
const CONNECTIONS = shortOrLong(550, 2_000);
const ADMIN = { Authorization: 'Bearer test-admin-token-0123456789' };
/** The limits of the service (`SERVER_LIMITS`). */
const PIPELINED = 64;
const MAX_OF_ADDRESS = 500;
const MAX_RSS_GROWTH = shortOrLong(50, 100) * MIB;
/** All others call from 127.0.0.1. */
const ATTACKERS = ['127.0.0.66', '127.0.0.67', '127.0.0.68', '127.0.0.69'];

let database: TestDatabase;
let service: BuiltService;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ databaseUrl: database.url });
});
afterAll(async () => {
  await service.end('SIGKILL');
  await database.drop();
});

const descriptors = () => readdirSync(`/proc/${service.child.pid}/fd`).length;
const residentBytes = () =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${service.child.pid}/status`, 'utf8'))?.[1]) * 1024;

interface Caller {
  readonly socket: Socket;
  received: string;
}

async function open(localAddress: string, text = ''): Promise<Caller> {
  const { port } = new URL(service.url);
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress });
  const caller: Caller = { socket, received: '' };
  socket.on('error', () => undefined);
  socket.on(
    'data',
    (chunk: Buffer) => (caller.received = (caller.received + chunk.toString('latin1')).slice(-100_000)),
  );
  held(async () => void socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return caller;
}

/** Callers that send a text and read nothing. */
async function crowd(size: number, text: string, addresses = ATTACKERS): Promise<Caller[]> {
  const callers: Caller[] = [];
  while (callers.length < size) {
    const opened = await Promise.all(
      Array.from({ length: Math.min(50, size - callers.length) }, (_, i) =>
        open(addresses[i % addresses.length]!, text),
      ),
    );
    for (const { socket } of opened) socket.pause();
    callers.push(...opened);
  }
  return callers;
}

const requestOf = (path: string, ...headers: string[]) =>
  [`GET ${path} HTTP/1.1`, 'Host: x', ...headers, '', ''].join('\r\n');

async function warmUp(path: string): Promise<void> {
  for (let i = 0; i < 200; i++) await (await fetch(service.url + path)).arrayBuffer();
}

/** Closes all callers, and waits until the service has closed their descriptors. */
async function expectNoneLeft(callers: readonly Caller[], before: number): Promise<void> {
  for (const { socket } of callers) socket.destroy();
  await eventually(() => expect(descriptors()).toBeLessThanOrEqual(before + 5));
}

/** Callers with other addresses, and health checks and administrators of the same one, still get in. */
async function expectServed(): Promise<void> {
  const signal = AbortSignal.timeout(20_000);
  expect((await fetch(`${service.url}/health/ready`, { signal })).status).toBe(200);
  expect((await fetch(`${service.url}/admin/v1/haulers`, { headers: ADMIN, signal })).status).toBe(200);
  expect((await fetch(`${service.url}/docs/scale.json`, { signal })).status).toBe(200);
  const sameAddress = await open(ATTACKERS[0]!, requestOf('/health/ready', 'Connection: close'));
  await eventually(() => expect(sameAddress.received).toContain('200 OK'));
  const admin = await open(
    ATTACKERS[0]!,
    requestOf('/admin/v1/haulers', `Authorization: ${ADMIN.Authorization}`, 'Connection: close'),
  );
  await eventually(() => expect(admin.received).toContain('200 OK'));
}

test.each(['/docs/swagger-ui-bundle.js', '/docs/admin.json', '/console', '/health/ready', '/nope'])(
  `${PIPELINING} connections that pipeline ${PIPELINED} requests for %s and read nothing take bounded memory`,
  async (path) => {
    await warmUp(path);
    const [openBefore, rssBefore] = [descriptors(), residentBytes()];
    const callers = await crowd(PIPELINING, requestOf(path).repeat(PIPELINED));
    await expectServed();
    const [openDuring, growth] = [descriptors(), residentBytes() - rssBefore];
    await expectNoneLeft(callers, openBefore);
    reportFigures(`unread ${path}`, {
      connections: PIPELINING,
      'rss before MiB': Math.round(rssBefore / MIB),
      'growth MiB': Math.round(growth / MIB),
      'descriptors before': openBefore,
      'descriptors during': openDuring,
      'descriptors after': descriptors(),
    });
    expect(growth).toBeLessThan(MAX_RSS_GROWTH);
  },
  120_000,
);

const BODY = 'Content-Type: application/json';

test.each([
  ['are idle after a response', requestOf('/health/live')],
  ['send nothing', ''],
  ['send half of the headers', 'GET /health/live HTTP/1.1\r\nHost: x\r\n'],
  ['send no body to an unknown path', requestOf('/nope', BODY, 'Content-Length: 100').replace('GET', 'POST')],
  [
    'send a part of a body that is refused',
    `${requestOf('/admin/v1/haulers', BODY, 'Transfer-Encoding: chunked').replace('GET', 'POST')}1\r\n{\r\n`,
  ],
  [
    'send a part of a sign-in',
    `${requestOf('/console/api/session', BODY, 'Transfer-Encoding: chunked').replace('GET', 'POST')}1\r\n{\r\n`,
  ],
])(
  `${CONNECTIONS} connections of one address that %s keep nobody out`,
  async (_what, text) => {
    const openBefore = descriptors();
    const callers = await crowd(CONNECTIONS, text, [ATTACKERS[0]!]);
    await expectServed();
    expect(descriptors() - openBefore).toBeLessThanOrEqual(MAX_OF_ADDRESS + 20);
    await expectNoneLeft(callers, openBefore);
  },
  120_000,
);
