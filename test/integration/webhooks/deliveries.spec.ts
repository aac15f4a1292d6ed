import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WebhookDelivery } from '../../../src/contracts/admin/webhook-delivery.dto.js';
import type { IssuedWebhookEndpoint, WebhookEndpoint } from '../../../src/contracts/admin/webhook-endpoint.dto.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { Receiver, status } from './receiver.js';

let service: TestApp;
let house: ScaleHouse;
const receivers: Receiver[] = [];
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  house = await ScaleHouse.open(service);
});
afterAll(async () => {
  for (const receiver of receivers) await receiver.stop();
  await service.close();
});

let number = 0;
const push = () =>
  house.expectAccepted({ inboundFlow: { ticketNumber: `T-${++number}`, updatedAt: new Date().toISOString() } });

async function open(...args: Parameters<typeof Receiver.open> extends [unknown, ...infer Rest] ? Rest : never) {
  const receiver = await Receiver.open(service, ...args);
  receivers.push(receiver);
  return receiver;
}

async function end(receiver: Receiver): Promise<void> {
  await service.admin('DELETE', `/webhook-endpoints/${receiver.endpoint.id}`);
}

describe('a push', () => {
  test('is delivered once, signed, with ids alone', async () => {
    const receiver = await open();
    const ticketId = await push();
    const [request] = await receiver.gets(1);
    expect(receiver.verified(request!)).toEqual({
      type: 'ticket.created',
      timestamp: expect.any(String),
      data: { haulerId: house.haulerId, ticketId },
    });
    const delivery = await receiver.delivery({
      endpointId: receiver.endpoint.id,
      haulerId: house.haulerId,
      topic: 'ticket.created',
      status: 'delivered',
      reason: null,
      attempts: 1,
      nextAt: null,
      lastResponse: { status: 204, body: '' },
      body: request!.body,
    });
    expect(request!.headers['webhook-id']).toBe(delivery.id);
    await end(receiver);
  });

  test('that changes a ticket is ticket.updated, and one that changes nothing is silent', async () => {
    const receiver = await open({ topics: ['ticket.created', 'ticket.updated'] });
    const flow = { inboundFlow: { ticketNumber: 'U-1', updatedAt: '2026-01-01T00:00:00Z' } };
    await house.expectAccepted(flow);
    await house.expectAccepted(flow);
    await house.expectAccepted({ inboundFlow: { ticketNumber: 'U-1', updatedAt: '2026-01-02T00:00:00Z' } });
    await receiver.gets(2);
    const types = (await receiver.deliveries()).map(({ topic }) => topic);
    expect(types).toEqual(['ticket.updated', 'ticket.created']);
    await end(receiver);
  });

  test('that is refused is ticket.refused, with its request', async () => {
    const receiver = await open({ topics: ['ticket.refused'] });
    const unknown = await house.push(house.ticket({ siteId: '00000000-0000-4000-8000-000000000000' }));
    const broken = await house.push('{');
    expect([unknown.status, broken.status]).toEqual([422, 400]);
    await receiver.gets(2);
    const data = receiver.received.map((request) => (JSON.parse(request.body) as { data: object }).data);
    expect(data).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          haulerId: house.haulerId,
          status: 422,
          requestId: unknown.headers.get('x-request-id'),
        }),
        expect.objectContaining({ haulerId: house.haulerId, status: 400 }),
      ]),
    );
    await end(receiver);
  });

  test('of another hauler, and of another topic, is not delivered', async () => {
    const other = await ScaleHouse.open(service);
    const receiver = await open({ haulerId: other.haulerId });
    await push();
    const ticketId = await other.expectAccepted({});
    await receiver.gets(1);
    expect((await receiver.deliveries()).map(({ body }) => (JSON.parse(body) as { data: object }).data)).toEqual([
      { haulerId: other.haulerId, ticketId },
    ]);
    await end(receiver);
  });

  test('writes nothing while no endpoint asks for tickets', async () => {
    const receiver = await open({ topics: ['account.created'] });
    const before = await count();
    await push();
    expect(await count()).toBe(before);
    await end(receiver);
  });

  const count = async () => {
    const [row] = await service.dataSource.query<[{ count: number }]>(
      'SELECT count(*)::int AS count FROM webhook_deliveries',
    );
    return row.count;
  };
});

