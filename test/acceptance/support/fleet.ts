import { expect } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { json, refuses, startScriptedPartner } from '../../support/scripted-partner.js';
import { CONTINUOUS, element, inHours, lists, POST, accepts } from '../../support/scripted-vision.js';
import { idOf, kiosk, material, site } from '../../support/site-data.js';
import { flow, Hauler, type Plain } from './hauler.js';
import { administer, call, listed, read, type Service } from './target.js';
import { VisionScene } from './vision.js';

const THREE = [1, 2, 3] as const;
/** A connection may be poked 60 times a minute. */
const LOOK_MS = 1_000;

export interface FleetKeys {
  /** Opens all four interfaces for the hauler, and for its customer alone. */
  readonly hauler: string;
  /** Of the partner of the Site connection, and of the Vision connection. */
  readonly site: string;
  readonly vision: string;
}

/** A hauler with three things of each kind at least, all made by the product. Names and texts of its things contain `mark`. */
export interface Fleet {
  readonly mark: string;
  readonly hauler: Hauler;
  readonly haulerId: string;
  readonly customerId: string;
  readonly truckId: string;
  readonly connections: { readonly site: string; readonly vision: string };
  readonly keys: FleetKeys;
  readonly siteId: string;
  readonly materialId: string;
  /** Resolves when it has windows that the partner did not list, some seconds after the rest. */
  readonly unread: Promise<unknown>;
  /** The newest run of the Site connection: it is held. */
  readonly heldRun: string;
  /** An id of each kind, by the word before `{id}` in a path of the admin API. */
  readonly ids: Readonly<Record<string, string>>;
  /** Those that differ for a key of the hauler or of a connection. */
  readonly ownIds: Readonly<Record<string, string>>;
}

interface Identified {
  readonly id: string;
}

export async function createFleet(service: Service, haulerId: string, mark: string): Promise<Fleet> {
  const hauler = await Hauler.create({ service, id: haulerId, name: `Hauler ${mark}` });
  const customerId = `customer-${mark}`;
  const truckId = `TRUCK-${mark}`;
  const made = async (path: string, body: unknown) => (await administer<Identified>('POST', path, body, service)).id;
  const receiver = await startScriptedPartner();
  receiver.on('POST /hook', json({}));
  const runs = await synchronise(hauler, mark);
  const { connectionId } = await hauler.siteConnection();
  const siteKey = await hauler.issueKey({ haulerId: undefined, connectionId, name: `site ${mark}` });
  const opened = { interfaces: ['scale', 'account', 'site', 'vision'], customerId, name: `all ${mark}` };
  const issued = await administer<Identified & { key: string }>('POST', '/api-keys', { haulerId, ...opened }, service);
  const hook = { url: `${receiver.url}/hook`, topics: ['ticket.created'] };
  const [endpoint = ''] = await each(() => made('/webhook-endpoints', { ...hook, haulerId }));
  const [ownEndpoint = ''] = await each(() => createOwnEndpoint(service, issued.key, hook));
  const [accountId = ''] = await each((n) => createAccount(hauler, issued.key, `Account ${mark} ${n}`));
  await each(() => createAccount(hauler, issued.key, `Account ${mark} 1`, 409));
  const [ticketId = ''] = await each((n) => pushTicket(hauler, issued.key, mark, n));
  for (const minute of THREE) await pushTicket(hauler, issued.key, mark, 1, minute);
  const vision = await VisionScene.create({ hauler, connection: { customerId } });
  const watched = await watch(vision, customerId, truckId);
  const footage = { truckField: 'truckNumber', connectionId: vision.connectionId, cameras: ['front', 'rear'] };
  await administer('PUT', `/haulers/${haulerId}/ticket-footage`, footage, service);
  const range = { connectionId: vision.connectionId, truckId, from: inHours(-3), to: inHours(-2) };
  const [hold = ''] = await each((n) => made('/holds', { ...range, caseId: `C-${n}`, reason: `Held ${mark}` }));
  const [share = ''] = await each(() => made(`/recordings/${watched.recording}/shares`, { reason: `Dispute ${mark}` }));
  const [erasure = ''] = await each(async (n) => {
    const erased = await createAccount(hauler, issued.key, `Erased ${mark} ${n}`);
    return made('/erasures', { haulerId, accountId: erased });
  });
  const first = async (path: string): Promise<string> =>
    eventually(async () => {
      const all = await listed<Identified>(path, service);
      expect(all.length).toBeGreaterThanOrEqual(3);
      return all[0]?.id ?? '';
    });
  const newest =
    (await read<{ data: Identified[] }>(`/exchanges?haulerId=${haulerId}&interface=scale`, service)).data[0]?.id ?? '';
  return {
    ...{ mark, hauler, haulerId, customerId, truckId },
    connections: { site: connectionId, vision: vision.connectionId },
    keys: { hauler: issued.key, site: siteKey, vision: vision.connectionKey },
    siteId: idOf(`${mark} 1`),
    materialId: idOf(`material ${mark} 1`),
    unread: watched.unread,
    heldRun: runs.held,
    ids: {
      ...{ haulers: haulerId, 'api-keys': issued.id, connections: vision.connectionId, 'sync-runs': runs.full },
      ...{ tickets: ticketId, accounts: accountId, recordings: watched.recording, holds: hold, shares: share },
      ...{ 'video-requests': watched.request, 'video-subscriptions': watched.subscription, erasures: erasure },
      ...{ exchanges: newest, 'webhook-endpoints': endpoint },
      'webhook-deliveries': await first(`/webhook-deliveries?endpointId=${endpoint}`),
    },
    ownIds: {
      'webhook-endpoints': ownEndpoint,
      'webhook-deliveries': await first(`/webhook-deliveries?endpointId=${ownEndpoint}`),
    },
  };
}

