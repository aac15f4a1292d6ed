import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import type { WebhookDelivery } from '../../src/contracts/admin/webhook-delivery.dto.js';
import { type BuiltService, startService } from '../support/built-service.js';
import { eventually } from '../support/eventually.js';
import { hangs, type ScriptedPartner, startScriptedPartner } from '../support/scripted-partner.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const HOOK = 'POST /hook';
const EVENTS = 20;
const ENV = { OUTBOUND_ALLOW_PRIVATE: 'true', SIDES: 'platform' };

let database: TestDatabase;
let db: DataSource;
let receiver: ScriptedPartner;
let service: BuiltService | undefined;
beforeAll(async () => {
  database = await createTestDatabase();
  db = await database.connect(2);
  receiver = await startScriptedPartner();
});
afterAll(async () => {
  await service?.end('SIGKILL');
  await receiver.stop();
  await database.drop();
});

test('no event is lost when the process is killed while it delivers, and each has one webhook-id', async () => {
  service = await startService({ databaseUrl: database.url, env: ENV });
  const { dataDir } = service;
  const created = async <T>(path: string, body: object) => (await service!.admin<T>('POST', path, body)).body;
  const haulerId = randomUUID();
  await created('/haulers', { id: haulerId, name: 'Killed Hauling' });
  const { key } = await created<{ key: string }>('/api-keys', { haulerId, interfaces: ['account'], name: 'test' });
  const { id } = await created<{ id: string }>('/webhook-endpoints', {
    ...{ url: `${receiver.url}/hook`, topics: ['account.created'] },
  });
  receiver.on(HOOK, (response) => response.writeHead(204).end(), hangs());
  const accounts: string[] = [];
  for (let i = 0; i < EVENTS; i++) {
    const response = await fetch(`${service.url}/platform-api/v1/accounts`, {
      method: 'POST',
      headers: { 'PLATFORM-API-KEY': key, 'Content-Type': 'application/json' },
      body: JSON.stringify({ accountName: `Account ${i}` }),
    });
    expect(response.status).toBe(200);
    accounts.push(((await response.json()) as { accountId: string }).accountId);
  }
  // The first one is answered, some hang, and the others wait.
  await eventually(() => expect(receiver.askedOf(HOOK).length).toBeGreaterThan(2));
  expect(await service.end('SIGKILL')).toBe('SIGKILL');

  receiver.on(HOOK, (response) => response.writeHead(204).end());
  // As the time would in which a killed process renews no lane.
  await db.query('UPDATE lanes SET owned_until = now()');
  service = await startService({ databaseUrl: database.url, dataDir, env: ENV });
  const deliveries = async () =>
    (await service!.admin<{ data: WebhookDelivery[] }>('GET', `/webhook-deliveries?endpointId=${id}&pageSize=100`)).body
      .data;
  await eventually(async () => {
    expect((await deliveries()).map(({ status }) => status)).toEqual(Array(EVENTS).fill('delivered'));
  }, 90_000);
  const sent = receiver.askedOf(HOOK).map(({ headers, body }) => ({
    id: headers['webhook-id'],
    accountId: (JSON.parse(body) as { data: { accountId: string } }).data.accountId,
  }));
  expect(new Set(sent.map(({ accountId }) => accountId))).toEqual(new Set(accounts));
  expect(new Set(sent.map((each) => each.id)).size).toBe(EVENTS);
  const tries = [...Map.groupBy(sent, (each) => each.id).values()].map(({ length }) => length);
  expect(Math.max(...tries)).toBe(2);
}, 180_000);
