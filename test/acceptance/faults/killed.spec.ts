import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { serveFile } from '../../support/file-host.js';
import { sampleVideo } from '../../support/sample-video.js';
import { json, when } from '../../support/scripted-partner.js';
import { CONTINUOUS, element, inHours, lists, sha256 } from '../../support/scripted-vision.js';
import { siteData } from '../../support/site-data.js';
import { flow, Hauler, ONE_SITE, type Plain, SITES_ROUTE, TICKET } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { administer, listed } from '../support/target.js';
import { type ShownRecording, VisionScene } from '../support/vision.js';

const FILES = 6;
const CALLERS = 4;
/** Of each kind before the kill, and again after it. */
const ACKNOWLEDGED = 20;
/** Two services start, and one waits for the work of the other. */
const HOOK_MS = 120_000;
/** Another instance takes over the work of a killed one 10 s after its last sign of life; the rest is for a busy machine. */
const TAKEN_OVER_WITHIN_MS = 15_000;

interface Acknowledged {
  readonly name: string;
  readonly id: string;
}

/** Kill -9 of one of two instances on one database, while it has all kinds of work. It happens once, for all cases. */
describe('an instance is killed while tickets, accounts, downloads and a synchronisation are under way', () => {
  const gate = Promise.withResolvers<void>();
  const bodies = Array.from({ length: FILES }, () => sampleVideo(200_000));
  const tickets: Acknowledged[] = [];
  const accounts: Acknowledged[] = [];
  let killed: OwnService;
  let other: OwnService;
  let scene: VisionScene;
  let hauler: Hauler;
  let synced: Hauler;
  let runId: string;
  let killedAt = 0;

  beforeAll(async () => {
    killed = await startOwnService();
    hauler = await Hauler.create({ sites: ONE_SITE, service: killed });
    await hauler.key();
    [scene, synced] = await Promise.all([
      VisionScene.create({ service: killed }),
      Hauler.create({ sites: ONE_SITE, service: killed }),
    ]);
    await startDownloads();
    await startSynchronisation();
    other = await startOwnService({ beside: killed });
    const callers = [
      ...Array.from({ length: CALLERS }, (_, n) => call(n, tickets, pushTicket)),
      ...Array.from({ length: CALLERS }, (_, n) => call(n, accounts, createAccount)),
    ];
    await eventually(() => expect(Math.min(tickets.length, accounts.length)).toBeGreaterThan(ACKNOWLEDGED));
    killedAt = performance.now();
    await killed.end('SIGKILL');
    gate.resolve();
    await Promise.all(callers);
  }, HOOK_MS);
  afterAll(() => gate.resolve());

  /** Hosts send half of each file, and the rest when the gate is open. */
  async function startDownloads(): Promise<void> {
    const { partner } = scene;
    let halves = 0;
    const chunks = bodies.map((body, n) => {
      const etag = `"${sha256(body)}"`;
      let isFirst = true;
      const link = partner.link(body, (request, response) => {
        if (!isFirst) return serveFile(body, { etag })(request, response);
        isFirst = false;
        halves += 1;
        response.writeHead(200, { 'Content-Length': body.length, ETag: etag });
        response.write(body.subarray(0, body.length / 2));
        void gate.promise.then(() => response.end(body.subarray(body.length / 2)));
      });
      const range = { startTime: inHours(-3 + n / 10), endTime: inHours(-3 + (n + 1) / 10) };
      return element({ ...range, durationSeconds: 360, downloadUrl: link });
    });
    partner.on(
      CONTINUOUS,
      lists('recordings', () => chunks),
    );
    await scene.follow({ startTime: inHours(-4) });
    await eventually(() => expect(halves).toBeGreaterThan(1));
  }

  async function startSynchronisation(): Promise<void> {
    const { partner, connectionId } = await synced.siteConnection();
    partner.reset();
    partner.on(SITES_ROUTE, when(gate.promise, json({ success: true, data: siteData(2, 4, 60) })));
    const path = `/connections/${connectionId}/sync`;
    ({ runId } = await administer<{ runId: string }>('POST', path, undefined, killed));
    await eventually(() => expect(partner.asked).toHaveLength(1));
  }

  type Send = (at: Hauler, name: string) => Promise<{ status: number; body: Plain }>;

  const pushTicket: Send = async (at, name) => {
    // One in three has no flow: only its key prevents a second ticket (decision 22).
    const hasFlow = Number(name.split('-').at(-1)) % 3 !== 0;
    const more = { ...(hasFlow ? { inboundFlow: flow(name) } : {}), customFields: { name } };
    const { status, body } = await at.push({ ...TICKET, ...more }, { idempotencyKey: name });
    return { status, body: { ...body } };
  };
  const createAccount: Send = (at, accountName) => at.createAccount({ accountName }, { idempotencyKey: accountName });

  /** A client that calls the first instance, and sends again to the second what the first did not answer. */
  async function call(caller: number, acknowledged: Acknowledged[], send: Send): Promise<void> {
    const isEnough = () => killedAt > 0 && acknowledged.length > 2 * ACKNOWLEDGED;
    for (let n = 0; !isEnough(); n++) {
      const name = `n-${caller}-${n}`;
      const first = await send(hauler, name).catch(() => undefined);
      const { status, body } = first ?? (await send(hauler.at(other), name));
      expect({ status, body }).toMatchObject({ status: 200 });
      acknowledged.push({ name, id: String(body['disposalTicketId'] ?? body['accountId']) });
    }
  }

  const byName = (all: readonly Acknowledged[]) => [...all].sort((a, b) => a.name.localeCompare(b.name));

  test('every acknowledged ticket is stored once, under its id (decisions 16, 20, 22)', async () => {
    const stored = await listed<{ id: string; customFields: { name: string } }>(
      `/tickets?haulerId=${hauler.id}`,
      other,
    );
    const found = stored.map(({ id, customFields: { name } }) => ({ id, name }));
    expect(byName(found)).toEqual(byName(tickets));
  });

  test('every acknowledged account is stored once, under its id (decisions 16, 28)', async () => {
    const stored = await listed<{ accountId: string; accountName: string }>(`/accounts?haulerId=${hauler.id}`, other);
    const found = stored.map(({ accountId: id, accountName: name }) => ({ id, name }));
    expect(byName(found)).toEqual(byName(accounts));
  });

  test('the other instance takes over within 15 s, and the synchronisation ends as it would have (decision 54)', async () => {
    const { partner } = await synced.siteConnection();
    const again = await eventually(() => {
      expect(partner.asked).toHaveLength(2);
      return partner.asked[1]?.at ?? Infinity;
    });
    expect(again - killedAt).toBeLessThan(TAKEN_OVER_WITHIN_MS);
    expect(await synced.at(other).ended(runId)).toMatchObject({ status: 'succeeded' });
    const sites = await listed<{ active: boolean }>(`/sites?haulerId=${synced.id}`, other);
    expect(sites.filter(({ active }) => active)).toHaveLength(2);
  });

  test('the other instance stores every file once and whole (decisions 47, 65)', async () => {
    const recordings = await eventually(async () => {
      const all = await listed<ShownRecording>(`/recordings?connectionId=${scene.connectionId}`, other);
      expect(all.map(({ status }) => status)).toEqual(bodies.map(() => 'stored'));
      return all;
    });
    expect(recordings.map((each) => each.sha256).sort()).toEqual(bodies.map(sha256).sort());
    const headers = { Authorization: `Bearer ${other.adminToken}` };
    for (const { id, sha256: sum } of recordings) {
      const content = await fetch(`${other.url}/admin/v1/recordings/${id}/content`, { headers });
      const bytes = Buffer.from(await content.arrayBuffer());
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sum);
    }
    // Nothing is fetched a third time.
    expect(scene.partner.fetched.length).toBeLessThanOrEqual(2 * FILES);
  });
});
