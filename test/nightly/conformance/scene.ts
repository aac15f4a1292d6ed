import { readFileSync } from 'node:fs';
import type { Fixtures } from '../../../src/conformance/rule.js';
import { DEMO, demoRecording, DEMO_SITE_DATA } from '../../../src/demo/demo-data.js';
import { createHauler, issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { CatalogFixture } from '../../support/catalog.js';

const MINUTE_MS = 60_000;
const FIRST = Date.parse('2026-01-31T08:30:00Z');
const timeOf = (minutes: number) => new Date(FIRST + minutes * MINUTE_MS).toISOString();

export interface KitScene {
  readonly service: TestApp;
  readonly platformKey: string;
  readonly partnerKey: string;
  readonly fixtures: Fixtures;
}

/** The service with a hauler whose data shows every rule: sites, recordings of one truck, and one clip. */
export async function startKitScene(): Promise<KitScene> {
  const service = await startTestApp({ env: { SANDBOX: true, OUTBOUND_ALLOW_PRIVATE: true } });
  const haulerId = await createHauler(service);
  const customerId = 'ACME Hauling';
  const { key: platformKey } = await issueKey(service, ['scale', 'account'], { haulerId });
  const { key: partnerKey } = await issueKey(service, ['site', 'vision'], { haulerId, customerId });
  const catalog = new CatalogFixture(service.dataSource);
  await catalog.site(haulerId, { id: DEMO.siteId });
  await catalog.material(haulerId, { siteId: DEMO.siteId }, { id: DEMO.materialId });
  const materials = DEMO_SITE_DATA.materials.map((material) => ({ ...material, active: true }));
  await service.admin('PUT', `/hosted/haulers/${haulerId}/site-data`, { ...DEMO_SITE_DATA, materials });
  for (const minute of [0, 1, 2]) await uploadMinute(service, customerId, minute);
  const fixtures: Fixtures = {
    haulerId,
    customerId,
    truckId: DEMO.truckId,
    from: timeOf(0),
    to: timeOf(10),
    siteId: DEMO.siteId,
    materialId: DEMO.materialId,
  };
  for (const minute of [0, 1]) await requestClip(service, partnerKey, fixtures, minute);
  return { service, platformKey, partnerKey, fixtures };
}

async function uploadMinute(service: TestApp, customerId: string, minute: number): Promise<void> {
  const query = {
    customerId,
    truckId: DEMO.truckId,
    cameraId: 'front',
    startTime: timeOf(minute),
    endTime: timeOf(minute + 1),
  };
  await service.call('POST', `/admin/v1/hosted/recordings?${new URLSearchParams(query).toString()}`, {
    headers: { Authorization: `Bearer ${service.env.ADMIN_TOKEN}`, 'Content-Type': 'video/mp4' },
    body: readFileSync(demoRecording('front', new Date(FIRST + minute * MINUTE_MS))),
  });
}

/** The list of clips must have an element. */
async function requestClip(
  service: TestApp,
  key: string,
  { customerId = '', truckId }: Fixtures,
  minute: number,
): Promise<void> {
  const headers = { 'API-KEY': key };
  const body = { customerId, truckId, cameraId: 'front', startTime: timeOf(minute), endTime: timeOf(minute + 1) };
  await service.call('POST', '/video-platform/v1/videos/requests', { headers, body });
  const path = `/video-platform/v1/videos?customerId=${encodeURIComponent(customerId)}`;
  for (const end = Date.now() + 20_000; Date.now() < end;) {
    const { body: list } = await service.call<{ data: { videos: unknown[] } }>('GET', path, { headers });
    if (list.data.videos.length > minute) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('the clip is not ready');
}
