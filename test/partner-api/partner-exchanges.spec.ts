import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ExchangeDetail, ExchangeList } from '../../src/contracts/admin/exchange.dto.js';
import { ExchangeLog } from '../../src/exchanges/exchange-log.service.js';
import { createHauler, issueKey, type TestKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';

let service: TestApp;
let own: TestKey;
let other: TestKey;
beforeAll(async () => {
  service = await startTestApp({ env: { SANDBOX: true } });
  const haulerId = await createHauler(service);
  own = await issueKey(service, ['account', 'scale'], { haulerId, expiresAt: '2099-01-01T00:00:00Z' });
  other = await issueKey(service, ['account'], { haulerId });
  for (const { key } of [own, other]) {
    await service.call('POST', '/platform-api/v1/accounts', {
      headers: { 'PLATFORM-API-KEY': key },
      body: { accountName: 'Green Valley' },
    });
  }
  await service.app.get(ExchangeLog).flush();
});
afterAll(() => service.close());

const get = <T>(path: string, headers: Record<string, string> = { 'PLATFORM-API-KEY': own.key }) =>
  service.call<T>('GET', `/partner/v1${path}`, { headers });

test('a key reads what it opens, in either header', async () => {
  const expected = {
    interfaces: ['account', 'scale'],
    haulerId: own.haulerId,
    keyPrefix: own.prefix,
    expiresAt: '2099-01-01T00:00:00Z',
    sandbox: true,
  };
  for (const header of ['PLATFORM-API-KEY', 'API-KEY']) {
    expect((await get('/me', { [header]: own.key })).body).toEqual(expected);
  }
  const vision = await issueKey(service, ['vision'], { customerId: 'green-valley' });
  const { body } = await get('/me', { 'API-KEY': vision.key });
  expect(body).toMatchObject({ interfaces: ['vision'], customerId: 'green-valley', expiresAt: null });
});

test('a key lists its own calls alone, and reads one of them in full', async () => {
  const { body } = await get<ExchangeList>('/exchanges?reference=accountName:Green%20Valley');
  expect(body.data).toMatchObject([{ status: 200, result: 'created', keyPrefix: own.prefix }]);
  const { id = '' } = body.data[0] ?? {};
  const { body: full } = await get<ExchangeDetail>(`/exchanges/${id}`);
  expect(full.request.body?.text).toBe('{"accountName":"Green Valley"}');
  expect(full.explanation).toContain('received 200');
  const foreign = await get<ExchangeList>('/exchanges', { 'PLATFORM-API-KEY': other.key });
  expect(foreign.body.data).toMatchObject([{ status: 409, result: '409 NAME_TAKEN' }]);
  expect((await get(`/exchanges/${id}`, { 'PLATFORM-API-KEY': other.key })).status).toBe(404);
});

test('filters of the admin API, unknown filters, and cursors of another key are 400', async () => {
  for (const query of [`apiKeyId=${other.id}`, `haulerId=${own.haulerId}`, 'colour=red', 'status=nice']) {
    expect((await get(`/exchanges?${query}`)).status).toBe(400);
  }
  await get('/me');
  await service.call('POST', '/platform-api/v1/accounts', { headers: { 'PLATFORM-API-KEY': own.key }, body: {} });
  await service.app.get(ExchangeLog).flush();
  const { body } = await get<ExchangeList>('/exchanges?pageSize=1');
  expect(body.next).not.toBeNull();
  const path = `/exchanges?pageSize=1&cursor=${body.next}`;
  expect((await get(path)).status).toBe(200);
  expect((await get(path, { 'PLATFORM-API-KEY': other.key })).status).toBe(400);
});

test('no key is 401', async () => {
  for (const path of ['/me', '/exchanges']) expect((await get(path, {})).status).toBe(401);
});
