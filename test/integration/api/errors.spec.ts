import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { HttpException, Logger } from '@nestjs/common';
import express from 'express';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { migrate } from '../../../src/database/migrate.js';
import { Database } from '../../../src/database/database.js';
import { AppError, invalid } from '../../../src/errors/app-error.js';
import { errorReply } from '../../../src/errors/error-body.js';
import { CommonErrorFilter } from '../../../src/errors/exception.filter.js';
import { ReadinessService } from '../../../src/health/readiness.service.js';
import { WorkService } from '../../../src/work/work.service.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { testEnv } from '../../support/env.js';
import { held } from '../../support/held.js';
import { ScaleHouse, TICKETS } from '../../support/scale-house.js';
import { createTestDatabase } from '../../support/test-database.js';

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp();
});
afterAll(() => service.close());

interface ErrorAnswer {
  readonly success: boolean;
  readonly error: { readonly code: string; readonly message: string };
}

/** Sends bytes that no HTTP client would send, and returns the whole response. */
function sendBytes(...pieces: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1', () => {
      for (const bytes of pieces) socket.write(bytes);
    });
    socket.setNoDelay();
    socket.setEncoding('utf8').on('data', (chunk: string) => (answer += chunk));
    socket.on('close', () => resolve(answer)).on('error', reject);
  });
}

