import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Application, Request, Response } from 'express';
import { pino } from 'pino';
import { HttpAdapter } from '../../../src/http/express.adapter.js';
import { SERVER_LIMITS } from '../../../src/http/http-server.js';
import { Metrics } from '../../../src/observability/metrics.js';
import { observeRequests } from '../../../src/observability/request-observer.js';
import { eventually } from '../../support/eventually.js';
import { SlowClient } from '../../support/slow-client.js';

/** More than any system buffers for a caller that has gone. */
const LARGE = Buffer.alloc(64 * 1024 * 1024, 'x');
const SMALL = Buffer.from('all there is');

const announced = (response: Response, body: Buffer) => response.set('Content-Length', String(body.length));

/** Each route leaves its response in another state when the caller disconnects. */
const ROUTES: Readonly<Record<string, (response: Response) => void>> = {
  ended: (response) => announced(response, SMALL).end(SMALL),
  timed: (response) => announced(response, SMALL).end(SMALL),
  'without-length': (response) => response.write(SMALL),
  nothing: (response) => announced(response, Buffer.alloc(0)),
  'large-ended': (response) => announced(response, LARGE).end(LARGE),
  'large-not-ended': (response) => announced(response, LARGE).write(LARGE),
};

let adapter: HttpAdapter;
let url: string;
let metrics: Metrics;
const access: { LOG_ACCESS: 'all' | 'failures' } = { LOG_ACCESS: 'all' };
let lines: { readonly path: string; readonly status: number; readonly ms: number }[];

beforeAll(async () => {
  metrics = new Metrics();
  const logger = pino({}, { write: (line: string) => lines.push(JSON.parse(line) as (typeof lines)[number]) });
  adapter = new HttpAdapter(SERVER_LIMITS);
  adapter.initHttpServer();
  adapter.use(observeRequests(logger, metrics, access));
  const application = adapter.getInstance<Application>();
  for (const [name, answer] of Object.entries(ROUTES))
    application.get(`/${name}`, (_request: Request, response: Response) => answer(response));
  const server = adapter.getHttpServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  adapter.getHttpServer().closeAllConnections();
  return adapter.close();
});
beforeEach(() => {
  lines = [];
});

/** Sends a request, and disconnects after that many bytes of the body. */
async function disconnectAfter(path: string, bytes: number): Promise<void> {
  const client = (await SlowClient.open(url)).send(`GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  if (bytes > 0)
    await eventually(() => expect(client.answer.split('\r\n\r\n')[1]?.length).toBeGreaterThanOrEqual(bytes));
  client.close();
}

async function expectLogged(path: string, status: number): Promise<void> {
  await eventually(() => expect(lines).toMatchObject([{ path: `/${path}`, status }]));
  const series = `http_request_duration_seconds_count{method="GET",route="/${path}",status="${status}"}`;
  expect(await metrics.registry.metrics()).toContain(series);
}

describe('the status that is logged and counted', () => {
  test('is that of the response if the caller disconnects after the last byte', async () => {
    await disconnectAfter('ended', SMALL.length);
    await expectLogged('ended', 200);
  });

  test.each([
    ['nothing', 0],
    ['large-ended', 1],
    ['large-not-ended', 1],
  ])('is 499 if the caller disconnects before: %s', async (path, bytes) => {
    await disconnectAfter(path, bytes);
    await expectLogged(path, 499);
  });

  test('is 499 if the length of the response is unknown', async () => {
    await disconnectAfter('without-length', 1);
    await expectLogged('without-length', 499);
  });

  test.each(['large-ended', 'large-not-ended'])(
    'is 499 if we close the connection of a caller that stopped reading: %s',
    async (path) => {
      const client = (await SlowClient.open(url)).send(`GET /${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await eventually(() => expect(client.received).toBeGreaterThan(0));
      client.stopReading();
      adapter.getHttpServer().closeAllConnections();
      await expectLogged(path, 499);
    },
  );
});

test('the logged and counted duration is that of the request', async () => {
  const asked = performance.now();
  await disconnectAfter('timed', SMALL.length);
  await expectLogged('timed', 200);
  const ms = lines[0]?.ms ?? 0;
  expect(ms).toBeGreaterThan(0);
  expect(ms).toBeLessThan(performance.now() - asked);
  const counted = /_sum\{method="GET",route="\/timed",status="200"\} (\S+)/.exec(await metrics.registry.metrics())?.[1];
  expect(Number(counted) * 1000).toBeCloseTo(ms, 1);
});

test('with LOG_ACCESS=failures only failed requests have a line, and all are counted', async () => {
  access.LOG_ACCESS = 'failures';
  await fetch(`${url}/ended`);
  await fetch(`${url}/absent`);
  await eventually(() => expect(lines).toMatchObject([{ path: '/absent', status: 404 }]));
  expect(await metrics.registry.metrics()).toMatch(/_count\{method="GET",route="\/ended",status="200"\} [1-9]/);
});
