import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Action } from '../../src/contracts/admin/action.dto.js';
import { startTestApp, type TestApp } from '../support/app.js';

describe('the action log', () => {
  let service: TestApp;
  let haulerId: string;
  beforeAll(async () => {
    service = await startTestApp({ env: { SANDBOX: true, OUTBOUND_ALLOW_PRIVATE: true } });
    haulerId = (await service.admin<{ id: string }>('POST', '/haulers', { name: 'Logged' })).body.id;
  });
  afterAll(() => service.close());

  const actions = async (query = '') =>
    (await service.admin<{ data: Action[] }>('GET', `/actions?pageSize=100${query}`)).body.data;
  const connect = () =>
    service.admin<{ id: string }>('POST', '/connections', {
      haulerId,
      interface: 'site',
      baseUrl: 'http://127.0.0.1:9/?signature=hidden-part',
      apiKey: 'the-secret-of-the-partner',
      enabled: false,
    });

  test('names the actor and the change, newest first, without secrets', async () => {
    const refused = await connect();
    expect(refused.status).toBe(400);
    const { body } = await service.admin<{ id: string }>('POST', '/connections', {
      haulerId,
      interface: 'site',
      baseUrl: 'http://127.0.0.1:9',
      apiKey: 'the-secret-of-the-partner',
      enabled: false,
    });
    const resource = `connection:${body.id}`;
    await service.admin('PATCH', `/connections/${body.id}`, { nextApiKey: 'the-next-secret', intervalSeconds: 1800 });
    await service.admin('DELETE', `/connections/${body.id}`);
    const listed = await actions(`&resource=${resource}`);
    expect(listed.map(({ actor, action }) => [actor, action])).toEqual([
      ['admin', 'deleteConnection'],
      ['admin', 'updateConnection'],
      ['admin', 'createConnection'],
    ]);
    expect(listed[1]).toEqual({
      id: expect.any(String),
      at: expect.any(String),
      actor: 'admin',
      action: 'updateConnection',
      resource,
      changes: { nextApiKey: '[redacted]', intervalSeconds: 1800 },
    });
    expect(JSON.stringify(await actions())).not.toMatch(/secret-of|next-secret|hidden-part/);
  });

  test('contains no reads, no refused calls and no dry runs', async () => {
    const before = await actions();
    await service.admin('GET', '/haulers');
    await service.admin('POST', '/haulers', { name: '' });
    await service.admin('POST', '/retention', { dryRun: true });
    expect(await actions()).toEqual(before);
  });

  test('names a console session and the key of a partner', async () => {
    const signIn = await service.call('POST', '/console/api/session', {
      headers: { 'X-Console': '1' },
      body: { token: service.env.ADMIN_TOKEN },
    });
    const Cookie = signIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const made = await service.call<{ id: string }>('POST', '/admin/v1/haulers', {
      headers: { Cookie, 'X-Console': '1' },
      body: { name: 'By console' },
    });
    expect((await actions(`&resource=hauler:${made.body.id}`))[0]?.actor).toBe('console');
    const { body: key } = await service.admin<{ key: string; prefix: string }>('POST', '/api-keys', {
      haulerId,
      interfaces: ['scale'],
    });
    const started = await service.call('PUT', '/partner/v1/sandbox/scenarios/unavailable', {
      headers: { 'API-KEY': key.key },
      body: { times: 1 },
    });
    expect(started.status).toBe(200);
    expect((await actions(`&resource=hauler:${haulerId}`))[0]).toMatchObject({
      actor: `partner:${key.prefix}`,
      action: 'startOwnScenario',
      changes: { times: 1 },
    });
  });

  test('is filtered by from and to', async () => {
    expect(await actions('&from=2999-01-01T00:00:00Z')).toEqual([]);
    expect(await actions('&to=2000-01-01T00:00:00Z')).toEqual([]);
    expect((await actions('&from=2000-01-01T00:00:00Z&to=2999-01-01T00:00:00Z')).length).toBeGreaterThan(0);
  });
});
