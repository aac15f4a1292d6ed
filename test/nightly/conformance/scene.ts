import type { Fixtures } from '../../../src/conformance/rule.js';
import { DEMO, DEMO_SITE_DATA } from '../../../src/demo/demo-data.js';
import { eventually } from '../../support/eventually.js';
import { at, CUSTOMER, TRUCK } from '../../support/reference-vision.js';
import { type SandboxScene, startSandboxScene } from '../../support/sandbox-scene.js';

export interface KitScene extends SandboxScene {
  readonly fixtures: Fixtures;
}

/** The service with a hauler whose data shows every rule: sites, recordings of one truck, and two clips. */
export async function startKitScene(): Promise<KitScene> {
  const scene = await startSandboxScene();
  const { haulerId, service } = scene;
  const materials = DEMO_SITE_DATA.materials.map((material) => ({ ...material, active: true }));
  await service.admin('PUT', `/hosted/haulers/${haulerId}/site-data`, { ...DEMO_SITE_DATA, materials });
  for (const minute of [0, 1]) await requestClip(scene, minute);
  const range = { from: at(0), to: at(10) };
  const ids = { siteId: DEMO.siteId, materialId: DEMO.materialId };
  return { ...scene, fixtures: { haulerId, customerId: CUSTOMER, truckId: TRUCK, ...range, ...ids } };
}

/** The list of clips must have an element. */
async function requestClip({ service, partnerKey }: SandboxScene, minute: number): Promise<void> {
  const headers = { 'API-KEY': partnerKey };
  const range = { startTime: at(minute), endTime: at(minute + 1) };
  const body = { customerId: CUSTOMER, truckId: TRUCK, cameraId: 'front', ...range };
  await service.call('POST', '/video-platform/v1/videos/requests', { headers, body });
  const path = `/video-platform/v1/videos?customerId=${encodeURIComponent(CUSTOMER)}`;
  await eventually(async () => {
    const { body: list } = await service.call<{ data: { videos: unknown[] } }>('GET', path, { headers });
    if (list.data.videos.length <= minute) throw new Error('the clip is not ready');
  });
}
