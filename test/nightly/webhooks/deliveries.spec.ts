import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { WebhookEndpoint } from '../../../src/contracts/admin/webhooks.routes.js';
import { eventually } from '../../support/eventually.js';
import { startTestApp, type TestApp } from '../../support/app.js';
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

describe('a receiver', () => {
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

test('two instances deliver each push once, whichever of them took it', async () => {
  const other = await startTestApp({ on: service });
  const houses = await Promise.all([ScaleHouse.open(service), ScaleHouse.open(other)]);
  const receiver = await Receiver.open(service, { topics: ['ticket.created'] });
  // The other instance knows of the endpoint within four seconds.
  await eventually(async () => {
    await houses[1].expectAccepted({
      inboundFlow: { ticketNumber: `T-${Math.random()}`, updatedAt: new Date().toISOString() },
    });
    expect(receiver.received.length).toBeGreaterThan(0);
  }, 15_000);
  const tickets = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      houses[i % 2 === 0 ? 0 : 1].expectAccepted({
        inboundFlow: { ticketNumber: `N-${i}`, updatedAt: new Date().toISOString() },
      }),
    ),
  );
  await eventually(async () => {
    const pending = await receiver.deliveries('&status=pending');
    expect([pending, receiver.received.length >= 20 + 1]).toEqual([[], true]);
  }, 15_000);
  const named = receiver.received.map(({ body }) => (JSON.parse(body) as { data: { ticketId: string } }).data.ticketId);
  const sent = tickets.map((ticketId) => named.filter((each) => each === ticketId).length);
  expect(sent).toEqual(Array(20).fill(1));
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(ids.length);
  await receiver.stop();
  await other.close();
}, 60_000);
