import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ExchangeDetail } from '../../../src/contracts/admin/exchange.dto.js';
import type { ReplayedExchange, ReplayedExchanges } from '../../../src/contracts/admin/replay.dto.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { sealKey } from '../../../src/partner-client/connection-keys.service.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { listExchanges, newestExchange } from '../../support/exchange-scene.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';
import { PARTNER_KEY, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';
import { refuses } from '../../support/scripted-partner.js';

const replayOn = (service: TestApp, id: string, body: object = {}) =>
  service.admin<ReplayedExchange>('POST', `/exchanges/${id}/replay`, body);
const read = async (service: TestApp, id: string) => {
  await service.app.get(ExchangeLog).flush();
  return (await service.admin<ExchangeDetail>('GET', `/exchanges/${id}`)).body;
};

describe('an inbound push', () => {
  let scene: SandboxScene;
  beforeAll(async () => {
    scene = await startSandboxScene();
  });
  afterAll(() => scene.service.close());

  const replay = (id: string, body: object = {}) => replayOn(scene.service, id, body);

  test('is sent after its key was revoked, and counts as no use of the key', async () => {
    const key = await issueKey(scene.service, ['account']);
    const headers = { 'PLATFORM-API-KEY': key.key };
    await scene.service.call('POST', '/platform-api/v1/accounts', { headers, body: { accountName: 'Replayed' } });
    await scene.service.admin('DELETE', `/api-keys/${key.id}`);
    const first = await newestExchange(scene.service, { apiKeyId: key.id });
    const { body } = await replay(first.id);
    expect(body.status).toBe(409);
    expect((await read(scene.service, body.exchangeId)).result).toBe('409 NAME_TAKEN');
  });

  test('that is not text is sent again with the same bytes', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    const headers = { 'PLATFORM-API-KEY': scene.platformKey, 'X-Request-Id': 'not-text' };
    await scene.service.call('POST', '/platform-api/v1/tickets', { headers, body: bytes });
    const first = await newestExchange(scene.service, { requestId: 'not-text' });
    const { body } = await replay(first.id);
    expect((await read(scene.service, body.exchangeId)).request.body?.base64).toBe(bytes.toString('base64'));
  });

  test('no header makes a request a replay', async () => {
    const reply = await scene.service.call('POST', '/platform-api/v1/accounts', {
      headers: { replay: randomUUID(), 'Replay-Of': randomUUID(), Host: 'replay' },
      body: { accountName: 'Forged' },
    });
    expect(reply.status).toBe(401);
  });

  describe('by filter', () => {
    const many = (body: object) => scene.service.admin<ReplayedExchanges>('POST', '/exchanges/replay', body);

    test('refuses a filter that matches more than 1,000 exchanges', async () => {
      const haulerId = randomUUID();
      await scene.service.dataSource.query(
        `INSERT INTO exchanges (id, hauler_id, request_bytes, response_bytes, duration_ms, status, request_form, response_form,
           in_revision, direction, interface, method, path, request_headers)
         SELECT uuidv7(), $1, 0, 0, 0, 200, 0, 0, false, 'inbound', 'scale', 'POST', '/', '{}' FROM generate_series(1, 1001)`,
        [haulerId],
      );
      expect((await many({ haulerId, dryRun: true })).status).toBe(400);
    });
  });

  test('is recorded with EXCHANGE_LOG=failures, and refused with off', async () => {
    await scene.createAccount('Logged');
    const { id } = await newestExchange(scene.service, { reference: 'accountName:Logged' });
    const failures = await startTestApp({ on: scene.service, env: { EXCHANGE_LOG: 'failures' } });
    const off = await startTestApp({ on: scene.service, env: { EXCHANGE_LOG: 'off' } });
    try {
      const { body } = await replayOn(failures, id);
      expect((await read(failures, body.exchangeId)).replayOf).toBe(id);
      expect((await replayOn(off, id)).status).toBe(409);
      expect((await off.admin('POST', '/exchanges/replay', { status: '422', dryRun: true })).status).toBe(409);
    } finally {
      await failures.close();
      await off.close();
    }
  });
});

describe('an outbound call', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start();
  });
  beforeEach(() => scene.renew());
  afterAll(() => scene.stop());

  test('a partner that fails again is a result', async () => {
    scene.partner.on(SITES_ROUTE, refuses(503, 'INTERNAL_ERROR', 'maintenance'));
    await scene.service.admin('POST', `/connections/${scene.connectionId}/check`);
    const { id } = await newestExchange(scene.service, { connectionId: scene.connectionId });
    expect((await replayOn(scene.service, id)).body).toMatchObject({ status: 503, now: { status: 503 } });
    const bulk = await scene.service.admin('POST', '/exchanges/replay', { connectionId: scene.connectionId });
    // A check asks twice, and the first replay is an exchange as well.
    expect(bulk.body).toMatchObject({ matched: 3, replayed: 2 });
    await scene.service.admin('DELETE', `/connections/${scene.connectionId}`);
    expect((await replayOn(scene.service, id)).status).toBe(404);
    expect((await replayOn(scene.service, id, { haulerId: scene.haulerId })).status).toBe(400);
  });

  test('by filter, one key that cannot be decrypted does not stop the others, and is named', async () => {
    const { haulerId } = scene;
    const connections = [scene.connectionId, await scene.connect(), await scene.connect()];
    scene.partner.on(SITES_ROUTE, refuses(503, 'INTERNAL_ERROR', 'maintenance'));
    for (const id of connections) await scene.service.admin('POST', `/connections/${id}/check`);
    // A check asks twice.
    const exchanges = [];
    for (const connectionId of connections) {
      exchanges.push(...(await listExchanges(scene.service, { connectionId })).body.data.map(({ id }) => id));
    }
    const broken = exchanges.slice(2, 4).sort();
    const sealed = sealKey(Buffer.alloc(32, 7), connections[1] ?? '', PARTNER_KEY);
    const seal = 'UPDATE connections SET sealed_key = $2 WHERE id = $1';
    await scene.service.dataSource.query(seal, [connections[1], sealed]);
    const before = scene.partner.asked.length;
    const bulk = await scene.service.admin<ReplayedExchanges>('POST', '/exchanges/replay', {
      haulerId,
      direction: 'outbound',
    });
    expect(bulk.status).toBe(200);
    const message = expect.stringContaining('save the key of the connection again');
    expect(bulk.body).toEqual({
      matched: 6,
      replayed: 4,
      skipped: [],
      failed: broken.map((exchangeId) => ({ exchangeId, code: 'CONFLICT', message })),
    });
    expect(scene.partner.asked).toHaveLength(before + 4);
    const single = await replayOn(scene.service, broken[0] ?? '');
    expect([single.status, single.body]).toMatchObject([409, { error: { code: 'CONFLICT', message } }]);
    await scene.service.admin('DELETE', `/connections/${connections[0]}`);
    const rest = await scene.service.admin<ReplayedExchanges>('POST', '/exchanges/replay', {
      haulerId,
      direction: 'outbound',
    });
    const codes = rest.body.failed.map(({ code }) => code);
    expect(codes.sort()).toEqual(['CONFLICT', 'CONFLICT', 'NOT_FOUND', 'NOT_FOUND']);
  });
});
