import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WebhookDelivery } from '../../../src/contracts/admin/webhook-delivery.dto.js';
import type { WebhookEndpoint } from '../../../src/contracts/admin/webhook-endpoint.dto.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { Receiver, status } from '../../integration/webhooks/receiver.js';

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
});

describe('an endpoint', () => {
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
