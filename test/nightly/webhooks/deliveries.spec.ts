import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type {
  IssuedWebhookEndpoint,
  WebhookDelivery,
  WebhookEndpoint,
} from '../../../src/contracts/admin/webhooks.routes.js';
import { eventually } from '../../support/eventually.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { ScaleHouse } from '../../support/scale-house.js';
import {
  type AskedRequest,
  type ScriptedPartner,
  type ScriptedReply,
  startScriptedPartner,
} from '../../support/scripted-partner.js';
import { hurryDeliveries } from '../../support/time.js';

let service: TestApp;
let house: ScaleHouse;
let host: ScriptedPartner;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  house = await ScaleHouse.open(service);
  host = await startScriptedPartner();
});
afterAll(async () => {
  await host.stop();
  await service.close();
});

let number = 0;
const push = (at = house) =>
  at.expectAccepted({ inboundFlow: { ticketNumber: `T-${++number}`, updatedAt: new Date().toISOString() } });

const status =
  (code: number): ScriptedReply =>
  (response) =>
    void response.writeHead(code).end();

let paths = 0;

/** A receiver of webhooks with an endpoint of its own. */
class Receiver {
  private constructor(
    private readonly path: string,
    readonly id: string,
  ) {}

  static async open(...replies: ScriptedReply[]): Promise<Receiver> {
    const path = `/hook/${++paths}`;
    host.on(`POST ${path}`, ...replies);
    const body = { url: host.url + path, topics: ['ticket.created'], format: 'standard' };
    const created = await service.admin<IssuedWebhookEndpoint>('POST', '/webhook-endpoints', body);
    expect([created.status, created.text]).toEqual([201, expect.stringContaining('whsec_')]);
    return new Receiver(path, created.body.id);
  }

  get received(): AskedRequest[] {
    return host.askedOf(`POST ${this.path}`);
  }

  async deliveries(query = ''): Promise<WebhookDelivery[]> {
    const path = `/webhook-deliveries?endpointId=${this.id}${query}`;
    return (await service.admin<{ data: WebhookDelivery[] }>('GET', path)).body.data;
  }

  /** Waits until the only delivery is as expected. */
  delivery(expected: object): Promise<void> {
    return eventually(async () => expect(await this.deliveries()).toMatchObject([expected]));
  }

  /** Lets the waiting tries happen now. */
  async hurry(): Promise<void> {
    await hurryDeliveries(service, this.id);
  }

  async end(): Promise<void> {
    await service.admin('DELETE', `/webhook-endpoints/${this.id}`);
  }
}

describe('a receiver', () => {
  test('that has failed for five days is disabled, and its waiting deliveries end', async () => {
    const receiver = await Receiver.open(status(500));
    await push();
    await receiver.delivery({ attempts: 1, reason: 'http-status' });
    const failing = "UPDATE webhook_endpoints SET failing_since = now() - interval '5 days' WHERE id = $1";
    await service.dataSource.query(failing, [receiver.id]);
    await receiver.hurry();
    await receiver.delivery({ status: 'failed', attempts: 2, reason: 'http-status' });
    const endpoint = await service.admin<WebhookEndpoint>('GET', `/webhook-endpoints/${receiver.id}`);
    expect(endpoint.body).toMatchObject({ enabled: false, disabledReason: 'failing' });
    await receiver.end();
  });

  test('is given up after ten tries, and what failed within a time is delivered again by one call', async () => {
    const receiver = await Receiver.open(status(500), status(500), status(204));
    await push();
    await receiver.delivery({ attempts: 1, reason: 'http-status' });
    const tried = 'UPDATE webhook_deliveries SET attempts = 9 WHERE endpoint_id = $1';
    await service.dataSource.query(tried, [receiver.id]);
    await receiver.hurry();
    await receiver.delivery({ status: 'failed', attempts: 10, nextAt: null });
    const range = {
      from: new Date(Date.now() - 3_600_000).toISOString(),
      to: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const retried = await service.admin('POST', '/webhook-deliveries/retry', { endpointId: receiver.id, ...range });
    expect([retried.status, retried.body]).toEqual([202, { matched: 1 }]);
    await receiver.delivery({ status: 'delivered', attempts: 1 });
    await receiver.end();
  });

  test('whose body never ends counts by its status, and one that never answers is tried again', async () => {
    const endless = await Receiver.open((response) => void response.writeHead(200).write('begin'));
    const hanging = await Receiver.open(() => undefined);
    await push();
    await endless.delivery({ status: 'delivered', lastResponse: { status: 200, body: 'begin' } });
    await hanging.delivery({ status: 'pending', reason: 'timed-out', attempts: 1, lastResponse: null });
    await endless.end();
    await hanging.end();
  });
});

test('two instances deliver each push once, whichever of them took it', async () => {
  const other = await startTestApp({ on: service });
  const houses = await Promise.all([ScaleHouse.open(service), ScaleHouse.open(other)]);
  const receiver = await Receiver.open(status(204));
  // The other instance knows of the endpoint within four seconds.
  await eventually(async () => {
    await push(houses[1]);
    expect(receiver.received.length).toBeGreaterThan(0);
  }, 15_000);
  const tickets = await Promise.all(Array.from({ length: 20 }, (_, i) => push(houses[i % 2])));
  await eventually(async () => {
    const pending = await receiver.deliveries('&status=pending');
    expect([pending, receiver.received.length >= 20 + 1]).toEqual([[], true]);
  }, 15_000);
  const named = receiver.received.map(({ body }) => (JSON.parse(body) as { data: { ticketId: string } }).data.ticketId);
  const sent = tickets.map((ticketId) => named.filter((each) => each === ticketId).length);
  expect(sent).toEqual(Array(20).fill(1));
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(ids.length);
  await other.close();
}, 60_000);
