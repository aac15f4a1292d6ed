import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Action } from '../../../src/contracts/admin/action.dto.js';
import { createHauler, issueKey, type TestKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { site } from '../../support/site-data.js';

let service: TestApp;
let haulerId: string;
beforeAll(async () => {
  service = await startTestApp({ env: { SANDBOX: true, OUTBOUND_ALLOW_PRIVATE: true } });
  haulerId = await createHauler(service, 'Logged');
});
afterAll(() => service.close());

const actions = async (query = '') =>
  (await service.admin<{ data: Action[] }>('GET', `/actions?pageSize=100${query}`)).body.data;
const last = async () => (await actions())[0];

const UNKNOWN = {
  dryRun: true,
  ...Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`member${i}`, `unknown-${i}`])),
};

const withUnknown = (body: object) => ({ ...UNKNOWN, ...body });

describe('each write is listed with what the service read, and without unknown members', () => {
  let connectionId: string;
  let partner: TestKey;
  beforeAll(async () => {
    partner = await issueKey(service, ['scale', 'vision'], { haulerId, customerId: 'green-valley' });
    const { body } = await service.admin<{ id: string }>('POST', '/connections', connection());
    connectionId = body.id;
  });

  const connection = () => ({
    haulerId,
    interface: 'site',
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'the-secret-of-the-partner',
    enabled: false,
  });
  const camera = { customerId: 'green-valley', truckId: 'T-1', cameraId: 'front', aliases: ['1'] };
  const recording = { customerId: 'c', truckId: 't', cameraId: '1', startTime: '2026-01-31T08:30:00Z' };

  test.each<[action: string, method: string, path: () => string, body: () => object, changes: object]>([
    ['createHauler', 'POST', () => '/haulers', () => ({ name: 'Other' }), { name: 'Other' }],
    [
      'issueApiKey',
      'POST',
      () => '/api-keys',
      () => ({ haulerId, interfaces: ['scale'], name: 'North' }),
      { haulerId: expect.any(String), interfaces: ['scale'], name: 'North' },
    ],
    [
      'rotateApiKey',
      'POST',
      () => `/api-keys/${partner.id}/rotate`,
      () => ({ overlapSeconds: 60 }),
      { overlapSeconds: 60 },
    ],
    [
      'createConnection',
      'POST',
      () => '/connections',
      connection,
      {
        haulerId: expect.any(String),
        interface: 'site',
        baseUrl: 'http://127.0.0.1:9',
        apiKey: '[redacted]',
        enabled: false,
      },
    ],
    [
      'updateConnection',
      'PATCH',
      () => `/connections/${connectionId}`,
      () => ({ intervalSeconds: 900 }),
      { intervalSeconds: 900 },
    ],
    ['setHostedCamera', 'PUT', () => '/hosted/cameras', () => camera, camera],
    [
      'startScenario',
      'PUT',
      () => `/sandbox/haulers/${haulerId}/scenarios/server-error`,
      () => ({ times: 2 }),
      { name: 'server-error', times: 2 },
    ],
    ['advanceClock', 'POST', () => '/sandbox/customers/c/clock', () => ({ advanceSeconds: 1 }), { advanceSeconds: 1 }],
    [
      'replaceHostedSiteData',
      'PUT',
      () => `/hosted/haulers/${haulerId}/site-data`,
      () => ({ sites: [site('A')] }),
      expect.objectContaining({ sites: 1, kiosks: 0, materials: 0 }),
    ],
  ])('%s', async (action, method, path, body, changes) => {
    const { status } = await service.admin(method, path(), withUnknown(body()));
    expect(status).toBeLessThan(300);
    expect(await last()).toMatchObject({ actor: 'admin', action });
    expect((await last())?.changes).toEqual(changes);
  });

  test('an upload, with what was stored', async () => {
    const query = new URLSearchParams({ ...recording, endTime: '2026-01-31T08:31:00Z', dryRun: 'true' }).toString();
    const { body } = await service.call<{ id: string; sha256: string }>(
      'POST',
      `/admin/v1/hosted/recordings?${query}`,
      {
        headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, 'Content-Type': 'video/mp4' },
        body: sampleVideo(1_000),
      },
    );
    const { sha256 } = body;
    expect(await last()).toMatchObject({ action: 'uploadHostedRecording', resource: `hosted:${body.id}` });
    expect((await last())?.changes).toMatchObject({
      ...recording,
      startTime: '2026-01-31T08:30:00.000000Z',
      sizeBytes: 1_000,
      sha256,
    });
  });

  test('a replay of one exchange, and of many', async () => {
    await service.call('POST', '/platform-api/v1/tickets', { headers: { 'PLATFORM-API-KEY': partner.key }, body: {} });
    const [exchange] = await eventually(async () => {
      const found = await service.admin<{ data: { id: string }[] }>('GET', `/exchanges?apiKeyId=${partner.id}`);
      expect(found.body.data).toHaveLength(1);
      return found.body.data;
    });
    const one = await service.admin('POST', `/exchanges/${exchange?.id}/replay`, withUnknown({}));
    expect(one.status).toBe(201);
    expect(await last()).toMatchObject({ action: 'replayExchange', resource: `exchange:${exchange?.id}` });
    const filter = { apiKeyId: partner.id, dryRun: false };
    expect((await service.admin('POST', '/exchanges/replay', filter)).status).toBe(200);
    expect(await last()).toMatchObject({ action: 'replayExchanges', changes: filter });
  });

  test('a delete, whose body nobody reads', async () => {
    const { id } = await issueKey(service, ['account'], { haulerId });
    expect((await service.admin('DELETE', `/api-keys/${id.toUpperCase()}`, { dryRun: true })).status).toBe(204);
    expect(await last()).toMatchObject({ action: 'revokeApiKey', resource: `api-key:${id}` });
    expect(await last()).not.toHaveProperty('changes');
  });

  test('the calls of a partner, by the prefix of its key', async () => {
    const call = (method: string, path: string, body?: object) =>
      service.call(method, `/partner/v1/sandbox${path}`, { headers: { 'API-KEY': partner.key }, body });
    const actor = `partner:${partner.prefix}`;
    expect((await call('PUT', '/scenarios/unavailable', withUnknown({ times: 1 }))).status).toBe(200);
    expect(await last()).toMatchObject({ actor, action: 'startOwnScenario', resource: `hauler:${haulerId}` });
    expect((await last())?.changes).toEqual({ name: 'unavailable', times: 1 });
    expect((await call('POST', '/clock', withUnknown({ advanceSeconds: 1 }))).status).toBe(200);
    expect((await last())?.changes).toEqual({ advanceSeconds: 1 });
    expect((await call('DELETE', '/scenarios/unavailable')).status).toBe(204);
    expect(await last()).toMatchObject({ actor, action: 'endOwnScenario', changes: { name: 'unavailable' } });
  });
});

