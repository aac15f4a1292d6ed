import 'reflect-metadata';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type RequestListener } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { runKit } from '../../../src/conformance/kit.js';
import type { Report } from '../../../src/conformance/report/report.js';
import { freePort } from '../../support/free-port.js';

/** Faults of a connection that no change of an answer shows: a server stands before the sample server of the guide. */

const ROOT = join(import.meta.dirname, '../../..');
const HAULER = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
const KEY = 'any-text';

let sample: ChildProcess;
let port: number;
beforeAll(async () => {
  port = await freePort();
  const env = { PORT: String(port), PARTNER_KEY: KEY, HAULER, VIDEO: join(ROOT, 'src/demo/recordings/front-0.mp4') };
  sample = spawn(process.execPath, [join(ROOT, 'docs/guides/sample-server.mjs')], {
    env,
    stdio: ['ignore', 'pipe', 2],
  });
  await once(sample.stdout as NodeJS.ReadableStream, 'data');
});
afterAll(async () => {
  sample.kill();
  await once(sample, 'exit');
});

/** The ids of the rules that failed, and the number of the rules that are not proven. */
async function faultsOf(url: string, ...words: string[]) {
  let out = '';
  const given = ['--role', 'vision-server', '--url', url, '--api-key', KEY, '--customer-id', HAULER];
  await runKit([...given, '--truck-id', 'TRUCK-7', '--write', '--format', 'json', ...words], {
    out: (text) => void (out += text),
    err: (text) => void (out += text),
  });
  const { rules, summary } = JSON.parse(out) as Report;
  const failed = rules.filter(({ outcome }) => ['failed', 'warning', 'kit-error'].includes(outcome));
  return { failed: failed.map(({ id, message }) => `${id}: ${message}`), notProven: summary.notProven };
}

/** The bodies of a 500, which the sample server does not send on demand. */
const UNPROVEN = 3;

test('a correct server has no fault, and everything about it is proven in one run', async () => {
  expect(await faultsOf(`http://127.0.0.1:${port}`)).toEqual({ failed: [], notProven: UNPROVEN });
}, 60_000);

/** Passes a request to the sample server. */
function forwarded(incoming: IncomingMessage, onAnswer: (answer: IncomingMessage) => unknown): void {
  const { method, url, headers } = incoming;
  incoming.pipe(
    request({ port, method, path: url, headers: { ...headers, connection: 'close' } }, (answer) => onAnswer(answer)),
  );
}

async function withServer<T>(listener: RequestListener, use: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close().closeAllConnections();
    await once(server, 'close');
  }
}

const isFile = ({ url }: IncomingMessage) => url?.startsWith('/files/') === true;

/** Changes the head of a file, and sends its bytes. */
const withFiles =
  (
    change: (answer: IncomingMessage) => { status?: number; headers: Record<string, string>; bytes?: number },
  ): RequestListener =>
  (incoming, response) =>
    forwarded(incoming, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
      const body = Buffer.concat(chunks);
      if (!isFile(incoming)) return void response.writeHead(answer.statusCode ?? 0, answer.headers).end(body);
      const { status, headers, bytes } = change(answer);
      response.writeHead(status ?? answer.statusCode ?? 0, { ...answer.headers, ...headers });
      response.write(body.subarray(0, bytes), () => response.destroy());
    });

test('a Content-Length that is larger than the file is found by its own rule', async () => {
  const cut = withFiles(({ headers }) => ({
    headers: { 'content-length': String(Number(headers['content-length']) + 500) },
  }));
  const { failed } = await withServer(cut, faultsOf);
  expect(failed).toEqual([
    expect.stringMatching(/^VISION-167: the connection closed after \d+ bytes; Content-Length is \d+$/),
    expect.stringContaining('VISION-362: the connection closed'),
  ]);
}, 60_000);

test('a link may lead to its file by redirects, as for the platform', async () => {
  const moving: RequestListener = (incoming, response) =>
    isFile(incoming) && !incoming.url?.includes('moved')
      ? void response.writeHead(302, { Location: `${incoming.url}&moved=1` }).end()
      : forwarded(incoming, (answer) => {
          response.writeHead(answer.statusCode ?? 0, answer.headers);
          answer.pipe(response);
        });
  expect(await withServer(moving, faultsOf)).toEqual({ failed: [], notProven: UNPROVEN });
}, 60_000);

test('a list without a pagination, which is optional, leaves nothing unproven', async () => {
  const bare: RequestListener = (incoming, response) =>
    forwarded(incoming, async (answer) => {
      const chunks: Buffer[] = [];
      for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
      const body = Buffer.concat(chunks).toString('latin1');
      const headers = Object.fromEntries(Object.entries(answer.headers).filter(([name]) => name !== 'content-length'));
      if (isFile(incoming)) return response.writeHead(answer.statusCode ?? 0, answer.headers).end(body, 'latin1');
      return response
        .writeHead(answer.statusCode ?? 0, headers)
        .end(body.replace(/,"pagination":\{[^}]*\}/, ''), 'latin1');
    });
  const { failed, notProven } = await withServer(bare, faultsOf);
  expect(failed).toEqual([expect.stringContaining('VISION-007')]);
  expect(notProven).toBe(UNPROVEN);
}, 60_000);

const NONSENSE =
  'HTTP/1.1 501 Unsupported method\r\nContent-Type: text/html\r\nContent-Length: 9\r\nConnection: close\r\n\r\n<p>501</p';
const REFUSED = JSON.stringify({ success: false, error: { code: 'UNAUTHORIZED', message: 'no key' } });
const UNAUTHORIZED = `HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: ${REFUSED.length}\r\n\r\n${REFUSED}`;

/** As `http.server` of Python with HTTP/1.1: what is left of a body is the beginning of the next request. */
function serveUnread(socket: Socket): void {
  let text = '';
  const read = (chunk: Buffer): void => {
    text += chunk.toString('latin1');
    const end = text.indexOf('\r\n\r\n');
    if (end < 0) return;
    const head = text.slice(0, end);
    if (!/^[A-Z]+ /.test(head)) return void socket.end(NONSENSE);
    if (head.startsWith('POST') && !head.includes(`\r\nAPI-KEY: ${KEY}`)) {
      text = text.slice(end + 4);
      return void socket.write(UNAUTHORIZED);
    }
    socket.off('data', read);
    const upstream = connect(port, '127.0.0.1').on('error', () => undefined);
    upstream.write(text, 'latin1');
    socket.pipe(upstream).pipe(socket);
  };
  socket.on('error', () => undefined).on('data', read);
}

test('a refused request whose body is not read is named so, and nothing else is blamed or unproven', async () => {
  const server = createTcpServer(serveUnread).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const found = await faultsOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  server.close();
  expect(found.failed).toEqual([
    expect.stringMatching(/^VISION-216: .*was not read: .*the status is 501, expected 401$/),
  ]);
  expect(found.notProven).toBe(UNPROVEN);
}, 60_000);
