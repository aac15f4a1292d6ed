import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Action } from '../../../src/contracts/admin/action.dto.js';
import type { WebhookEndpoint } from '../../../src/contracts/admin/webhook-endpoint.dto.js';
import { createHauler, issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { Receiver } from './receiver.js';

const OPERATOR = { name: 'desk', token: 'token-of-the-desk-0123', role: 'operator' } as const;

let service: TestApp;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true, ADMIN_TOKENS: [OPERATOR] } });
});
afterAll(() => service.close());

const asOperator = <T>(path: string) =>
  service.call<T>('GET', `/admin/v1${path}`, { headers: { Authorization: `Bearer ${OPERATOR.token}` } });

test('the address of Slack is shown to an admin alone; others see its host', async () => {
  const receiver = await Receiver.open(service, { format: 'slack' });
  const { id, url } = receiver.endpoint;
  const cut = `${receiver.host.url}/…`;
  const path = `/webhook-endpoints/${id}`;
  expect((await service.admin<WebhookEndpoint>('GET', path)).body.url).toBe(url);
  expect((await asOperator<WebhookEndpoint>(path)).body.url).toBe(cut);
  const { body: list } = await asOperator<{ data: WebhookEndpoint[] }>('/webhook-endpoints');
  expect(list.data.map((each) => each.url)).toEqual([cut]);
  await service.admin('PATCH', path, { url, enabled: true });
  const { body: log } = await asOperator<{ data: Action[] }>(`/actions?resource=webhook-endpoint:${id}`);
  expect(log.data.map(({ changes }) => changes?.['url'])).toEqual([cut, cut]);
  await receiver.stop();
});

test('a partner sees the host of its Slack address, and a change that sends it back keeps the address', async () => {
  const { key } = await issueKey(service, ['scale'], { haulerId: await createHauler(service) });
  const receiver = await Receiver.open(service);
  const url = `${receiver.host.url}${receiver.path}`;
  const call = (method: string, path: string, body?: object) =>
    service.call<WebhookEndpoint>(method, `/partner/v1/webhook-endpoints${path}`, {
      headers: { 'API-KEY': key },
      body,
    });
  const { body } = await call('POST', '', { url, topics: ['ticket.created'], format: 'slack' });
  expect(body.url).toBe(`${receiver.host.url}/…`);
  expect((await call('PATCH', `/${body.id}`, { url: body.url, topics: ['ticket.updated'] })).status).toBe(200);
  await call('POST', `/${body.id}/test`);
  await receiver.gets(1);
  await receiver.stop();
});