const each = <T>(make: (n: number) => Promise<T>): Promise<T[]> => Promise.all(THREE.map(make));

/** Three runs: of all records with three that are malformed, of changed ones, and one that is held. */
async function synchronise(hauler: Hauler, mark: string): Promise<{ full: string; held: string }> {
  const names = THREE.map((n) => `${mark} ${n}`);
  const bad = THREE.map((n) => ({ ...site(`${mark} bad ${n}`), name: 7 }));
  const sites = names.map((name) => site(name));
  const kiosks = names.map((name) => kiosk(`kiosk ${name}`, name));
  const materials = names.map((name) => material(`material ${name}`, { siteId: idOf(name) }));
  const { id: full } = await hauler.sync({ sites: [...sites, ...bad], kiosks, materials });
  await hauler.sync({
    sites: sites.map((each) => ({ ...each, name: `${each.name as string} II` })),
    kiosks,
    materials,
  });
  const { id, status } = await hauler.sync({ sites, kiosks, materials: [] });
  expect(status).toBe('held');
  return { full, held: id };
}

async function createOwnEndpoint(service: Service, key: string, body: Plain): Promise<string> {
  const headers = { 'PLATFORM-API-KEY': key };
  const answer = await call<Identified>('POST', '/partner/v1/webhook-endpoints', { headers, body }, service);
  expect(answer.status).toBe(201);
  return answer.body.id;
}

async function createAccount({ service }: Hauler, key: string, accountName: string, status = 200): Promise<string> {
  const options = { headers: { 'PLATFORM-API-KEY': key }, body: { accountName } };
  const answer = await call<{ accountId: string }>('POST', '/platform-api/v1/accounts', options, service);
  expect(answer.status).toBe(status);
  return answer.body.accountId;
}