describe('a receiver', () => {
  test('that fails and then works gets the same webhook-id again, after the times of the table', async () => {
    const receiver = await open({}, status(500, {}, 'no'), status(503), status(200, {}, 'ok'));
    const pushedAt = Date.now();
    await push();
    const first = await receiver.delivery({
      status: 'pending',
      attempts: 1,
      reason: 'http-status',
      lastResponse: { status: 500, body: 'no' },
    });
    // From the push: a busy machine reads the delivery later.
    expect(Date.parse(first.nextAt ?? '') - pushedAt).toBeGreaterThan(4_000);
    expect(wait(first)).toBeLessThan(6_000);
    await receiver.hurry();
    const second = await receiver.delivery({ attempts: 2, lastResponse: { status: 503, body: '' } });
    expect(wait(second)).toBeGreaterThan(290_000);
    await receiver.hurry();
    await receiver.delivery({ status: 'delivered', attempts: 3, lastResponse: { status: 200, body: 'ok' } });
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(new Set([first.id]));
    await end(receiver);
  });

  test('is obeyed when it sends Retry-After', async () => {
    const receiver = await open({}, status(429, { 'retry-after': '120' }), status(204));
    await push();
    const delivery = await receiver.delivery({ status: 'pending', lastResponse: { status: 429, body: '' } });
    expect(wait(delivery)).toBeGreaterThan(100_000);
    await push();
    await receiver.hurry();
    // Neither delivery is tried before.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(receiver.received).toHaveLength(1);
    await service.dataSource.query('UPDATE webhook_endpoints SET paused_until = now() WHERE id = $1', [
      receiver.endpoint.id,
    ]);
    await receiver.gets(3);
    await end(receiver);
  });

  test('that answers 410 is disabled at once, with one notice to the other endpoints', async () => {
    const operator = await open({ topics: ['backup.unverified'] });
    const receiver = await open({}, status(410, {}, 'gone away'));
    await push();
    await receiver.delivery({
      status: 'failed',
      reason: 'gone',
      attempts: 1,
      lastResponse: { status: 410, body: 'gone away' },
    });
    const endpoint = await service.admin<WebhookEndpoint>('GET', `/webhook-endpoints/${receiver.endpoint.id}`);
    expect(endpoint.body).toMatchObject({ enabled: false, disabledReason: 'gone' });
    await operator.gets(1);
    const notices = (await operator.deliveries()).filter(({ topic }) => topic === 'webhook.disabled');
    expect(notices.map(({ body }) => (JSON.parse(body) as { data: object }).data)).toEqual([
      { endpointId: receiver.endpoint.id, reason: 'gone' },
    ]);
    await push();
    expect(await receiver.deliveries()).toHaveLength(1);
    // The way back.
    receiver.host.on(`POST ${receiver.path}`, status(204));
    const failed = (await receiver.deliveries())[0]!;
    await service.admin('PATCH', `/webhook-endpoints/${receiver.endpoint.id}`, { enabled: true });
    const retried = await service.admin<WebhookDelivery>('POST', `/webhook-deliveries/${failed.id}/retry`);
    expect(retried.status).toBe(202);
    await receiver.delivery({ status: 'delivered', id: failed.id });
    await end(receiver);
    await end(operator);
  });

  test('that has failed for five days is disabled, and its waiting deliveries end', async () => {
    const receiver = await open({}, status(500));
    await push();
    await receiver.delivery({ attempts: 1, reason: 'http-status' });
    await service.dataSource.query(
      "UPDATE webhook_endpoints SET failing_since = now() - interval '5 days' WHERE id = $1",
      [receiver.endpoint.id],
    );
    await receiver.hurry();
    await receiver.delivery({ status: 'failed', attempts: 2, reason: 'http-status' });
    const endpoint = await service.admin<WebhookEndpoint>('GET', `/webhook-endpoints/${receiver.endpoint.id}`);
    expect(endpoint.body).toMatchObject({ enabled: false, disabledReason: 'failing' });
    await end(receiver);
  });

  test('is given up after ten tries, and what failed within a time is delivered again by one call', async () => {
    const receiver = await open({}, status(500), status(500), status(204));
    await push();
    await receiver.delivery({ attempts: 1, reason: 'http-status' });
    await service.dataSource.query('UPDATE webhook_deliveries SET attempts = 9 WHERE endpoint_id = $1', [
      receiver.endpoint.id,
    ]);
    await receiver.hurry();
    await receiver.delivery({ status: 'failed', attempts: 10, nextAt: null });
    const range = {
      from: new Date(Date.now() - 3_600_000).toISOString(),
      to: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const retried = await service.admin('POST', '/webhook-deliveries/retry', {
      endpointId: receiver.endpoint.id,
      ...range,
    });
    expect([retried.status, retried.body]).toEqual([202, { matched: 1 }]);
    await receiver.delivery({ status: 'delivered', attempts: 1 });
    await end(receiver);
  });

  test('that answers 10 MB counts by its status, and little is kept', async () => {
    const megabytes = Buffer.alloc(10_000_000, 'x');
    const receiver = await open({}, (response) => response.writeHead(200).end(megabytes));
    await push();
    const delivery = await receiver.delivery({ status: 'delivered' });
    expect(delivery.lastResponse?.body.length).toBe(1_000);
    await end(receiver);
  });

  test('whose body never ends counts by its status, and one that never answers is tried again', async () => {
    const endless = await open({}, (response) => void response.writeHead(200).write('begin'));
    const hanging = await open({}, () => undefined);
    await push();
    await endless.delivery({ status: 'delivered', lastResponse: { status: 200, body: 'begin' } });
    await hanging.delivery({ status: 'pending', reason: 'timed-out', attempts: 1, lastResponse: null });
    await end(endless);
    await end(hanging);
  });

  test('has secrets removed from what it answers', async () => {
    const receiver = await open({}, (response) => response.writeHead(500).end('{"token":"abcdefghijklmnop"}'));
    await push();
    const { lastResponse } = await receiver.delivery({ attempts: 1, reason: 'http-status' });
    expect(lastResponse?.body).toBe('{"token":"[redacted]"}');
    await end(receiver);
  });

  test('that redirects is not followed', async () => {
    const target = await open({ topics: ['account.created'] });
    const receiver = await open({}, status(302, { location: target.host.url + target.path }));
    await push();
    await receiver.delivery({ reason: 'redirected', lastResponse: { status: 302, body: '' } });
    expect(target.received).toEqual([]);
    await end(receiver);
    await end(target);
  });
});

describe('an endpoint', () => {
  test('is tested at once, with the answer', async () => {
    const receiver = await open({ enabled: false }, status(418, {}, 'teapot'));
    const { status: code, body } = await service.admin<WebhookDelivery>(
      'POST',
      `/webhook-endpoints/${receiver.endpoint.id}/test`,
    );
    expect([code, body]).toEqual([
      200,
      expect.objectContaining({
        topic: 'webhook.test',
        status: 'failed',
        attempts: 1,
        lastResponse: { status: 418, body: 'teapot' },
      }),
    ]);
    receiver.verified(receiver.received[0]!);
    await end(receiver);
  });

  test('signs with both secrets while one rotates, and shows each once', async () => {
    const receiver = await open();
    const path = `/webhook-endpoints/${receiver.endpoint.id}`;
    const rotated = await service.admin<IssuedWebhookEndpoint>('POST', `${path}/rotate-secret`, {
      overlapSeconds: 3600,
    });
    expect([rotated.status, rotated.body.formerSecretUntil]).toEqual([201, expect.any(String)]);
    expect(rotated.body.secret).not.toBe(receiver.endpoint.secret);
    await push();
    const [request] = await receiver.gets(1);
    expect(String(request!.headers['webhook-signature']).split(' ')).toHaveLength(2);
    receiver.verified(request!);
    receiver.verified(request!, rotated.body.secret);
    await service.admin('POST', `${path}/rotate-secret`, { overlapSeconds: 0 });
    await push();
    const [, later] = await receiver.gets(2);
    expect(() => receiver.verified(later!, rotated.body.secret)).toThrow();
    expect((await service.admin('GET', path)).text).not.toContain('whsec_');
    const [row] = await service.dataSource.query<[{ row: string }]>(
      'SELECT e::text AS row FROM webhook_endpoints AS e WHERE id = $1',
      [receiver.endpoint.id],
    );
    expect(row.row).not.toContain(receiver.endpoint.secret.slice(6));
    await end(receiver);
  });

  test('that is paused gets what waited when it is resumed, and nothing of the time between', async () => {
    const receiver = await open({}, status(500), status(204));
    await push();
    await receiver.delivery({ attempts: 1, reason: 'http-status' });
    const path = `/webhook-endpoints/${receiver.endpoint.id}`;
    await service.admin('PATCH', path, { enabled: false });
    await push();
    await receiver.hurry();
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(receiver.received).toHaveLength(1);
    await service.admin('PATCH', path, { enabled: true });
    await receiver.delivery({ status: 'delivered', attempts: 2 });
    await end(receiver);
  });

  test('that is deleted gets nothing more, and its deliveries go with it', async () => {
    const receiver = await open({}, status(500));
    await push();
    const { id } = await receiver.delivery({ attempts: 1, reason: 'http-status' });
    await end(receiver);
    expect((await service.admin('GET', `/webhook-deliveries/${id}`)).status).toBe(404);
    expect((await service.admin('POST', `/webhook-deliveries/${id}/retry`)).status).toBe(404);
  });

  test('created by another instance gets events within seconds', async () => {
    const second = await startTestApp({ on: service });
    await push();
    const receiver = await Receiver.open(second);
    receivers.push(receiver);
    await eventually(async () => {
      await push();
      expect(receiver.received.length).toBeGreaterThan(0);
    }, 20_000);
    await end(receiver);
    await second.close();
  });
});

const wait = ({ nextAt }: WebhookDelivery) => Date.parse(nextAt ?? '') - Date.now();
