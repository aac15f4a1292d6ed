import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ExchangeRetention } from '../../src/exchanges/exchange-retention.job.js';
import { issueKey } from '../support/api-keys.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { listExchanges, newestExchange } from '../support/exchange-scene.js';

let service: TestApp;
const haulers: string[] = [];
const keys: string[] = [];

beforeAll(async () => {
  service = await startTestApp();
  for (let i = 0; i < 2; i++) {
    const { key, haulerId } = await issueKey(service, ['account']);
    haulers.push(haulerId);
    keys.push(key);
  }
  for (let i = 0; i < 6; i++) await createAccount(keys[i % 2] ?? '', i < 4 ? `Account ${i}` : '');
});
afterAll(() => service.close());

const createAccount = (key: string, accountName: string) =>
  service.call('POST', '/platform-api/v1/accounts', { headers: { 'PLATFORM-API-KEY': key }, body: { accountName } });

describe('the list', () => {
  test('is newest first, page by page, without totals', async () => {
    const ids: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const { body } = await listExchanges(service, { pageSize: '2', ...(cursor === '' ? {} : { cursor }) });
      expect(Object.keys(body).sort()).toEqual(['data', 'next']);
      ids.push(...body.data.map(({ id }) => id));
      cursor = body.next;
    }
    expect(ids).toHaveLength(6);
    expect(ids).toEqual([...new Set(ids)].sort().reverse());
  });

  test('a pair of filters applies both', async () => {
    const hauler = haulers[0] ?? '';
    const { apiKeyId } = await newestExchange(service, { haulerId: hauler });
    const filters = [
      [{ haulerId: hauler }, 3],
      [{ haulerId: hauler, status: '4xx' }, 1],
      [{ haulerId: hauler, status: '200' }, 2],
      [{ haulerId: hauler, errorCode: 'INVALID_PAYLOAD' }, 1],
      [{ haulerId: hauler, direction: 'inbound', interface: 'account' }, 3],
      [{ haulerId: hauler, interface: 'scale' }, 0],
      [{ haulerId: hauler, direction: 'outbound' }, 0],
      [{ haulerId: hauler, apiKeyId: apiKeyId ?? '' }, 3],
      [{ haulerId: hauler, reference: 'accountName:Account 0' }, 1],
      [{ haulerId: hauler, reference: 'accountName:Account 1' }, 0],
      [{ status: 'none' }, 0],
      [{ status: '5xx' }, 0],
      [{ status: '400' }, 2],
      [{ connectionId: randomUUID() }, 0],
      [{ from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' }, 0],
      [{ from: '2020-01-01T00:00:00Z' }, 6],
    ] as const;
    for (const [filter, count] of filters) {
      const { body } = await listExchanges(service, filter);
      expect([filter, body.data?.length]).toEqual([filter, count]);
    }
  });

  test('compares references exactly: * and % mean themselves', async () => {
    await createAccount(keys[0] ?? '', '100%*');
    expect((await listExchanges(service, { reference: 'accountName:100%*' })).body.data).toHaveLength(1);
    for (const value of ['Account%', 'Account*', 'account 0', 'Account']) {
      expect((await listExchanges(service, { reference: `accountName:${value}` })).body.data).toEqual([]);
    }
  });

  test.each([
    [{ colour: 'red' }, 'colour'],
    [{ page: '2' }, 'page'],
    [{ reference: 'colour:red' }, 'reference'],
    [{ reference: 'ticketNumber:' }, 'reference'],
    [{ reference: 'ticketNumber' }, 'reference'],
    [{ status: '6xx' }, 'status'],
    [{ cursor: 'nonsense' }, 'cursor'],
    [{ pageSize: '101' }, 'pageSize'],
    [{ interface: 'admin' }, 'interface'],
    [{ direction: 'sideways' }, 'direction'],
  ])('refuses %j with the field', async (filter, path) => {
    const { status, body } = await listExchanges(service, filter);
    expect(status).toBe(400);
    expect(body).toMatchObject({ error: { details: { violations: [{ path }] } } });
  });

  test('refuses the cursor of another query', async () => {
    const { body } = await listExchanges(service, { pageSize: '1', haulerId: haulers[0] ?? '' });
    const cursor = body.next ?? '';
    expect((await listExchanges(service, { cursor, haulerId: haulers[0] ?? '' })).status).toBe(200);
    expect((await listExchanges(service, { cursor, haulerId: haulers[1] ?? '' })).status).toBe(400);
    expect((await listExchanges(service, { cursor })).status).toBe(400);
  });

  test('an unknown exchange is 404', async () => {
    expect((await service.admin('GET', `/exchanges/${randomUUID()}`)).status).toBe(404);
  });
});

test('days before the retention are dropped, and the next days exist', async () => {
  const names = async () =>
    (
      await service.dataSource.query<{ name: string }[]>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'exchanges'::regclass ORDER BY 1`,
      )
    ).map(({ name }) => name);
  await service.dataSource.query("SELECT create_exchange_partitions('2020-01-01', '2020-01-02')");
  expect(await names()).toContain('exchanges_20200101');
  await service.app.get(ExchangeRetention).maintain();
  const kept = await names();
  expect(kept).not.toContain('exchanges_20200101');
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10).replaceAll('-', '');
  expect(kept).toContain(`exchanges_${tomorrow}`);
});

test('the list has a call as soon as its caller has the answer', async () => {
  const { key } = await issueKey(service, ['account']);
  for (let i = 0; i < 5; i++) {
    const { headers } = await createAccount(key, '');
    const address = `/exchanges?requestId=${headers.get('x-request-id')}`;
    expect((await service.admin<{ data: unknown[] }>('GET', address)).body.data).toHaveLength(1);
  }
});