describe('a request without a route (decisions 3, 10)', () => {
  it.each([
    ['GET', '/nope'],
    ['POST', '/platform-api/v1/unknown'],
    ['GET', '/%ff'],
    ['GET', '/platform-api/v2/tickets'],
    // This path has a route that always returns 404.
    ['GET', '/docs/LICENSE'],
    ['GET', `${'/'.repeat(15_000)}x`],
  ])('%s %s: 404 in the common error body', async (method, path) => {
    const { status, body } = await service.call<ErrorAnswer>(method, path);
    expect(status).toBe(404);
    expect(body).toMatchObject({ success: false, error: { code: 'NOT_FOUND' } });
  });

  it('is answered with a message that names the path without its query', async () => {
    const { body } = await service.call<ErrorAnswer>('GET', '/nope?token=secret');
    expect(body.error.message).toBe('no route for GET /nope');
  });

  it('leaves its connection open', async () =>
    expect((await service.call('POST', '/nope', { body: {} })).headers.get('connection')).toBe('keep-alive'));

  it('is redirected from / to the documents', async () => {
    const { status, headers } = await fetch(service.url, { redirect: 'manual' });
    expect([status, headers.get('location')]).toEqual([302, '/docs']);
    const { status: refused, headers: refusedHeaders } = await service.call('POST', '/');
    expect([refused, refusedHeaders.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe('a request that cannot be served', () => {
  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])(
    'with the wrong method %s: 405 with the right ones in Allow',
    async (method) => {
      const { status, headers, body } = await service.call<ErrorAnswer>(method, '/health/live');
      expect(status).toBe(405);
      expect(headers.get('allow')).toBe('GET, HEAD');
      expect(body).toMatchObject({ success: false, error: { code: 'INVALID_PAYLOAD' } });
    },
  );

  it('that is not HTTP: 400 in the common error body', async () => {
    const answer = await sendBytes('\x00\x01garbage\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 (?:.*\r\n)*?X-Request-Id: [0-9a-f-]{36}\r\n/);
    expect(answer).toContain('"success":false');
  });

  it('without a Host header: 400 in the common error body, and the connection closes; HTTP/1.0 needs none', async () => {
    const answer = await sendBytes('GET /health/live HTTP/1.1\r\n\r\nGET /health/live HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 (?:.*\r\n)*?X-Request-Id: /);
    expect(answer).toMatch(/"code":"INVALID_PAYLOAD","message":"a request of HTTP\/1\.1 must have a Host header"\}\}$/);
    expect(await sendBytes('GET /health/live HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each(['1.1', '1.0'])('with two Host headers: 400, by HTTP/%s too', async (version) => {
    const answer = await sendBytes(`GET /health/live HTTP/${version}\r\nHost: x\r\nhost: y\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 (?:.*\r\n)*?X-Request-Id: /);
    expect(answer).toMatch(/"code":"INVALID_PAYLOAD","message":"a request must have one Host header"\}\}$/);
  });

  it('is not one with an unknown Expect header, which is ignored', async () => {
    const answer = await sendBytes('GET /health/live HTTP/1.1\r\nHost: x\r\nExpect: foo\r\nConnection: close\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 200 (?:.*\r\n)*?X-Request-Id: /);
  });

  it('without a body but with a Content-Encoding: 400 for an empty body', async () => {
    const { key } = await ScaleHouse.open(service);
    const head = `POST ${TICKETS} HTTP/1.1\r\nHost: x\r\nPLATFORM-API-KEY: ${key}\r\nContent-Type: application/json`;
    const answer = await sendBytes(`${head}\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 400 /);
    expect(answer).toContain('the body must be a JSON object, it is empty');
  });

  it('with a Content-Length beyond the limit: 413 before the body arrives, and the connection closes', async () => {
    const { key } = await ScaleHouse.open(service);
    const head = `POST ${TICKETS} HTTP/1.1\r\nHost: x\r\nPLATFORM-API-KEY: ${key}\r\nContent-Type: application/json`;
    const answer = await sendBytes(`${head}\r\nContent-Length: ${service.env.HTTP_BODY_LIMIT + 1}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 413 (?:.*\r\n)*?Connection: close\r\n/);
    expect(answer).toContain(`the body must not be larger than ${service.env.HTTP_BODY_LIMIT} bytes`);
  });

  it('with headers beyond 16 KiB: 431', async () => {
    const answer = await sendBytes(`GET /health/live HTTP/1.1\r\nHost: x\r\nX-Long: ${'a'.repeat(20_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('"code":"INVALID_PAYLOAD"');
  });

  it('with more than 1,000 header lines: 431 with the limit', async () => {
    const request = (lines: number) => `GET /health/live HTTP/1.1\r\nHost: x\r\n${'a:1\r\n'.repeat(lines)}`;
    expect(await sendBytes(`${request(998)}Connection: close\r\n\r\n`)).toMatch(/^HTTP\/1\.1 200 /);
    const answer = await sendBytes(`${request(1_000)}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    expect(answer).toContain('the headers must be at most 1,000 lines and 16 KiB in all');
  });

  describe('invalid bytes after whole requests', () => {
    const OK = 'GET /health/ready HTTP/1.1\r\nHost: x\r\n\r\n';
    const statuses = (answers: string) =>
      [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));

    it('do not hide the response to a stored push', async () => {
      const house = await ScaleHouse.open(service);
      const body = JSON.stringify(house.ticket());
      const head = `POST ${TICKETS} HTTP/1.1\r\nHost: x\r\nPLATFORM-API-KEY: ${house.key}\r\nContent-Type: application/json`;
      const answers = await sendBytes(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}}`);
      expect(statuses(answers)).toEqual([200, 400]);
      expect(answers).toContain('"disposalTicketId"');
      expect(await house.count()).toBe(1);
    });

    it('are answered after all earlier requests', async () =>
      expect(statuses(await sendBytes(`${OK}${OK}${OK}\x00`))).toEqual([200, 200, 200, 400]));

    it('are answered once, however many follow', async () => {
      const [first, ...rest] = await Promise.all([
        sendBytes(`${OK}\x00`, 'more', 'and more'),
        sendBytes(`${OK}GET / HTTP/1.1\r\nno header\r\n`, OK),
      ]);
      for (const answers of [first, ...rest]) expect(statuses(answers)).toEqual([200, 400]);
    });

    it('in the body of a request refuse that request at once', async () => {
      const head = `POST ${TICKETS} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked`;
      const house = await ScaleHouse.open(service);
      const answers = await sendBytes(`${OK}${head}\r\nPLATFORM-API-KEY: ${house.key}\r\n\r\n5\r\n{"a":\r\nzz\r\n`);
      expect(statuses(answers)).toEqual([200, 400]);
    });
  });
});

describe('every response (decision 14)', () => {});

describe('health', () => {
  it('is ready after the last migration, as long as the database is available and the instance is not stopping', async () => {
    const database = await createTestDatabase({ migrated: false });
    const connections = new Database(testEnv({ DATABASE_URL: database.url }));
    const readiness = new ReadinessService(connections);
    const expectRefused = (why: string) =>
      expect(readiness.assertReady()).rejects.toMatchObject({
        kind: 'unavailable',
        message: expect.stringContaining(why),
      });
    await expectRefused('migrations are missing');
    await migrate(database.url);
    await readiness.assertReady();
    await connections.onApplicationShutdown();
    await expectRefused('the service cannot reach its database');
    readiness.beforeApplicationShutdown();
    await expectRefused('this instance is stopping');
    await database.drop();
  });
});

describe('the body of an error, by the path of the request', () => {
  const messages = ['a', 'b', 'c', 'd', 'e'];
  const error = invalid(messages.map((message) => ({ path: message, rule: 'isText', message })));
  const CONTINUOUS = '/video-platform/v1/videos/continuous';

  it.each([CONTINUOUS, `${CONTINUOUS}//`, CONTINUOUS.toUpperCase()])(
    '%s: all violations in the message, no details',
    (path) => {
      expect(errorReply(error, path).body.error).toEqual({ code: 'INVALID_PAYLOAD', message: messages.join('; ') });
    },
  );

  it('another path: three violations in the message, all in the details', () => {
    const { message, details } = errorReply(error, '/video-platform/v1/videos').body.error;
    expect(message).toBe('a; b; c; and 2 more');
    expect(details?.['violations']).toHaveLength(5);
  });

  it.each(['/platform-api/v1/tickets', '/platform-api/v1/tickets/', '/Platform-API/v1/Tickets'])(
    '%s: a code of the Scale API',
    (path) => {
      const { status, body } = errorReply(new AppError('ruleViolated', 'no'), path);
      expect([status, body.error.code]).toEqual([422, 'VALIDATION_ERROR']);
    },
  );
});

it('page=0 is refused after a thousand unknown parameters as well (decisions 4, 43)', async () => {
  const { status } = await service.admin('GET', `/haulers?${'x&'.repeat(1000)}page=0`);
  expect(status).toBe(400);
});

const UNEXPECTED = 'An unexpected error happened; it has been logged under the request id';

it.each([
  [409, 409, 'below', 0],
  [503, 503, 'below', 0],
  [500, 500, UNEXPECTED, 1],
  [502, 500, UNEXPECTED, 1],
  // A status that is not an error.
  [302, 500, UNEXPECTED, 1],
])('an HttpException with status %i is answered with %i', async (refused, answered, message, logs) => {
  const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
  const filter = new CommonErrorFilter(
    [],
    () => [],
    () => undefined,
  );
  const err = new HttpException('below', refused);
  const app = express().get('/', (request, response) =>
    filter.reply(err, request, response.set('X-Request-Id', 'asked')),
  );
  const server = createServer(app).listen(0, '127.0.0.1');
  const stop = held(async () => void (await new Promise((done) => server.close(done))));
  await once(server, 'listening');
  try {
    const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    expect([reply.status, await reply.json()]).toMatchObject([answered, { success: false, error: { message } }]);
    const line = [{ err, requestId: 'asked', method: 'GET', path: '/' }, 'unexpected error'];
    expect(logged.mock.calls).toEqual(Array(logs).fill(line));
  } finally {
    logged.mockRestore();
    await stop();
  }
});

let measured: TestApp;
beforeAll(async () => {
  measured = await startTestApp();
});
afterAll(() => measured.close());

const metrics = (token = measured.env.ADMIN_TOKEN) =>
  measured.call<string>('GET', '/metrics', { headers: { Authorization: `Bearer ${token}` } });

describe('/metrics', () => {
  it('contains latency by route and status, the pool, the event loop, and the work of the jobs', async () => {
    await measured.call('GET', '/health/ready');
    await measured.call('GET', '/admin/v1/haulers/019a8b7c-0f5e-7a3c-9a53-8d6f1f2b3c4d');
    await measured.call('GET', '/nowhere/at/all');
    const { status, headers, text } = await metrics();
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(text).toContain('http_request_duration_seconds_count{method="GET",route="/health/ready",status="200"} 1');
    expect(text).toContain('route="/admin/v1/haulers/:id",status="401"');
    expect(text).toContain('route="none",status="404"');
    expect(text).toMatch(/database_pool_connections\{state="open"\} [1-9]/);
    expect(text).toMatch(/hot_path_pool_connections\{state="open"\} [1-9]/);
    expect(text).toContain('hot_path_pool_connections{state="waiting"} 0');
    expect(text).toContain('tickets_waiting{unit="pushes"} 0');
    expect(text).toContain('request_bodies_receiving_bytes 0');
    expect(text).toContain('overload_refusals_total{reason="tickets"} 0');
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    expect(text).toMatch(/work_running\{kind="[^"]+"\} 0/);
  });

  it('contains the other metrics if the age of due work is not available', async () => {
    const waited = /^work_oldest_due_seconds\{/m;
    expect((await metrics()).text).toMatch(waited);
    jest.spyOn(measured.app.get(WorkService), 'oldestDue').mockRejectedValueOnce(new Error('unavailable'));
    const { status, text } = await metrics();
    expect(status).toBe(200);
    expect(text).toContain('database_pool_connections');
    expect(text).not.toMatch(waited);
    expect((await metrics()).text).toMatch(waited);
  });
});
