import { DEMO, DEMO_SITE_DATA } from '../../src/demo/demo-data.js';
import { createHauler, issueKey } from './api-keys.js';
import { startTestApp, type TestApp } from './app.js';
import type { Reply } from './http.js';
import { CatalogFixture } from './catalog.js';
import { at, CUSTOMER, TRUCK, upload } from './reference-vision.js';

export interface SandboxScene {
  readonly service: TestApp;
  readonly haulerId: string;
  readonly platformKey: string;
  readonly partnerKey: string;
  pushTicket(headers: Readonly<Record<string, string>>, ticket: object): Promise<Reply<{ success: boolean }>>;
  listContinuous(): Promise<Reply<{ data: { recordings: { id: string; downloadUrl: string }[] } }>>;
  start(subject: string, name: string, body: object): Promise<Reply>;
}

/** A hauler with keys, a catalog, site data, and four recorded minutes of one truck. */
export async function startSandboxScene(): Promise<SandboxScene> {
  const service = await startTestApp({ env: { SANDBOX: true, OUTBOUND_ALLOW_PRIVATE: true } });
  const haulerId = await createHauler(service);
  const { key: platformKey } = await issueKey(service, ['scale', 'account'], { haulerId });
  const { key: partnerKey } = await issueKey(service, ['site', 'vision'], { haulerId, customerId: CUSTOMER });
  const catalog = new CatalogFixture(service.dataSource);
  await catalog.site(haulerId, { id: DEMO.siteId });
  await catalog.material(haulerId, { siteId: DEMO.siteId }, { id: DEMO.materialId });
  await service.admin('PUT', `/hosted/haulers/${haulerId}/site-data`, DEMO_SITE_DATA);
  for (const minute of [0, 1, 2, 3]) await upload(service, minute);
  await service.admin('PUT', '/hosted/cameras', {
    customerId: CUSTOMER,
    truckId: TRUCK,
    cameraId: 'front',
    aliases: ['1'],
  });
  const range = new URLSearchParams({ customerId: CUSTOMER, truckId: TRUCK, startTime: at(0), endTime: at(10) });
  return {
    service,
    haulerId,
    platformKey,
    partnerKey,
    pushTicket: (headers, ticket) =>
      service.call('POST', '/platform-api/v1/tickets', {
        headers: { 'PLATFORM-API-KEY': platformKey, ...headers },
        body: { ...TICKET, ...ticket },
      }),
    listContinuous: () =>
      service.call('GET', `/video-platform/v1/videos/continuous?${range.toString()}`, {
        headers: { 'API-KEY': partnerKey },
      }),
    start: (subject, name, body) => service.admin('PUT', `/sandbox/${encodeURI(subject)}/scenarios/${name}`, body),
  };
}

const TICKET = {
  siteId: DEMO.siteId,
  materials: [{ id: DEMO.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
};
