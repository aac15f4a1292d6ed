import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SchedulerRegistry } from '@nestjs/schedule';
import type {
  IssuedWebhookEndpoint,
  WebhookDelivery,
  WebhookEndpoint,
} from '../../../src/contracts/admin/webhooks.routes.js';
import { StatesJob } from '../../../src/admin/attention/states.job.js';
import { issueConnectionKey, issueKey, type TestKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import type { Reply } from '../../support/http.js';
import { eventually } from '../../support/eventually.js';
import { addSyncRun, enableWithoutRuns, secondsUntilReading } from '../../support/rows.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { beginReadingDuring, expireKey, postponeReading } from '../../support/time.js';

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

describe('a state', () => {
  const states = () => service.app.get(StatesJob).run();
  const deliveriesOf = async (id: string) =>
    (await service.admin<{ data: WebhookDelivery[] }>('GET', `/webhook-deliveries?endpointId=${id}`)).body.data;
  const topicsOf = async (id: string) => (await deliveriesOf(id)).map(({ topic }) => topic).reverse();
  const endpoint = async (topics: string[]) =>
    (await service.admin<WebhookEndpoint>('POST', '/webhook-endpoints', { url: URL, topics })).body.id;
  const run = (connectionId: string, status: string) => addSyncRun(service, house.haulerId, connectionId, status);

  test('is sent once for each change, and "recovered" follows only what was announced', async () => {
    const connectionId = await connect('site');
    await enableWithoutRuns(service, connectionId);
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
    // Its next attempt is seconds later: an attempt after the end of the key would end the endpoint.
    await eventually(async () => expect((await deliveriesOf(mine)).map(({ attempts }) => attempts)).toEqual([1]));
    await expireKey(service, ending.id);
    await states();
    expect(await topicsOf(mine)).toEqual(['key.expiring', 'key.expired']);
    expect(await topicsOf(others)).toEqual([]);
    // Its next delivery would disable it, with a notice to the endpoints of other tests.
    expect((await service.admin('DELETE', `/webhook-endpoints/${mine}`)).status).toBe(204);
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
    await postponeReading(service, body.id);
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

  test('of a truck that was just read makes its reading due 10 s later, however often it comes', async () => {
    const connectionId = await connect('vision');
    const key = await issueConnectionKey(service, connectionId);
    const order = { connectionId, truckId: 'TRUCK-7', startTime: new Date().toISOString() };
    const { body } = await service.admin<{ id: string }>('POST', '/video-subscriptions', order);
    await postponeReading(service, body.id, 1);
    for (let i = 0; i < 3; i++) {
      const poked = await call(key.key, 'POST', '/pokes', { truckId: 'TRUCK-7' });
      expect([poked.status, poked.body]).toEqual([202, { polls: 1 }]);
    }
    const inSeconds = await secondsUntilReading(service, body.id);
    expect(inSeconds).toBeGreaterThan(5);
    expect(inSeconds).toBeLessThan(9.1);
  });

  test('counts a reading that begins while it waits for the row', async () => {
    const connectionId = await connect('vision');
    const { key } = await issueConnectionKey(service, connectionId);
    const order = { connectionId, truckId: 'TRUCK-7', startTime: new Date().toISOString() };
    const { body } = await service.admin<{ id: string }>('POST', '/video-subscriptions', order);
    await postponeReading(service, body.id);
    const poke = () => call(key, 'POST', '/pokes', { truckId: 'TRUCK-7' });
    expect((await beginReadingDuring(service, body.id, poke)).body).toEqual({ polls: 1 });
  });

  test('is refused beyond 60 a minute', async () => {
    const key = await issueConnectionKey(service, await connect('vision'));
    const poke = () => call(key.key, 'POST', '/pokes', { truckId: UNKNOWN });
    const statuses = (await Promise.all(Array.from({ length: 61 }, poke))).map(({ status }) => status);
    const { status, headers } = await poke();
    expect([...new Set(statuses.sort()), status]).toEqual([404, 429, 429]);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  });
});