async function pushTicket({ service }: Hauler, key: string, mark: string, n: number, minute = 0): Promise<string> {
  const body = {
    siteId: idOf(`${mark} 1`),
    materials: [{ id: idOf(`material ${mark} 1`), name: `Debris ${mark}`, quantity: n + minute, unitOfMeasure: 'Ton' }],
    inboundFlow: flow(`IN-${mark}-${n}`, minute),
    customFields: { truckNumber: `TRUCK-${mark}` },
  };
  const options = { headers: { 'PLATFORM-API-KEY': key }, body };
  const answer = await call<{ disposalTicketId: string }>('POST', '/platform-api/v1/tickets', options, service);
  expect(answer.status).toBe(200);
  return answer.body.disposalTicketId;
}

/** Three stored recordings, three malformed ones, three clips that the partner prepares, and windows that it does not list. */
async function watch(vision: VisionScene, customerId: string, truckId: string) {
  const { partner } = vision;
  const file = sampleVideo();
  const chunks = THREE.map((n) => {
    const range = { startTime: inHours(-n), endTime: inHours(-n + 0.1), durationSeconds: 360 };
    return element({ customerId, truckId, ...range, downloadUrl: partner.link(file) });
  });
  const malformed = THREE.map((n) => ({ ...element({ customerId, truckId }), startTime: `no time ${n}` }));
  const listsAll = lists('recordings', () => [...chunks, ...malformed]);
  partner.on(CONTINUOUS, (response, request) => {
    const isListed = request.query.get('truckId') === truckId;
    (isListed ? listsAll : refuses(400, 'INVALID_PAYLOAD'))(response, request);
  });
  partner.on(POST, accepts());
  const startTime = inHours(-4);
  const subscription = await vision.follow({ truckId, startTime });
  const clip = { truckId, startTime: inHours(-5), endTime: inHours(-4.9) };
  const [request = ''] = await each((n) => vision.order({ ...clip, cameraId: `camera-${n}` }));
  const refused = THREE.map((n) => `${truckId}-refused-${n}`);
  for (const each of refused) await vision.follow({ truckId: each, startTime });
  const [recording] = await vision.recordingsBecome(THREE.map(() => ({ status: 'stored' })));
  const { service } = vision.hauler;
  const headers = { 'API-KEY': vision.connectionKey };
  const look = async () => {
    for (const each of refused) await call('POST', '/partner/v1/pokes', { headers, body: { truckId: each } }, service);
    const unread = await call<{ data: unknown[] }>('GET', '/partner/v1/unread-windows', { headers }, service);
    expect(unread.body.data).toHaveLength(3);
  };
  // A window is unread after three failures, and a poke is followed by another reading.
  const unread = eventually(look, undefined, LOOK_MS);
  // It is awaited later: until then, a failure is no unhandled rejection.
  unread.catch(() => undefined);
  return { unread, subscription, request, recording: recording?.id ?? '' };
}

/** A console session of the admin token. Returns its cookie. */
export async function signIn(service: Service): Promise<string> {
  const headers = { 'X-Console': '1' };
  const reply = await call('POST', '/console/api/session', { headers, body: { token: service.adminToken } }, service);
  expect(reply.status).toBe(200);
  return reply.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
}

/** Of the partner side: the site data of the fleet, a recording, and three requests for clips of it. */
export async function hostOwn(service: Service, { haulerId, mark, customerId, truckId, keys }: Fleet): Promise<void> {
  const data = { sites: [site(mark)], kiosks: [], materials: [] };
  await administer('PUT', `/hosted/haulers/${haulerId}/site-data`, data, service);
  const where = { customerId, truckId, cameraId: 'front', startTime: inHours(-2), endTime: inHours(-1.5) };
  const headers = { Authorization: `Bearer ${service.adminToken}`, 'Content-Type': 'video/mp4' };
  const path = `/admin/v1/hosted/recordings?${new URLSearchParams(where).toString()}`;
  expect((await call('POST', path, { headers, body: sampleVideo() }, service)).status).toBe(201);
  await each(async () => {
    const options = { headers: { 'API-KEY': keys.hauler }, body: where };
    expect((await call('POST', '/video-platform/v1/videos/requests', options, service)).status).toBe(202);
  });
}
