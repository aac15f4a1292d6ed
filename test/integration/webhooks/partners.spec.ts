import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import type { WebhookDelivery } from '../../../src/contracts/admin/webhook-delivery.dto.js';
import type { IssuedWebhookEndpoint, WebhookEndpoint } from '../../../src/contracts/admin/webhook-endpoint.dto.js';
import { StatesJob } from '../../../src/webhooks/states.job.js';
import { issueConnectionKey, issueKey, type TestKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import type { Reply } from '../../support/http.js';
import { eventually } from '../../support/eventually.js';
import { ScaleHouse } from '../../support/scale-house.js';

let service: TestApp;
let house: ScaleHouse;
let own: TestKey;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  house = await ScaleHouse.open(service);
  own = await issueKey(service, ['scale'], { haulerId: house.haulerId });
  // A run by the clock would have the lock of the run of a test, which then does nothing.
  service.app.get(SchedulerRegistry).deleteInterval('webhook states');
});
afterAll(() => service.close());

const URL = 'http://127.0.0.1:9/hook';
const call = <Body = Record<string, never>>(
  key: string,
  method: string,
  path: string,
  body?: object,
): Promise<Reply<Body>> => service.call<Body>(method, `/partner/v1${path}`, { headers: { 'API-KEY': key }, body });
const create = (key: string, body: object = {}) =>
  call<IssuedWebhookEndpoint>(key, 'POST', '/webhook-endpoints', { url: URL, topics: ['ticket.created'], ...body });
const connect = async (kind: 'site' | 'vision') => {
  const body = {
    haulerId: house.haulerId,
    interface: kind,
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'k',
    enabled: false,
  };
  return (await service.admin<{ id: string }>('POST', '/connections', body)).body.id;
};

describe('a partner', () => {
  test('keeps its endpoints when its key is rotated, and they end with its last key', async () => {
    const first = await issueKey(service, ['scale'], { haulerId: house.haulerId });
    const { id } = (await create(first.key)).body;
    const rotated = (await service.admin<TestKey>('POST', `/api-keys/${first.id}/rotate`, { overlapSeconds: 0 })).body;
    expect((await call(rotated.key, 'GET', `/webhook-endpoints/${id}`)).status).toBe(200);
    await service.admin('DELETE', `/api-keys/${rotated.id}`);
    await service.admin('DELETE', `/api-keys/${first.id}`);
    await house.expectAccepted({});
    await eventually(async () => {
      const { body } = await service.admin<WebhookEndpoint>('GET', `/webhook-endpoints/${id}`);
      expect(body).toMatchObject({ enabled: false, disabledReason: 'key-ended' });
    });
  });
});

describe('a state', () => {
  const states = () => service.app.get(StatesJob).run();
  const topicsOf = async (id: string) => {
    const list = await service.admin<{ data: WebhookDelivery[] }>('GET', `/webhook-deliveries?endpointId=${id}`);
    return list.body.data.map(({ topic }) => topic).reverse();
  };
  const endpoint = async (topics: string[]) =>
    (await service.admin<WebhookEndpoint>('POST', '/webhook-endpoints', { url: URL, topics })).body.id;
  const run = (connectionId: string, status: string) =>
    service.dataSource.query(
      `INSERT INTO sync_runs (hauler_id, id, connection_id, status, finished_at, counts, error)
       VALUES ($1, gen_random_uuid(), $2, $3, now(), '{}', CASE WHEN $3 = 'failed' THEN 'no' END)`,
      [house.haulerId, connectionId, status],
    );

  test('is sent once for each change, and "recovered" follows only what was announced', async () => {
    const connectionId = await connect('site');
    await service.dataSource.query('UPDATE connections SET enabled = true, due_at = NULL WHERE id = $1', [
      connectionId,
    ]);
    const both = await endpoint(['sync.held', 'sync.failed', 'sync.recovered']);
    const late = await endpoint(['sync.recovered']);
    await run(connectionId, 'failed');
    await states();
    await run(connectionId, 'failed');
    await states();
    expect(await topicsOf(both)).toEqual(['sync.failed']);
    await run(connectionId, 'held');
    await states();
    await run(connectionId, 'succeeded');
    await states();
    await states();
    expect(await topicsOf(both)).toEqual(['sync.failed', 'sync.held', 'sync.recovered']);
    expect(await topicsOf(late)).toEqual([]);
  });

  test('of a key goes to its partner alone, first as expiring and then as expired', async () => {
    const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
    const ending = await issueKey(service, ['scale'], { haulerId: house.haulerId, expiresAt });
    const mine = (await create(ending.key, { topics: ['key.expiring', 'key.expired'] })).body.id;
    const others = (await create(own.key, { topics: ['key.expiring', 'key.expired'] })).body.id;
    await states();
    await service.dataSource.query("UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1", [
      ending.id,
    ]);
    await states();
    expect(await topicsOf(mine)).toEqual(['key.expiring', 'key.expired']);
    expect(await topicsOf(others)).toEqual([]);
  });

  test('of the backup is sent to an endpoint of the installation', async () => {
    const id = await endpoint(['backup.unverified']);
    await states();
    await states();
    expect(await topicsOf(id)).toEqual(['backup.unverified']);
  });
});

describe('a poke', () => {
  const UNKNOWN = 'nothing-of-this-name';

  test('makes the reading of a truck due, once, and names nothing of others', async () => {
    const connectionId = await connect('vision');
    const key = await issueConnectionKey(service, connectionId);
    const other = await issueConnectionKey(service, await connect('vision'));
    const order = { connectionId, truckId: 'TRUCK-7', startTime: new Date().toISOString() };
    const { body } = await service.admin<{ id: string }>('POST', '/video-subscriptions', order);
    await service.dataSource.query(
      "UPDATE video_subscriptions SET due_at = now() + interval '1 hour', last_error = NULL WHERE id = $1",
      [body.id],
    );
    for (let i = 0; i < 3; i++) {
      const poked = await call(key.key, 'POST', '/pokes', { truckId: 'TRUCK-7' });
      expect([poked.status, poked.body]).toEqual([202, { polls: 1 }]);
    }
    expect((await call(other.key, 'POST', '/pokes', { truckId: 'TRUCK-7' })).status).toBe(404);
    expect((await call(key.key, 'POST', '/pokes', { truckId: UNKNOWN })).status).toBe(404);
    expect((await call(key.key, 'POST', '/pokes', { requestId: UNKNOWN })).status).toBe(404);
    expect((await call(own.key, 'POST', '/pokes', { truckId: 'TRUCK-7' })).status).toBe(404);
    expect((await call(key.key, 'POST', '/pokes', {})).status).toBe(400);
  });

  test('is refused beyond 60 a minute', async () => {
    const key = await issueConnectionKey(service, await connect('vision'));
    const statuses = new Set<number>();
    for (let i = 0; i < 61; i++) statuses.add((await call(key.key, 'POST', '/pokes', { truckId: UNKNOWN })).status);
    const { status, headers } = await call(key.key, 'POST', '/pokes', { truckId: UNKNOWN });
    expect([...statuses, status]).toEqual([404, 429, 429]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
