import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { WebhookDelivery } from '../../../src/contracts/admin/webhooks.routes.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { type DnsServer, startDnsServer } from '../../support/dns-server.js';
import { eventually } from '../../support/eventually.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { startScriptedPartner } from '../../support/scripted-partner.js';

let dns: DnsServer;
let service: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  dns = await startDnsServer(0);
  service = await startTestApp({
    env: { OUTBOUND_ALLOW_PRIVATE: false, OUTBOUND_NAME_SERVERS: [`127.0.0.1:${dns.port}`] },
  });
  house = await ScaleHouse.open(service);
});
afterAll(async () => {
  await service.close();
  await dns.close();
});

const create = (url: string) =>
  service.admin<{ id: string }>('POST', '/webhook-endpoints', { url, topics: ['ticket.created'] });

test.each([
  'http://example.com/hook',
  'https://127.0.0.1/hook',
  'https://169.254.169.254/latest/meta-data/',
  'https://2130706433/',
  'https://[::1]/',
  'https://user:password@example.com/',
  'file:///etc/passwd',
  'not an address',
])('%s is refused when it is saved', async (url) => {
  const { status, text } = await create(url);
  expect([status, text]).toEqual([400, expect.stringContaining('url is refused')]);
});

test('a name that leads to a private address is refused when it is saved', async () => {
  dns.answer('inside.example', ['10.0.0.5']);
  dns.answer('mixed.example', ['93.184.216.34', '10.0.0.5']);
  for (const name of ['inside', 'mixed']) expect((await create(`https://${name}.example/`)).status).toBe(400);
});

test('a name that leads to a private address later is not called, at any try', async () => {
  const trap = await startScriptedPartner();
  const { port } = new URL(trap.url);
  dns.answer('rebinding.example', ['93.184.216.34'], ['127.0.0.1']);
  const { status, body } = await create(`https://rebinding.example:${port}/hook`);
  expect(status).toBe(201);
  await house.expectAccepted({});
  await eventually(async () => {
    const path = `/webhook-deliveries?endpointId=${body.id}`;
    const [only] = (await service.admin<{ data: WebhookDelivery[] }>('GET', path)).body.data;
    expect(only).toMatchObject({ status: 'pending', attempts: 1, reason: 'address-refused', lastResponse: null });
  });
  expect(trap.asked).toEqual([]);
  await trap.stop();
});
