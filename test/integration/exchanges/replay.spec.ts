import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { ExchangeDetail } from '../../../src/contracts/admin/exchange.dto.js';
import type { ReplayedExchange, ReplayedExchanges } from '../../../src/contracts/admin/replay.dto.js';
import { DEMO } from '../../../src/demo/demo-data.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { sealKey } from '../../../src/partner-client/connection-keys.service.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { CatalogFixture } from '../../support/catalog.js';
import { exchangeInFull, listExchanges, newestExchange } from '../../support/exchange-scene.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';
import { answer, PARTNER_KEY, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';
import { eventually } from '../../support/eventually.js';
import { refuses } from '../../support/scripted-partner.js';
import { orderVideo } from '../../support/video-requests.js';
import { accepts, POST, startVisionPartner } from '../../support/scripted-vision.js';
import { connectVision } from '../../support/vision-partner.js';

const replayOn = (service: TestApp, id: string, body: object = {}) =>
  service.admin<ReplayedExchange>('POST', `/exchanges/${id}/replay`, body);
const read = async (service: TestApp, id: string) => {
  await service.app.get(ExchangeLog).flush();
  return (await service.admin<ExchangeDetail>('GET', `/exchanges/${id}`)).body;
};

describe('an inbound push', () => {
  let scene: SandboxScene;
  let catalog: CatalogFixture;
  beforeAll(async () => {
    scene = await startSandboxScene();
    catalog = new CatalogFixture(scene.service.dataSource);
  });
  afterAll(() => scene.service.close());

  const flow = (ticketNumber: string) => ({ ticketNumber, updatedAt: '2026-11-20T14:00:00Z' });
  const unknown = () => ({ id: randomUUID(), name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' });
  const replay = (id: string, body: object = {}) => replayOn(scene.service, id, body);
  const ticketCount = async (number: string, haulerId = scene.haulerId) => {
    const path = `/tickets?haulerId=${haulerId}&ticketNumber=${number}`;
    return (await scene.service.admin<{ data: unknown[] }>('GET', path)).body.data.length;
  };

  test('that was refused is sent again as it was, under a new request id, and is then accepted', async () => {
    const material = unknown();
    const key = { 'Idempotency-Key': 'replay-422', 'X-Request-Id': 'the-first-push' };
    await scene.pushTicket(key, { materials: [material], inboundFlow: flow('IN-R1') });
    const first = await exchangeInFull(scene.service, { requestId: 'the-first-push' });
    expect(first.status).toBe(422);
    await catalog.material(scene.haulerId, { siteId: DEMO.siteId }, { id: material.id });
    const { status, body } = await replay(first.id);
    expect([status, body.status, body.earlier.status, body.now?.status]).toEqual([201, 200, 422, 200]);
    expect(body.earlier.response?.body?.text).toBe(first.response?.body?.text);
    expect(body.now?.response?.headers['ticket-result']).toBe('created');
    const again = await read(scene.service, body.exchangeId);
    expect(again).toMatchObject({
      replayOf: first.id,
      result: 'created',
      path: first.path,
      haulerId: scene.haulerId,
      apiKeyId: first.apiKeyId,
      keyPrefix: first.keyPrefix,
    });
    expect(again.requestId).not.toBe('the-first-push');
    expect(again.request.body).toEqual(first.request.body);
    expect(again.request.headers).not.toHaveProperty('idempotency-key');
    expect(again.explanation).toContain(`It repeats exchange ${first.id}.`);
    expect(await ticketCount('IN-R1')).toBe(1);
  });

  test('that was accepted is sent again with every byte, and its Idempotency-Key prevents a second ticket', async () => {
    const body = `{"siteId":"${DEMO.siteId}","materials":[{"id":"${DEMO.materialId}","name":"Debris","quantity":1.50,"unitOfMeasure":"Ton"}], "apiKey":"of-the-partner","note":"${'x'.repeat(20_000)}"}`;
    const headers = { 'PLATFORM-API-KEY': scene.platformKey, 'Idempotency-Key': 'replay-200' };
    const pushed = await scene.service.call('POST', '/platform-api/v1/tickets', { headers, body });
    expect(pushed.status).toBe(200);
    const first = await newestExchange(scene.service, { reference: 'idempotencyKey:replay-200' });
    const { exchangeId } = (await replay(first.id)).body;
    const again = await read(scene.service, exchangeId);
    expect([again.status, again.result]).toEqual([200, 'replayed']);
    expect(again.request.body?.sha256).toBe((await read(scene.service, first.id)).request.body?.sha256);
    expect(again.response?.body?.text).toBe(pushed.text);
  });

  test('is sent for another hauler, whose ticket names no key', async () => {
    const other = await issueKey(scene.service, ['scale']);
    await catalog.site(other.haulerId, { id: DEMO.siteId });
    await catalog.material(other.haulerId, { siteId: DEMO.siteId }, { id: DEMO.materialId });
    await scene.pushTicket({}, { inboundFlow: flow('IN-R2') });
    const first = await newestExchange(scene.service, { reference: 'ticketNumber:IN-R2' });
    const { body } = await replay(first.id, { haulerId: other.haulerId });
    const again = await read(scene.service, body.exchangeId);
    expect(again).toMatchObject({ status: 200, haulerId: other.haulerId, apiKeyId: null, keyPrefix: null });
    expect([await ticketCount('IN-R2'), await ticketCount('IN-R2', other.haulerId)]).toEqual([1, 1]);
    for (const haulerId of [randomUUID(), 'x']) {
      const refused = await replay(first.id, { haulerId });
      expect(refused.status).toBe(400);
      expect(refused.body).toMatchObject({ error: { details: { violations: [{ path: 'haulerId' }] } } });
    }
  });

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

  test('cannot be sent again without its whole body, and a GET call or a download never', async () => {
    const headers = { 'PLATFORM-API-KEY': scene.platformKey };
    const call = (method: string, path: string, options: object) =>
      scene.service.call(method, path, options).then(({ headers: sent }) => sent.get('x-request-id') ?? '');
    const post = (body: unknown, more: object = headers) =>
      call('POST', '/platform-api/v1/accounts', { headers: more, body });
    const requestIds = [
      await post({ accountName: 1, filler: 'x'.repeat(20_000) }),
      await post({ accountName: 1, apiKey: 'a secret' }),
      await post({ accountName: 'Unknown' }, { 'PLATFORM-API-KEY': `hb_${'0'.repeat(49)}` }),
      await call('GET', `/scale-platform/v1/sites?haulerId=${scene.haulerId}`, {
        headers: { 'API-KEY': scene.partnerKey },
      }),
    ];
    const messages = [];
    for (const requestId of requestIds) {
      const { id } = await newestExchange(scene.service, { requestId });
      const { status, body } = await replay(id);
      messages.push([status, (body as unknown as { error: { message: string } }).error.message.split(': ')[1]]);
    }
    const notWhole = 'its body is not kept whole';
    expect(messages).toEqual([
      [409, notWhole],
      [409, notWhole],
      [409, 'the call had no valid API key, so its body was not read'],
      [409, 'only pushes can be replayed, and GET calls to partners'],
    ]);
    expect((await replay(randomUUID())).status).toBe(404);
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

    test('a dry run counts and sends nothing; then each is sent once, the oldest first', async () => {
      const material = unknown();
      for (const number of ['IN-M1', 'IN-M2']) {
        await scene.pushTicket({}, { materials: [material], inboundFlow: flow(number) });
      }
      await scene.pushTicket({}, { materials: [{ ...material, filler: 'x'.repeat(20_000) }] });
      await catalog.material(scene.haulerId, { siteId: DEMO.siteId }, { id: material.id });
      await scene.service.app.get(ExchangeLog).flush();
      const filter = { reference: `materialId:${material.id}`, status: '422' };
      const dry = await many({ ...filter, dryRun: true });
      expect(dry.status).toBe(200);
      expect(dry.body).toMatchObject({
        matched: 3,
        replayed: 0,
        skipped: [{ reason: expect.stringContaining('not kept whole') }],
      });
      expect(await ticketCount('IN-M1')).toBe(0);
      expect((await many(filter)).body).toMatchObject({ matched: 3, replayed: 2 });
      expect([await ticketCount('IN-M1'), await ticketCount('IN-M2')]).toEqual([1, 1]);
      const { body } = await listExchanges(scene.service, { reference: filter.reference, status: '200' });
      const numbers = body.data.map(({ references }) => references.find(({ kind }) => kind === 'ticketNumber')?.value);
      expect(numbers).toEqual(['IN-M2', 'IN-M1']);
      // The replays are exchanges of the filter, and are not replayed themselves.
      const { reference } = filter;
      const second = await many({ reference, status: '200' });
      expect(second.body).toMatchObject({
        matched: 2,
        replayed: 0,
        skipped: [{ reason: expect.stringMatching(/^it is a replay of /) }, {}],
      });
    });

    test.each([
      [{ colour: 'red' }, 'colour'],
      [{ pageSize: 5 }, 'pageSize'],
      [{ reference: 'colour:red' }, 'reference'],
      [{}, ''],
      [{ dryRun: false }, ''],
      [{ dryRun: 'yes' }, 'dryRun'],
    ])('refuses %j with the field', async (body, path) => {
      const { status, body: refused } = await many(body);
      expect(status).toBe(400);
      expect(refused).toMatchObject({ error: { details: { violations: [{ path }] } } });
    });

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

  test('is an action of the admin', async () => {
    const { id } = await newestExchange(scene.service, { reference: 'accountName:Logged' });
    await replay(id);
    const { body } = await scene.service.admin<{ data: { action: string }[] }>(
      'GET',
      `/actions?resource=exchange:${id}`,
    );
    expect(body.data[0]).toMatchObject({ action: 'replayExchange', actor: 'admin' });
  });
});

describe('an outbound call', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start();
  });
  beforeEach(() => scene.renew());
  afterAll(() => scene.stop());

  const data = { sites: [], kiosks: [], materials: [] };

  test('GET is sent again, its answer is shown beside the earlier one, and nothing else changes', async () => {
    scene.partner.on(SITES_ROUTE, refuses(503, 'INTERNAL_ERROR', 'maintenance'));
    await scene.service.admin('POST', `/connections/${scene.connectionId}/check`);
    const first = await newestExchange(scene.service, { connectionId: scene.connectionId });
    scene.partner.on(SITES_ROUTE, answer(data));
    const { status, body } = await replayOn(scene.service, first.id);
    expect([status, body.status, body.earlier.status]).toEqual([201, 200, 503]);
    expect(body.earlier.response?.body?.text).toContain('maintenance');
    expect(body.now?.response?.body?.text).toBe(JSON.stringify({ success: true, data }));
    const again = await read(scene.service, body.exchangeId);
    expect(again).toMatchObject({
      replayOf: first.id,
      direction: 'outbound',
      path: first.path,
      connectionId: scene.connectionId,
      haulerId: scene.haulerId,
    });
    expect(JSON.stringify(again)).not.toContain(PARTNER_KEY);
    expect(await scene.runs()).toEqual([]);
    const asked = scene.partner.askedOf(SITES_ROUTE);
    expect(asked.at(-1)?.search).toBe(asked[0]?.search);
  });

  test('POST is never sent a second time: 409', async () => {
    const vision = await startVisionPartner();
    const { id: connectionId } = await connectVision(scene.service, vision.url);
    vision.on(POST, accepts());
    await orderVideo(scene.service, connectionId);
    const posted = await eventually(async () => {
      const { body } = await listExchanges(scene.service, { connectionId, direction: 'outbound', interface: 'vision' });
      const found = body.data.find(({ method }) => method === 'POST');
      expect(found).toBeDefined();
      return found;
    });
    const { status, text } = await replayOn(scene.service, posted?.id ?? '');
    expect([status, text]).toEqual([409, expect.stringContaining('a POST to a partner is never sent twice')]);
    expect(vision.askedOf(POST)).toHaveLength(1);
    await vision.stop();
  });

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
