import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ConnectionCheck } from '../../src/contracts/admin/connection-check.dto.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { reportFigures } from '../support/faults.js';
import { bytesOf, headerText, mutated } from './mutations.js';
import { Arbitraries, type OpenApiDocument } from '../support/openapi-arbitrary.js';
import { raw } from '../support/scripted-partner.js';
import { SiteScene, SITES_ROUTE } from '../support/site-scene.js';
import { siteData } from '../support/site-data.js';
import { CONTINUOUS, inHours, startVisionPartner, VIDEOS, type VisionPartner } from '../support/scripted-vision.js';
import { hurryVideo } from '../support/time.js';
import { connectVision } from '../support/vision-partner.js';

const CHECKS = 8_000;
const RUNS = 400;
const CRAWLS = 300;

let scene: SiteScene;
let app: TestApp;
let partner: VisionPartner;
const documents: Record<'site' | 'vision', OpenApiDocument> = {} as never;
const counts = { answers: 0, conforming: 0 };
beforeAll(async () => {
  scene = await SiteScene.start();
  await scene.renew();
  app = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  partner = await startVisionPartner();
  for (const name of ['site', 'vision'] as const) {
    documents[name] = (await app.call<OpenApiDocument>('GET', `/docs/${name}.json`)).body;
  }
});
afterAll(async () => {
  await scene.stop();
  await app.close();
  await partner.stop();
  reportFigures('hostile partners', { ...counts, 'answers of 500': 0, lost: 0 });
});

interface Answer {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** Responses of the document, with faults in values, in bytes, in the status and in the headers. */
function answers(name: 'site' | 'vision', schema: string): fc.Arbitrary<Answer> {
  const valid = new Arbitraries(documents[name], {}).of({ $ref: `#/components/schemas/${schema}` });
  const json = (value: unknown) => Buffer.from(JSON.stringify(value) ?? '');
  return fc.record({
    status: fc.oneof(
      { weight: 9, arbitrary: fc.constant(200) },
      { weight: 1, arbitrary: fc.constantFrom(204, 206, 302, 400, 401, 404, 418) },
    ),
    headers: fc.oneof(
      { weight: 4, arbitrary: fc.constant({ 'Content-Type': 'application/json' }) },
      {
        weight: 1,
        arbitrary: fc.dictionary(fc.constantFrom('Content-Type', 'ETag', 'Location', 'Retry-After'), headerText),
      },
    ),
    body: fc.oneof(
      { weight: 2, arbitrary: valid.map(json) },
      { weight: 4, arbitrary: mutated(valid).map(json) },
      { weight: 1, arbitrary: bytesOf(valid) },
    ),
  });
}

const reply = ({ status, headers, body }: Answer) => raw(status === 204 ? '' : body, { status, headers });

function expectChecked({ status, body }: { readonly status: number; readonly body: ConnectionCheck }): void {
  counts.answers++;
  expect(status).toBe(200);
  expect(body).toEqual({
    reachable: expect.any(Boolean),
    authorized: expect.any(Boolean),
    conforms: body.conforms === null ? null : expect.any(Boolean),
    proven: expect.any(Number),
    of: expect.any(Number),
    findings: expect.any(Array),
    rules: expect.any(Array),
  });
  if (body.conforms) counts.conforming++;
  else expect(body.findings.length).toBeGreaterThan(0);
}

describe('API10 unsafe consumption of APIs: any response of a partner is checked', () => {
  test('checks of a site connection', async () => {
    const property = fc.asyncProperty(answers('site', 'GetSitesResponse'), async (answer) => {
      scene.partner.on(SITES_ROUTE, reply(answer));
      expectChecked(await scene.service.admin<ConnectionCheck>('POST', `/connections/${scene.connectionId}/check`));
    });
    await fc.assert(property, { numRuns: CHECKS });
  }, 900_000);

  test('checks of a vision connection', async () => {
    const { id } = await connectVision(app, partner.url);
    const property = fc.asyncProperty(answers('vision', 'ListVideosResponse'), async (answer) => {
      partner.on(VIDEOS, reply(answer));
      expectChecked(await app.admin<ConnectionCheck>('POST', `/connections/${id}/check`));
    });
    await fc.assert(property, { numRuns: CHECKS });
  }, 900_000);

  test('synchronisations end with a reason, and leave a catalog whose parents exist', async () => {
    const good = siteData(2, 2, 10);
    await scene.sync(good);
    const property = fc.asyncProperty(answers('site', 'GetSitesResponse'), async ({ body }) => {
      scene.partner.on(SITES_ROUTE, raw(body, { headers: { 'Content-Type': 'application/json' } }));
      const run = await scene.sync();
      counts.answers++;
      expect(['succeeded', 'failed', 'held']).toContain(run.status);
      // A failure has a sentence.
      expect(run.status !== 'failed' || /\S/.test(run.error ?? '')).toBe(true);
      await scene.quarantine(run.id);
      const orphans = await scene.service.dataSource.query<unknown[]>(
        `SELECT m.id FROM materials AS m WHERE m.hauler_id = $1
           AND NOT EXISTS (SELECT 1 FROM sites AS s WHERE (s.hauler_id, s.external_id) = (m.hauler_id, m.site_external_id))
           AND NOT EXISTS (SELECT 1 FROM kiosks AS k WHERE (k.hauler_id, k.external_id) = (m.hauler_id, m.kiosk_external_id))`,
        [scene.haulerId],
      );
      expect(orphans).toEqual([]);
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true });
    const last = await scene.sync(good);
    expect(['succeeded', 'held']).toContain(last.status);
    const stored = (await scene.sites()).filter(({ externalId }) => good.sites.some(({ id }) => id === externalId));
    expect(stored.map(({ active }) => active)).toEqual([true, true]);
  }, 900_000);

  test('lists of recordings: readable elements are stored, the others are recorded, and the next list is read', async () => {
    const { id: connectionId, haulerId } = await connectVision(app, partner.url);
    partner.on(CONTINUOUS, raw('{}', { headers: { 'Content-Type': 'application/json' } }));
    await app.admin('POST', '/video-subscriptions', { connectionId, truckId: 'TRUCK-7', startTime: inHours(-2) });
    const property = fc.asyncProperty(answers('vision', 'ContinuousResponse'), async ({ body }) => {
      partner.on(CONTINUOUS, raw(body, { headers: { 'Content-Type': 'application/json' } }));
      const before = partner.askedOf(CONTINUOUS).length;
      await eventually(async () => {
        await hurryVideo(app);
        expect(partner.askedOf(CONTINUOUS).length).toBeGreaterThan(before);
      });
      counts.answers++;
    });
    await fc.assert(property, { numRuns: CRAWLS, endOnFailure: true });
    const rows = await app.dataSource.query<{ status: string }[]>(
      'SELECT status FROM recordings WHERE hauler_id = $1',
      [haulerId],
    );
    for (const { status } of rows)
      expect(['available', 'downloading', 'stored', 'expired', 'failed']).toContain(status);
    expect((await app.call('GET', '/health/ready')).status).toBe(200);
    for (const path of ['/recordings', '/video-subscriptions', `/connections/${connectionId}`])
      expect((await app.admin('GET', path)).status).toBe(200);
  }, 900_000);
});
