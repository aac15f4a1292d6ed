import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { HistoryEntry } from '../../src/contracts/admin/history.dto.js';
import type { List } from '../../src/contracts/admin/list.dto.js';
import { DEMO } from '../../src/demo/demo-data.js';
import { historyPage } from '../../src/exchanges/exchange-history.service.js';
import { ExchangeLog } from '../../src/exchanges/exchange-log.service.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { newestExchange } from '../support/exchange-scene.js';
import { sampleVideo } from '../support/sample-video.js';
import { type SandboxScene, startSandboxScene } from '../support/sandbox-scene.js';
import { json, refuses } from '../support/scripted-partner.js';
import { SITES_ROUTE, SiteScene } from '../support/site-scene.js';
import { orderVideo, readRequest, requestBecomes } from '../support/video-requests.js';
import {
  accepts,
  connectVision,
  element,
  hurry,
  lists,
  POST,
  startVisionPartner,
  VIDEOS,
  type VisionPartner,
} from '../support/vision-partner.js';

async function historyOf(service: TestApp, path: string): Promise<HistoryEntry[]> {
  await service.app.get(ExchangeLog).flush();
  const { status, body } = await service.admin<List<HistoryEntry>>('GET', `${path}/history?pageSize=100`);
  expect(status).toBe(200);
  const times = body.data.map(({ at }) => at);
  expect(times).toEqual(times.toSorted().reverse());
  return body.data.reverse();
}

