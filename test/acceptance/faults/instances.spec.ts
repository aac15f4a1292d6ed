import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { serveFile } from '../../support/file-host.js';
import { sampleVideo } from '../../support/sample-video.js';
import { after, json } from '../../support/scripted-partner.js';
import { CONTINUOUS, element, inHours, lists } from '../../support/scripted-vision.js';
import { siteData } from '../../support/site-data.js';
import { flow, Hauler, ONE_SITE, SITES_ROUTE } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { admin, call, listed } from '../support/target.js';
import { type ShownRecording, VisionScene } from '../support/vision.js';

const AT_ONCE = 2;
const FILES = 8;
const FLOWS = 20;
const ENV = { DOWNLOAD_CONCURRENCY_PER_CONNECTION: String(AT_ONCE), SHUTDOWN_GRACE: '3s' };

describe('two instances over one database', () => {
  let first: OwnService;
  let second: OwnService;
  beforeAll(async () => {
    first = await startOwnService({ env: ENV });
    second = await startOwnService({ env: ENV, beside: first });
  });

  test('a flow that is pushed to both at once is one ticket with the newest state (decision 26)', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE, service: first });
    await hauler.key();
    const other = hauler.at(second);
    const pushBoth = (n: number) =>
      Promise.all([
        hauler.push({ inboundFlow: flow(`F-${n}`, 1), customFields: { state: 'old' } }),
        other.push({ inboundFlow: flow(`F-${n}`, 2), customFields: { state: 'new' } }),
        hauler.push({ inboundFlow: flow(`F-${n}`, 0), customFields: { state: 'oldest' } }),
      ]);
    const answers = await Promise.all(Array.from({ length: FLOWS }, (_, n) => pushBoth(n)));
    expect(new Set(answers.flat().map(({ status }) => status))).toEqual(new Set([200]));
    const ids = answers.map((of) => [...new Set(of.map(({ body }) => body.disposalTicketId))]);
    expect(ids.every((of) => of.length === 1)).toBe(true);
    const stored = await listed<{ id: string; customFields: object }>(`/tickets?haulerId=${hauler.id}`, second);
    expect(stored.map(({ id }) => id).sort()).toEqual(ids.flat().sort());
    expect(stored.map(({ customFields }) => customFields)).toEqual(stored.map(() => ({ state: 'new' })));
  });

  test('a name that is created at both at once is one account, and the other answer names it (decisions 27, 28)', async () => {
    const hauler = await Hauler.create({ service: first });
    await hauler.key();
    const create = async (n: number) => {
      const both = [hauler, hauler.at(second)].map((at, i) =>
        at.createAccount({ accountName: i ? `N${n}` : ` n${n} ` }),
      );
      const answers = (await Promise.all(both)).sort((a, b) => a.status - b.status);
      const [created, refused] = answers.map(({ body }) => body);
      const named = refused?.error.details?.['accountId'];
      return [...answers.map(({ status }) => status), named === created?.['accountId']];
    };
    const rounds = await Promise.all(Array.from({ length: FLOWS }, (_, n) => create(n)));
    expect(rounds).toEqual(rounds.map(() => [200, 409, true]));
  });

  test('an Idempotency-Key that is used at both at once gets one answer twice (decision 16)', async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE, service: first });
    await hauler.key();
    const push = async (n: number) => {
      const options = { idempotencyKey: `same-${n}` };
      const both = await Promise.all([hauler, hauler.at(second)].map((at) => at.push({}, options)));
      const replayed = both.map(({ headers }) => headers.get('Idempotency-Replayed')).sort();
      return { ids: new Set(both.map(({ body }) => body.disposalTicketId)).size, replayed };
    };
    const rounds = await Promise.all(Array.from({ length: FLOWS }, (_, n) => push(n)));
    expect(rounds).toEqual(rounds.map(() => ({ ids: 1, replayed: [null, 'true'] })));
    expect(await listed(`/tickets?haulerId=${hauler.id}`, second)).toHaveLength(FLOWS);
  });

  test('a connection is synchronised by one instance at a time, however many ask for it (decision 36)', async () => {
    const hauler = await Hauler.create({ service: first });
    const { partner, connectionId } = await hauler.siteConnection();
    let [open, most] = [0, 0];
    const answer = after(200, json({ success: true, data: siteData(1, 1, 4) }));
    partner.on(SITES_ROUTE, (response, request) => {
      most = Math.max(most, ++open);
      response.once('close', () => (open -= 1));
      answer(response, request);
    });
    const path = `/connections/${connectionId}/sync`;
    const asked = await Promise.all(
      [first, second, first, second].map((service) => admin<{ runId: string }>('POST', path, undefined, service)),
    );
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 202));
    const runs = [...new Set(asked.map(({ body }) => body.runId))];
    const ended = await Promise.all(runs.map((runId) => hauler.at(second).ended(runId)));
    expect(ended.map(({ status }) => status)).toEqual(runs.map(() => 'succeeded'));
    expect([most, partner.asked.length]).toEqual([1, runs.length]);
  });

  test('a connection is downloaded from by one instance, within its limit, and each file once (decision 47)', async () => {
    const scene = await VisionScene.create({ service: first });
    let [open, most] = [0, 0];
    const chunks = Array.from({ length: FILES }, (_, n) => {
      const body = sampleVideo(20_000);
      const downloadUrl = scene.partner.link(body, (request, response) => {
        most = Math.max(most, ++open);
        response.once('close', () => (open -= 1));
        void delay(150).then(() => serveFile(body)(request, response));
      });
      return element({ startTime: inHours(-3 + n / 10), endTime: inHours(-3 + (n + 1) / 10), downloadUrl });
    });
    scene.partner.on(
      CONTINUOUS,
      lists('recordings', () => chunks),
    );
    await scene.follow({ startTime: inHours(-4) });
    await eventually(async () => {
      const all = await listed<ShownRecording>(`/recordings?connectionId=${scene.connectionId}`, second);
      expect(all.map(({ status }) => status)).toEqual(chunks.map(() => 'stored'));
    });
    expect([most, scene.partner.fetched.length]).toEqual([AT_ONCE, FILES]);
  });

  test('an instance that stops hands its work over at once, and ends with 0 (decision 62)', async () => {
    const scene = await VisionScene.create({ service: first });
    const body = sampleVideo(20_000);
    const asked: number[] = [];
    const downloadUrl = scene.partner.link(body, (request, response) => {
      asked.push(performance.now());
      if (asked.length > 1) return serveFile(body)(request, response);
      response.writeHead(200, { 'Content-Length': body.length });
      response.write(body.subarray(0, 10_000));
    });
    const chunk = element({ startTime: inHours(-3), endTime: inHours(-2.9), downloadUrl });
    scene.partner.on(
      CONTINUOUS,
      lists('recordings', () => [chunk]),
    );
    await scene.follow({ startTime: inHours(-4) });
    await eventually(() => expect(asked).toHaveLength(1));
    const [stopped, other] = (await owns(first)) ? [first, second] : [second, first];
    expect(await stopped.end('SIGTERM')).toBe(0);
    const ended = performance.now();
    await eventually(async () => {
      const all = await listed<ShownRecording>(`/recordings?connectionId=${scene.connectionId}`, other);
      expect(all.map(({ status }) => status)).toEqual(['stored']);
    });
    // A killed instance would keep its work for 10 s.
    expect((asked[1] ?? Infinity) - ended).toBeLessThan(5_000);
  });
});

/** Whether this instance downloads at this moment. */
async function owns(service: OwnService): Promise<boolean> {
  const headers = { Authorization: `Bearer ${service.adminToken}` };
  const { text } = await call('GET', '/metrics', { headers }, service);
  return /^work_running\{kind="vision downloads"\} [1-9]/m.test(text);
}
