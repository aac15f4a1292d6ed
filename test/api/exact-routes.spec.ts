import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
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
describe.each([TICKETS, `${TICKETS}?from=truck`, `${TICKETS}/`, TICKETS.toUpperCase()])('POST %s', (path) => {
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

it('counts all of them under one route', async () => {
  const metrics = await service.call<string>('GET', '/metrics', {
    headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}` },
  });
  expect(metrics.text).toContain(
    `http_request_duration_seconds_count{method="POST",route="${TICKETS}",status="200"} 8`,
  );
});

it.each(['GET', 'PUT', 'DELETE'])('%s is not taken', async (method) => {
  const { status, headers } = await service.call(method, TICKETS);
  expect([status, headers.get('allow')]).toEqual([405, 'POST']);
});
