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
  pushTicket(headers?: Headers, ticket?: object): Promise<Reply<Failure>>;
  createAccount(accountName: string, headers?: Headers): Promise<Reply<Failure>>;
  getSites(headers?: Headers): Promise<Reply<Sites>>;
  requestVideo(fields?: object, headers?: Headers): Promise<Reply<{ requestId: string }>>;
  listVideos(query?: Query, headers?: Headers): Promise<Reply<Videos>>;
  listContinuous(query?: Query, headers?: Headers): Promise<Reply<Continuous>>;
  start(subject: string, name: string, body: object): Promise<Reply>;
}

type Headers = Readonly<Record<string, string>>;
type Query = Readonly<Record<string, string>>;

export interface Failure {
  readonly error: { readonly code: string; readonly details?: Record<string, unknown> };
}

interface Sites {
  readonly data: {
    readonly sites: { id: string; name: string; updatedAt: string }[];
    readonly kiosks: { siteId: string }[];
    readonly materials: { siteId?: string; kioskId?: string }[];
  };
}

interface ListedVideo {
  readonly id: string;
  readonly truckId: string;
  readonly cameraId: string;
  readonly downloadUrl: string;
  readonly expiresAt: string;
}

interface Page {
  readonly pagination: { totalItems: number; totalPages: number };
}

interface Videos {
  readonly data: Page & { videos: ListedVideo[]; request?: { status: string; message?: string } };
}

interface Continuous {
  readonly data: Page & { recordings: ListedVideo[] };
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
  const platform = (path: string, body: object, headers: Headers = {}) =>
    service.call<Failure>('POST', `/platform-api/v1${path}`, {
      headers: { 'PLATFORM-API-KEY': platformKey, ...headers },
      body,
    });
  const partner = <T>(path: string, query: Query, headers: Headers = {}) =>
    service.call<T>('GET', `${path}?${new URLSearchParams(query).toString()}`, {
      headers: { 'API-KEY': partnerKey, ...headers },
    });
  const range = { customerId: CUSTOMER, truckId: TRUCK, startTime: at(0), endTime: at(10) };
  return {
    service,
    haulerId,
    platformKey,
    partnerKey,
    pushTicket: (headers, ticket) => platform('/tickets', { ...TICKET, ...ticket }, headers),
    createAccount: (accountName, headers) => platform('/accounts', { accountName }, headers),
    getSites: (headers) => partner('/scale-platform/v1/sites', { haulerId }, headers),
    requestVideo: (fields = {}, headers = {}) =>
      service.call('POST', '/video-platform/v1/videos/requests', {
        headers: { 'API-KEY': partnerKey, ...headers },
        body: { ...range, cameraId: 'front', endTime: at(1), ...fields },
      }),
    listVideos: (query = {}, headers) =>
      partner('/video-platform/v1/videos', { customerId: CUSTOMER, ...query }, headers),
    listContinuous: (query = {}, headers) =>
      partner('/video-platform/v1/videos/continuous', { ...range, ...query }, headers),
    start: (subject, name, body) => service.admin('PUT', `/sandbox/${encodeURI(subject)}/scenarios/${name}`, body),
  };
}

const TICKET = {
  siteId: DEMO.siteId,
  materials: [{ id: DEMO.materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
};