test('a long value is cut, and hides no other one', async () => {
  const aliases = ['1', 'x'.repeat(255), ...Array.from({ length: 98 }, (_, i) => `alias-${i}`)];
  const camera = { customerId: 'c', truckId: 'T-2', cameraId: 'rear', aliases };
  expect((await service.admin('PUT', '/hosted/cameras', camera)).status).toBe(200);
  const changes = (await last())?.changes as { cameraId: string; aliases: string[] };
  expect(changes.cameraId).toBe('rear');
  expect(changes.aliases.slice(0, 50)).toEqual(aliases.slice(0, 50));
  expect(changes.aliases[50]).toBe('… [100 elements]');
});

test('a call that failed is listed with its error, because it may have changed something', async () => {
  await service.dataSource.query('ALTER TABLE haulers ADD CONSTRAINT broken CHECK (name <> $$Broken$$)');
  expect((await service.admin('POST', '/haulers', withUnknown({ name: 'Broken' }))).status).toBe(500);
  await eventually(async () =>
    expect(await last()).toMatchObject({
      actor: 'admin',
      action: 'createHauler',
      resource: 'hauler',
      changes: { name: 'Broken' },
      error: 'unexpected error',
      sentence: 'An admin with the token sent a call that failed, and may have created the hauler: unexpected error.',
    }),
  );
});

test('says in a sentence who did what on which thing, by its name, also of what was deleted', async () => {
  const { body: connection } = await service.admin<{ id: string }>('POST', '/connections', {
    haulerId,
    interface: 'vision',
    customerId: 'green-valley',
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'the-secret-of-the-partner',
    enabled: false,
  });
  const { body: key } = await service.admin<{ id: string; prefix: string }>('POST', '/api-keys', {
    haulerId,
    interfaces: ['scale'],
    name: 'Scale house',
  });
  const { body: truck } = await service.admin<{ id: string }>('POST', '/video-subscriptions', {
    connectionId: connection.id,
    truckId: 'TRUCK-7',
    startTime: '2026-01-31T08:00:00Z',
  });
  await service.admin('PATCH', `/connections/${connection.id}`, { apiKey: 'another-secret-of-the-partner' });
  await service.admin('PATCH', `/connections/${connection.id}`, { enabled: true });
  await service.admin('PATCH', `/connections/${connection.id}`, { enabled: false });
  await service.admin('DELETE', `/video-subscriptions/${truck.id}`);
  await service.admin('DELETE', `/connections/${connection.id}`);
  await service.admin('DELETE', `/api-keys/${key.id}`);
  await service.admin('POST', '/retention', {});
  const name = `key ${key.prefix}… (Scale house) of Logged`;
  expect((await actions()).slice(0, 10).map(({ sentence }) => sentence)).toEqual([
    'An admin with the token deleted stored video by age.',
    `An admin with the token revoked the ${name}.`,
    'An admin with the token deleted the vision connection of Logged.',
    'An admin with the token ended the subscription of TRUCK-7 of Logged.',
    'An admin with the token paused the vision connection of Logged.',
    'An admin with the token resumed the vision connection of Logged.',
    'An admin with the token replaced the key of the vision connection of Logged.',
    'An admin with the token created the subscription of TRUCK-7 of Logged.',
    `An admin with the token issued the ${name}.`,
    'An admin with the token created the vision connection of Logged.',
  ]);
  await service.dataSource.query(
    `INSERT INTO actions (id, actor, action, resource) VALUES (gen_random_uuid(), 'partner:hb_gone', 'callOfOld', 'thing:7')`,
  );
  expect((await last())?.sentence).toBe('A partner with the key hb_gone… called callOfOld on the thing 7.');
});

test('is filtered by from and to', async () => {
  expect(await actions('&from=2999-01-01T00:00:00Z')).toEqual([]);
  expect(await actions('&to=2000-01-01T00:00:00Z')).toEqual([]);
  expect((await actions('&from=2000-01-01T00:00:00Z&to=2999-01-01T00:00:00Z')).length).toBeGreaterThan(0);
});
