import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type {
  ExchangeDetail,
  ReplayedExchange,
  ReplayedExchanges,
} from '../../../src/contracts/admin/exchanges.routes.js';
import type { HistoryEntry } from '../../../src/contracts/admin/history.dto.js';
import type { List } from '../../../src/contracts/admin/list.dto.js';
import { ExchangeLog } from '../../../src/exchanges/exchange-log.service.js';
import { sealKey } from '../../../src/partner-client/connection-keys.service.js';
import type { TestApp } from '../../support/app.js';
import { eventually } from '../../support/eventually.js';
import { listExchanges } from '../../support/exchange-scene.js';
import { setConnectionRow } from '../../support/rows.js';
import { sampleVideo } from '../../support/sample-video.js';
import { breaks, gzipped, hangs, refuses } from '../../support/scripted-partner.js';
import { accepts, element, lists, POST, startVisionPartner, VIDEOS } from '../../support/scripted-vision.js';
import { PARTNER_KEY, SITES_ROUTE, SiteScene } from '../../support/site-scene.js';
import { hurryVideo } from '../../support/time.js';
import { orderVideo, readRequest, requestBecomes } from '../../support/video-requests.js';
import { connectVision } from '../../support/vision-partner.js';

let scene: SiteScene;
beforeAll(async () => {
  scene = await SiteScene.start({ env: { PARTNER_ANSWER_TIMEOUT: 1_000 } });
});
beforeEach(() => scene.renew());
afterAll(() => scene.stop());

const check = (connectionId = scene.connectionId) => scene.service.admin('POST', `/connections/${connectionId}/check`);

test('each way in which a partner does not answer is named by its exchange', async () => {
  const ways = [
    ['refuses with a status', refuses(503, 'INTERNAL_ERROR', 'maintenance'), 503, null],
    ['does not respond', hangs(), null, 'timed-out'],
    ['breaks off', breaks('{"success":true,"data":{}}', 10), 200, 'broken'],
    ['sends no JSON', gzipped('<html>'), 200, 'not-json'],
    ['cannot be reached', undefined, null, 'unreachable'],
  ] as const;
  const named = await Promise.all(
    ways.map(async ([way, reply]) => {
      const { partner, connectionId, service } = await scene.neighbour();
      if (reply === undefined) await setConnectionRow(service, connectionId, { baseUrl: 'http://127.0.0.1:1' });
      else partner.on(SITES_ROUTE, reply);
      await check(connectionId);
      const { id } = (await listExchanges(service, { connectionId })).body.data.at(-1) ?? {};
      const { body } = await service.admin<ExchangeDetail>('GET', `/exchanges/${id}`);
      expect([way, body.explanation]).toEqual([
        way,
        expect.stringMatching(/^Our call GET \/scale-platform\/v1\/sites /),
      ]);
      await partner.stop();
      return [way, body.status ?? null, body.failure ?? null];
    }),
  );
  expect(named).toEqual(ways.map(([way, , status, failure]) => [way, status, failure]));
});

const replayOn = (service: TestApp, id: string, body: object = {}) =>
  service.admin<ReplayedExchange>('POST', `/exchanges/${id}/replay`, body);

async function historyOf(service: TestApp, path: string): Promise<HistoryEntry[]> {
  await service.app.get(ExchangeLog).flush();
  const { status, body } = await service.admin<List<HistoryEntry>>('GET', `${path}/history?pageSize=100`);
  expect(status).toBe(200);
  const times = body.data.map(({ at }) => Date.parse(at));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  return body.data.reverse();
}

test('the history of a synchronisation shows its calls, its result and the decision of an admin', async () => {
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
  expect(end?.text).toMatch(/^The run ended as held\. Records: sites .*15 held.* Held: the removal of 15 of 20 sites/);
  expect(decision?.text).toMatch(/rejected.*, by admin\. Note: Export was cut/);
});

test('the history of a clip shows how it was submitted, the polls that changed something, download attempts and replaced links', async () => {
  const partner = await startVisionPartner();
  partner.on(POST, refuses(503, 'INTERNAL_ERROR', 'busy'), accepts({ requestId: 'req-history' }));
  const request = { requestId: 'req-history', status: 'processing' };
  const nothing = lists('videos', () => [], { request });
  partner.on(VIDEOS, refuses(404, 'NOT_FOUND', 'no such request'), nothing);
  const { id: connectionId } = await connectVision(scene.service, partner.url);
  const id = await orderVideo(scene.service, connectionId);
  await eventually(async () => {
    await hurryVideo(scene.service);
    expect(partner.askedOf(VIDEOS).length).toBeGreaterThan(3);
  });
  const refusing = partner.link(sampleVideo(), (_, response) => void response.writeHead(403).end());
  const links = [refusing, partner.link(sampleVideo())];
  partner.on(VIDEOS, (response, asked) => {
    const downloadUrl = links.length > 1 ? links.shift() : links[0];
    const clip = element({ requestId: 'req-history', id: 'clip-1', downloadUrl });
    lists('videos', () => [clip], { request: { requestId: 'req-history', status: 'ready' } })(response, asked);
  });
  await requestBecomes(scene.service, id, { status: 'stored' });
  const history = await historyOf(scene.service, `/video-requests/${id}`);
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
  const { body } = await scene.service.admin<{ references: object[] }>('GET', `/exchanges/${failed}`);
  expect(body.references).toContainEqual({ kind: 'videoRequestId', value: id });
  expect((await readRequest(scene.service, id)).status).toBe('stored');
  await partner.stop();
});

test('of a replay by filter, one key that cannot be decrypted does not stop the others, and is named', async () => {
  const { haulerId } = scene;
  const connections = [scene.connectionId, await scene.connect(), await scene.connect()];
  scene.partner.on(SITES_ROUTE, refuses(503, 'INTERNAL_ERROR', 'maintenance'));
  for (const id of connections) await scene.service.admin('POST', `/connections/${id}/check`);
  const exchanges = [];
  for (const connectionId of connections) {
    exchanges.push(...(await listExchanges(scene.service, { connectionId })).body.data.map(({ id }) => id));
  }
  const broken = exchanges.slice(1, 2);
  const sealed = sealKey(Buffer.alloc(32, 7), connections[1] ?? '', PARTNER_KEY);
  await setConnectionRow(scene.service, connections[1] ?? '', { sealedKey: sealed });
  const before = scene.partner.asked.length;
  const bulk = await scene.service.admin<ReplayedExchanges>('POST', '/exchanges/replay', {
    haulerId,
    direction: 'outbound',
  });
  expect(bulk.status).toBe(200);
  const message = expect.stringContaining('save the key of the connection again');
  expect(bulk.body).toEqual({
    matched: 3,
    replayed: 2,
    skipped: [],
    failed: broken.map((exchangeId) => ({ exchangeId, code: 'CONFLICT', message })),
  });
  expect(scene.partner.asked).toHaveLength(before + 2);
  const single = await replayOn(scene.service, broken[0] ?? '');
  expect([single.status, single.body]).toMatchObject([409, { error: { code: 'CONFLICT', message } }]);
  await scene.service.admin('DELETE', `/connections/${connections[0]}`);
  const rest = await scene.service.admin<ReplayedExchanges>('POST', '/exchanges/replay', {
    haulerId,
    direction: 'outbound',
  });
  const codes = rest.body.failed.map(({ code }) => code);
  expect(codes.sort()).toEqual(['CONFLICT', 'NOT_FOUND']);
});