describe('of a ticket and an account', () => {
  let scene: SandboxScene;
  beforeAll(async () => {
    scene = await startSandboxScene();
  });
  afterAll(() => scene.service.close());

  const flow = (ticketNumber: string, second: number) => ({
    ticketNumber,
    updatedAt: `2026-11-20T14:00:0${second}Z`,
  });
  const material = { id: DEMO.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' };

  test('shows each push with its request id, key, result and difference, and the refused ones that named its numbers', async () => {
    const push = async (requestId: string, ticket: object) =>
      (await scene.pushTicket({ 'X-Request-Id': requestId }, ticket)).body as unknown as { disposalTicketId: string };
    const { disposalTicketId: id } = await push('created', { inboundFlow: flow('IN-H', 1) });
    await push('refused', { inboundFlow: flow('IN-H', 2), materials: [{ ...material, id: randomUUID() }] });
    await push('updated', { inboundFlow: flow('IN-H', 3), materials: [{ ...material, quantity: 2 }] });
    await push('stale', { inboundFlow: flow('IN-H', 2), materials: [{ ...material, quantity: 3 }] });
    await push('unchanged', { inboundFlow: flow('IN-H', 3), materials: [{ ...material, quantity: 2 }] });
    await push('another ticket', { inboundFlow: flow('IN-OTHER', 1) });
    const { keyPrefix, apiKeyId } = await newestExchange(scene.service, { requestId: 'created' });
    const history = await historyOf(scene.service, `/tickets/${id}`);
    const pushed = { event: 'push', status: 200, keyPrefix, apiKeyId };
    expect(history).toMatchObject([
      { ...pushed, requestId: 'created', result: 'created', revision: 1, changes: [] },
      { event: 'refused', status: 422, keyPrefix, apiKeyId, requestId: 'refused', result: '422 materialExists' },
      { ...pushed, requestId: 'updated', result: 'updated', revision: 2, changes: ['inboundFlow', 'materials'] },
      { ...pushed, requestId: 'stale', result: 'stale', revision: 3, changes: ['inboundFlow', 'materials'] },
      { ...pushed, requestId: 'unchanged', result: 'unchanged' },
    ]);
    expect(history[1]?.text).toMatch(/Nothing was stored\. The response says: .*material/);
    for (const { exchangeId, requestId = '' } of history) {
      expect(exchangeId).toBe((await newestExchange(scene.service, { requestId })).id);
    }
    const page = await scene.service.admin<List<HistoryEntry>>('GET', `/tickets/${id}/history?page=2&pageSize=2`);
    expect(page.body.data.map(({ requestId }) => requestId)).toEqual(['updated', 'refused']);
    expect(page.body.pagination).toMatchObject({ totalItems: 5, totalPages: 3 });
  });

  test('shows the stored pushes after their exchanges were dropped', async () => {
    const { body } = await scene.pushTicket({}, { inboundFlow: flow('IN-OLD', 1) });
    const { disposalTicketId: id } = body as unknown as { disposalTicketId: string };
    await scene.service.app.get(ExchangeLog).flush();
    await scene.service.dataSource.query('DELETE FROM exchanges');
    expect(await historyOf(scene.service, `/tickets/${id}`)).toMatchObject([{ event: 'push', result: 'created' }]);
  });

  test('of an account shows its creation, repeats and the calls that wanted its name', async () => {
    const create = (name: string, key: string) => scene.createAccount(name, { 'Idempotency-Key': key });
    const { body } = await create('Prairie', 'h1');
    const { accountId } = body as unknown as { accountId: string };
    await create('Prairie', 'h1');
    await create('PRAIRIE ', 'h2');
    const path = `/accounts/${accountId}`;
    expect(await historyOf(scene.service, path)).toMatchObject([
      { event: 'push', status: 200, result: 'created' },
      { event: 'push', status: 200, result: 'replayed' },
      { event: 'refused', status: 409, result: '409 NAME_TAKEN' },
    ]);
    await scene.service.dataSource.query('DELETE FROM exchanges');
    expect(await historyOf(scene.service, path)).toMatchObject([{ event: 'state', text: 'The account was created.' }]);
  });

  test.each(['tickets', 'accounts', 'video-requests', 'sync-runs'])('of unknown %s is 404', async (kind) => {
    expect((await scene.service.admin('GET', `/${kind}/${randomUUID()}/history`)).status).toBe(404);
  });
});

describe('of a synchronisation run', () => {
  let scene: SiteScene;
  beforeAll(async () => {
    scene = await SiteScene.start();
  });
  beforeEach(() => scene.renew());
  afterAll(() => scene.stop());

  test('shows its calls, its result and the decision of an admin', async () => {
    const site = (n: number) => ({ id: randomUUID(), name: `Site ${n}`, updatedAt: '2026-11-20T14:00:00Z' });
    const sites = Array.from({ length: 20 }, (_, n) => site(n));
    await scene.sync({ sites, kiosks: [], materials: [] });
    const { id, status } = await scene.sync({ sites: sites.slice(0, 5), kiosks: [], materials: [] });
    expect(status).toBe('held');
    await scene.service.admin('POST', `/sync-runs/${id}/reject`, { note: 'Export was cut' });
    const history = await historyOf(scene.service, `/sync-runs/${id}`);
    expect(history.map(({ event }) => event)).toEqual(['state', 'call', 'state', 'decision']);
    const [, call, end, decision] = history;
    expect(call).toMatchObject({ status: 200, exchangeId: expect.any(String) });
    expect(call?.text).toContain('/scale-platform/v1/sites received 200');
    expect(end?.text).toMatch(
      /^The run ended as held\. Records: sites .*15 held.* Held: the removal of 15 of 20 sites/,
    );
    expect(decision?.text).toMatch(/rejected.*, by admin\. Note: Export was cut/);
  });

  test('shows each failed call', async () => {
    scene.partner.on(SITES_ROUTE, refuses(400, 'INVALID_PAYLOAD', 'no such hauler'));
    const run = await scene.ended(await scene.request());
    const history = await historyOf(scene.service, `/sync-runs/${run.id}`);
    expect(history.map(({ event, status }) => [event, status])).toEqual([
      ['state', undefined],
      ['call', 400],
      ['state', undefined],
    ]);
    expect(history[2]?.text).toContain('The run ended as failed.');
  });
});

describe('of a clip', () => {
  let app: TestApp;
  let partner: VisionPartner;
  beforeAll(async () => {
    app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
    partner = await startVisionPartner();
  });
  afterAll(async () => {
    await app.close();
    await partner.stop();
  });

  test('shows how it was submitted, the polls that changed something, download attempts and replaced links', async () => {
    partner.on(POST, refuses(503, 'INTERNAL_ERROR', 'busy'), accepts({ requestId: 'req-history' }));
    const request = { requestId: 'req-history', status: 'processing' };
    const nothing = lists('videos', () => [], { request });
    partner.on(VIDEOS, refuses(404, 'NOT_FOUND', 'no such request'), nothing);
    const { id: connectionId } = await connectVision(app, partner.url);
    const id = await orderVideo(app, connectionId);
    await eventually(async () => {
      await hurry(app);
      expect(partner.askedOf(VIDEOS).length).toBeGreaterThan(3);
    });
    const refusing = partner.link(sampleVideo(), (_, response) => void response.writeHead(403).end());
    const links = [refusing, partner.link(sampleVideo())];
    partner.on(VIDEOS, (response, asked) => {
      const downloadUrl = links.length > 1 ? links.shift() : links[0];
      const clip = element({ requestId: 'req-history', id: 'clip-1', downloadUrl });
      lists('videos', () => [clip], { request: { requestId: 'req-history', status: 'ready' } })(response, asked);
    });
    await requestBecomes(app, id, { status: 'stored' });
    const history = await historyOf(app, `/video-requests/${id}`);
    expect(history.map(({ event, status = 0, text }) => `${event} ${status} ${text}`)).toEqual([
      expect.stringMatching(/^state 0 The video was requested/),
      expect.stringMatching(/^submitted 503 The request was not accepted, and is sent again: .*busy/),
      expect.stringMatching(/^submitted 202 The state is processing/),
      expect.stringMatching(/^poll 404 Still processing: .*no such request/),
      expect.stringMatching(/^poll 200 The partner gives no reason any more/),
      expect.stringMatching(/^poll 200 The partner listed 1 new clip/),
      expect.stringMatching(/^poll 200 The state is ready/),
      expect.stringMatching(/^state 0 The state is downloading/),
      expect.stringMatching(/^download 403 A new link is needed\. .*403/),
      expect.stringMatching(/^state 0 The state is ready/),
      expect.stringMatching(/^link-replaced 200 The partner listed new link 1/),
      expect.stringMatching(/^state 0 The state is downloading/),
      expect.stringMatching(/^download 200 The file is stored, 50000 bytes/),
      expect.stringMatching(/^state 0 The state is stored/),
    ]);
    expect(JSON.stringify(history)).not.toContain('sig=secret');
    const failed = history[1]?.exchangeId ?? '';
    const { body } = await app.admin<{ references: object[] }>('GET', `/exchanges/${failed}`);
    expect(body.references).toContainEqual({ kind: 'videoRequestId', value: id });
    expect((await readRequest(app, id)).status).toBe('stored');
  });

  test('names its parts, and why a part failed', async () => {
    partner.on(POST, json({ success: true, requestId: 'r', status: 'failed', message: 'no camera' }));
    const { id: connectionId } = await connectVision(app, partner.url);
    const id = await orderVideo(app, connectionId, { endTime: '2026-01-31T10:00:00Z' });
    await requestBecomes(app, id, { status: 'failed' });
    const texts = (await historyOf(app, `/video-requests/${id}`)).map(({ text }) => text);
    for (const part of [1, 2]) {
      expect(texts).toContain(`Part ${part}: The state is failed. The partner refused the request: no camera`);
    }
  });
});

test('lists what happened at a whole second after the later entries of that second', () => {
  const entries = ['2026-11-25T00:00:01.004Z', '2026-11-25T00:00:01Z', '2026-11-25T00:00:00.9Z'].map((at) => ({
    at,
    event: 'state' as const,
    text: at,
  }));
  expect(historyPage(entries.toReversed(), {}).data).toEqual(entries);
});
