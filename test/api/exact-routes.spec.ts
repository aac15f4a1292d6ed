import { Logger } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Request, Response } from 'express';
import { ExactRoutes } from '../../src/http/exact-routes.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { ScaleHouse, type TicketReply, TICKETS } from '../support/scale-house.js';

let service: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  service = await startTestApp();
  house = await ScaleHouse.open(service);
});
afterAll(() => service.close());

const flow = { ticketNumber: 'IN-1', updatedAt: '2026-01-31T08:30:00Z' };

const post = (path: string, body: unknown, key = house.key) =>
  service.call<TicketReply>('POST', path, { headers: { 'PLATFORM-API-KEY': key, 'X-Request-Id': 'asked' }, body });

/** What belongs to one answer alone is left out. */
function headersOf({ headers }: Awaited<ReturnType<typeof post>>): Record<string, string> {
  const { date, ...others } = Object.fromEntries(headers);
  expect(date).toBeDefined();
  return others;
}

// The first is found by its address alone, the others by Express.
const ADDRESSES = [TICKETS, `${TICKETS}?from=truck`, `${TICKETS}/`, TICKETS.toUpperCase()];

describe.each(ADDRESSES)('POST %s', (path) => {
  it.each([
    ['a ticket', () => house.ticket({ inboundFlow: flow }), undefined, 200],
    ['no ticket', () => ({}), undefined, 400],
    ['no JSON', () => '{', undefined, 400],
    ['a site that nobody knows', () => house.ticket({ siteId: house.haulerId, inboundFlow: flow }), undefined, 422],
    ['a wrong key', () => house.ticket({ inboundFlow: flow }), 'hb_wrong', 401],
  ])('is answered as the usual address is: %s', async (_name, body, key, status) => {
    const usual = await post(TICKETS, body(), key);
    const answer = await post(path, body(), key);
    expect(usual.status).toBe(status);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual(usual.body);
    // The first push of all is the one that creates the ticket.
    const { 'ticket-result': result, ...headers } = headersOf(answer);
    const { 'ticket-result': usualResult, ...usualHeaders } = headersOf(usual);
    expect(headers).toEqual(usualHeaders);
    expect(headers).toMatchObject({ 'x-request-id': 'asked', 'x-content-type-options': 'nosniff' });
    expect([result, usualResult]).toEqual(
      status === 200 ? ['unchanged', expect.stringMatching(/^(created|unchanged)$/)] : [undefined, undefined],
    );
  });
});

/** Pushes that were taken till now. */
async function counted(): Promise<number> {
  const { text } = await service.call<string>('GET', '/metrics', {
    headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` },
  });
  const line = `http_request_duration_seconds_count{method="POST",route="${TICKETS}",status="200"} `;
  return Number(
    text
      .split('\n')
      .find((each) => each.startsWith(line))
      ?.slice(line.length) ?? 0,
  );
}

it('counts all of them under one route', async () => {
  const before = await counted();
  for (const address of [...ADDRESSES, ...ADDRESSES]) {
    expect((await post(address, house.ticket({ inboundFlow: flow }))).status).toBe(200);
  }
  expect((await counted()) - before).toBe(8);
});

it.each(['GET', 'PUT', 'DELETE'])('%s is not taken', async (method) => {
  const { status, headers } = await service.call(method, TICKETS);
  expect([status, headers.get('allow')]).toEqual([405, 'POST']);
});

describe('a table of routes', () => {
  const routes = new ExactRoutes();
  routes.add('/fails', () => Promise.reject(new Error('its filters failed too')));
  routes.add('/told', (request, response) => {
    const { path } = request.route as { readonly path: string };
    response.end(JSON.stringify([request.originalUrl, request.params, path, request.res === response]));
  });
  routes.add('/named/:id', (_request, response) => response.end('named'));
  const server = createServer((request, response) =>
    routes.run(request as Request, response as Response, () => response.end('left to Express')),
  );
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => once(server.close(), 'close'));

  const ask = async (method: string, path: string) =>
    (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method })).text();

  it('hands a request on as Express would', async () =>
    expect(JSON.parse(await ask('POST', '/told'))).toEqual(['/told', {}, '/told', true]));

  it('cuts off and logs what even the filters could not answer, and goes on', async () => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue();
    try {
      await expect(ask('POST', '/fails')).rejects.toThrow('fetch failed');
      expect(logged.mock.calls).toEqual([
        [{ err: new Error('its filters failed too') }, 'a request could not be answered'],
      ]);
    } finally {
      logged.mockRestore();
    }
    expect(await ask('GET', '/fails')).toBe('left to Express');
  });

  it('takes no pattern literally', async () => {
    expect(await ask('POST', '/named/:id')).toBe('left to Express');
  });
});
