import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Application, Request, Response } from 'express';
import { HttpAdapter } from '../../../src/http/express.adapter.js';
import { SERVER_LIMITS } from '../../../src/http/http-server.js';
import { eventually } from '../../support/eventually.js';
import { SlowClient } from '../../support/slow-client.js';

/** More than any system buffers for a slow reader. */
const LARGE = Buffer.alloc(64 * 1024 * 1024, 'x');

let adapter: HttpAdapter;
let url: string;
let begun: PromiseWithResolvers<Response>;

beforeEach(async () => {
  begun = Promise.withResolvers();
  adapter = new HttpAdapter(SERVER_LIMITS);
  adapter.initHttpServer();
  const application = adapter.getInstance<Application>();
  application.get('/small', (_request: Request, response: Response) => response.end('small'));
  application.get('/large', (_request: Request, response: Response) => response.end(LARGE));
  application.get('/begun', (_request: Request, response: Response) => {
    response.write('first');
    begun.resolve(response);
  });
  const server = adapter.getHttpServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  adapter.getHttpServer().closeAllConnections();
  return adapter.close();
});

const ask = async (...paths: string[]) =>
  (await SlowClient.open(url)).send(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));

/** A caller that reads only the beginning of a large response. */
async function slowReader(): Promise<SlowClient> {
  const client = await ask('/large');
  await eventually(() => expect(client.received).toBeGreaterThan(0));
  return client.stopReading();
}

async function idle(): Promise<SlowClient> {
  const client = await ask('/small');
  await eventually(() => expect(client.answer).toMatch(/small$/));
  return client;
}

describe('a stop of the service', () => {
  test('closes idle connections at once', async () => {
    const client = await idle();
    await adapter.stopAccepting();
    await client.cutAfter;
  });

  test('completes a response that has started, and closes its connection afterwards', async () => {
    const client = await ask('/begun');
    const response = await begun.promise;
    const stopped = adapter.stopAccepting();
    response.end('last');
    await stopped;
    await client.cutAfter;
    expect(client.answer).toMatch(/Connection: keep-alive\r\n(?:.*\r\n)*?\r\n5\r\nfirst\r\n4\r\nlast\r\n0\r\n\r\n$/);
  });

  test('answers a request that was pipelined after such a response', async () => {
    const client = await ask('/begun', '/small');
    const response = await begun.promise;
    const stopped = adapter.stopAccepting();
    response.end();
    await stopped;
    await client.cutAfter;
    expect(client.answer).toMatch(/\r\nsmall$/);
  });

  test('closes a connection whose response came before the end of its request, after that end', async () => {
    const client = await SlowClient.open(url);
    client.send('GET /small HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab');
    await eventually(() => expect(client.answer).toMatch(/small$/));
    const stopped = adapter.stopAccepting();
    client.send('cd');
    await stopped;
    await client.cutAfter;
  });

  test('sends a slow reader the whole of an ended response', async () => {
    const reader = await slowReader();
    const stopped = adapter.stopAccepting();
    reader.read();
    await stopped;
    await reader.cutAfter;
    expect(reader.received).toBeGreaterThan(LARGE.length);
  });

  test('closes the other connections once a slow reader has received everything', async () => {
    const reader = await slowReader();
    const others = [await idle(), await ask('/begun')];
    const response = await begun.promise;
    const stopped = adapter.stopAccepting();
    response.end();
    await eventually(() => expect(others[1]?.answer).toMatch(/\r\n0\r\n\r\n$/));
    reader.read();
    await stopped;
    await Promise.all([reader, ...others].map(({ cutAfter }) => cutAfter));
    expect(reader.received).toBeGreaterThan(LARGE.length);
  });

  test('does not wait for a slow reader that disconnects', async () => {
    const reader = await slowReader();
    const other = await idle();
    const stopped = adapter.stopAccepting();
    reader.close();
    await stopped;
    await other.cutAfter;
  });
});
