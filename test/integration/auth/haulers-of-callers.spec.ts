import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ADMIN_API, ADMIN_ROUTES, type AdminRouteName } from '../../../src/contracts/admin/admin.api.js';
import { issueKey } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { CatalogFixture } from '../../support/catalog.js';
import { callOf, UNKNOWN_ID } from '../../support/admin-calls.js';
import { eventually } from '../../support/eventually.js';

const FROM = '2026-11-01T00:00:00Z';
const TO = '2026-11-03T00:00:00Z';
const TIME = { from: FROM, to: TO };
const CAMERA = { truckId: 'truck', cameraId: 'front', startTime: FROM, endTime: '2026-11-01T00:10:00Z' };

/** A hauler with one thing of each kind. Names and texts of its things contain `mark`. */
interface Fleet {
  readonly mark: string;
  readonly haulerId: string;
  /** Ids by the resource of a route. */
  readonly ids: Readonly<Record<string, string>>;
}

let service: TestApp;
let limited: TestApp;
let [own, other]: Fleet[] = [];

async function fleet(mark: string): Promise<Fleet> {
  const created = async (path: string, body: object) =>
    (await service.admin<{ id: string }>('POST', path, body)).body.id;
  const haulerId = await created('/haulers', { name: `Hauler ${mark}` });
  const { id: keyId, key } = await issueKey(service, ['scale', 'account'], { haulerId, name: `key ${mark}` });
  const catalog = new CatalogFixture(service.dataSource);
  const siteId = await catalog.site(haulerId);
  const materialId = await catalog.material(haulerId, { siteId });
  const headers = { 'PLATFORM-API-KEY': key };
  const ticket = await service.call<{ disposalTicketId: string }>('POST', '/platform-api/v1/tickets', {
    headers,
    body: {
      siteId,
      materials: [{ id: materialId, name: `Debris ${mark}`, quantity: 2, unitOfMeasure: 'Ton' }],
      inboundFlow: { ticketNumber: `IN-${mark}`, updatedAt: FROM },
    },
  });
  expect(ticket.status).toBe(200);
  const account = await service.call<{ accountId: string }>('POST', '/platform-api/v1/accounts', {
    headers,
    body: { accountName: `Account ${mark}` },
  });
  expect(account.status).toBeLessThan(300);
  const connection = { haulerId, baseUrl: `http://127.0.0.1:9/${mark}`, apiKey: `partner-key-${mark}` };
  const site = await created('/connections', { ...connection, interface: 'site' });
  const vision = await created('/connections', { ...connection, interface: 'vision', customerId: `customer-${mark}` });
  const camera = { ...CAMERA, connectionId: vision, truckId: `truck-${mark}` };
  const { startTime, truckId, connectionId } = camera;
  const request = await created('/video-requests', camera);
  const subscription = await created('/video-subscriptions', { connectionId, truckId, startTime });
  const [recording] = await service.dataSource.query<{ id: string }[]>(
    `INSERT INTO recordings (hauler_id, id, connection_id, source, partner_recording_id, customer_id, truck_id, camera_id,
       start_time, end_time, duration_seconds, status, fetch_by, created_at, updated_at)
     VALUES ($1, gen_random_uuid(), $2, 'continuous', $3, $3, $3, 'front', $4, $4::timestamptz + interval '1 minute', 60,
       'failed', now(), now(), now()) RETURNING id`,
    [haulerId, vision, `truck-${mark}`, FROM],
  );
  const [hold] = await service.dataSource.query<{ id: string }[]>(
    `INSERT INTO holds (hauler_id, id, connection_id, truck_id, start_time, end_time, case_id, reason, created_by)
     VALUES ($1, gen_random_uuid(), $2, $3, $4, $5, $3, $3, 'test') RETURNING id`,
    [haulerId, vision, `truck-${mark}`, FROM, TO],
  );
  const [share] = await service.dataSource.query<{ id: string }[]>(
    `INSERT INTO recording_shares (hauler_id, id, recording_id, start_time, token_hash, reason, created_at, expires_at)
     VALUES ($1, gen_random_uuid(), $2, $3, sha256($4::text::bytea), $4, now(), now() + interval '1 day') RETURNING id`,
    [haulerId, recording!.id, FROM, mark],
  );
  const first = async (path: string) => {
    let found: string | undefined;
    await eventually(async () => {
      found = (await service.admin<{ data: { id: string }[] }>('GET', path)).body.data[0]?.id;
      expect(found).toBeDefined();
    });
    return found ?? '';
  };
  const run = await first(`/sync-runs?connectionId=${site}`);
  const exchange = await first(`/exchanges?haulerId=${haulerId}&interface=scale`);
  const ids = {
    hauler: haulerId,
    'api-key': keyId,
    ticket: ticket.body.disposalTicketId,
    account: account.body.accountId,
  };
  const more = {
    connection: vision,
    site,
    'sync-run': run,
    'video-request': request,
    'video-subscription': subscription,
  };
  return {
    mark,
    haulerId,
    ids: { ...ids, ...more, recording: recording!.id, exchange, hold: hold!.id, share: share!.id },
  };
}

const TOKENS = { own: 'token-of-an-admin-of-one-hauler', both: 'token-of-an-admin-of-two-haulers' };

beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true, SANDBOX: true } });
  [own, other] = [await fleet('alpha-mark'), await fleet('bravo-mark')];
  const third = await fleet('delta-mark');
  limited = await startTestApp({
    on: service,
    env: {
      ADMIN_TOKENS: [
        { name: 'one', role: 'admin', token: TOKENS.own, haulers: [own.haulerId] },
        { name: 'two', role: 'admin', token: TOKENS.both, haulers: [own.haulerId, third.haulerId] },
      ],
    },
  });
});
afterAll(async () => {
  await limited.close();
  await service.close();
});

interface Answer {
  readonly data?: readonly unknown[];
  readonly pagination?: { readonly totalItems: number };
  readonly error?: { readonly code: string; readonly message: string };
}

const call = (token: string, method: string, path: string, body?: unknown) =>
  limited.call<Answer>(method, ADMIN_API.prefix + path, { headers: { Authorization: `Bearer ${token}` }, body });

/** The query of a route that needs one. */
function queryOf(name: AdminRouteName, { ids, haulerId, mark }: Fleet): string {
  const range = { connectionId: ids['connection'] ?? '', truckId: `truck-${mark}`, ...TIME };
  if (name === 'getCoverage' || name === 'getCoverageSummary') return `?${new URLSearchParams(range).toString()}`;
  if (name === 'getTonnage') {
    const query = { haulerId, from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z', groupBy: 'material' };
    return `?${new URLSearchParams(query).toString()}`;
  }
  if (name === 'importAccounts') return `?haulerId=${haulerId}`;
  return name === 'listFleetCoverage' ? `?${new URLSearchParams(TIME).toString()}` : '';
}

/** A valid body about the things of a fleet. */
function bodyOf(name: AdminRouteName, { ids, haulerId, mark }: Fleet): object | undefined {
  const connectionId = ids['connection'];
  const bodies: Partial<Record<AdminRouteName, object>> = {
    createConnection: { haulerId, interface: 'site', baseUrl: 'http://127.0.0.1:9/', apiKey: 'key-of-a-partner' },
    createHold: { connectionId, truckId: `truck-${mark}`, ...TIME, caseId: 'C-1', reason: 'Collision' },
    createVideoRequest: { ...CAMERA, connectionId },
    createVideoSubscription: { connectionId, truckId: `truck-${mark}`, startTime: FROM },
    retryRecordings: { connectionId },
    replayExchange: { haulerId },
    replayExchanges: { haulerId, dryRun: true },
    readVideoSubscriptionAgain: TIME,
  };
  return bodies[name];
}

const names = Object.keys(ADMIN_ROUTES) as AdminRouteName[];
const callFor = (name: AdminRouteName, about: Fleet) => {
  const route = ADMIN_ROUTES[name];
  const { method, path, body } = callOf(route, {
    id: about.ids[route.resource] ?? UNKNOWN_ID,
    haulerId: about.haulerId,
  });
  return { method, path: path + queryOf(name, about), body: bodyOf(name, about) ?? body };
};

describe.each(names)('a caller that is limited to another hauler: %s', (name) => {
  it('is refused, or sees nothing of that hauler', async () => {
    const { method, path, body } = callFor(name, other!);
    const { status, text, body: answer } = await call(TOKENS.own, method, path, body);
    if (ADMIN_ROUTES[name].isPerHauler !== true) {
      expect([status, answer.error?.code]).toEqual([403, 'FORBIDDEN']);
      return;
    }
    const isList = method === 'GET' && !path.includes('/{') && body === undefined && !path.includes(other!.mark);
    const names = Object.values(other!.ids).filter((id) => path.includes(id));
    if (!isList || names.length > 0 || body !== undefined) {
      expect([403, 404]).toContain(status);
      return;
    }
    expect(status).toBe(200);
    // The error of a refused call repeats its id; a list must not have anything of the hauler.
    for (const secret of [other!.mark, ...Object.values(other!.ids)]) expect(text).not.toContain(secret);
  });
});

const LISTS = names.filter((name) => {
  const { method, path, isPerHauler } = ADMIN_ROUTES[name];
  return (
    method === 'GET' &&
    isPerHauler === true &&
    !path.includes('{') &&
    !['getAttention', 'countExchangeReasons'].includes(name)
  );
});

it.each(LISTS.filter((name) => !['listVisionFindings', 'listKiosks', 'getCoverageSummary'].includes(name)))(
  '%s shows what is of the own hauler',
  async (name) => {
    const { path } = callFor(name, own!);
    const { status, text } = await call(TOKENS.own, 'GET', path);
    expect(status).toBe(200);
    expect([own!.mark, ...Object.values(own!.ids)].some((each) => text.includes(each))).toBe(true);
  },
);

it.each(['haulerId', 'connectionId'])('a filter by %s of another hauler is refused', async (filter) => {
  const value = filter === 'haulerId' ? other!.haulerId : other!.ids['connection'];
  const routes = LISTS.filter((name) => ADMIN_ROUTES[name].query !== undefined);
  for (const name of routes) {
    const { path } = callFor(name, own!);
    if (path.includes('connectionId=') || path.includes('haulerId=')) continue;
    const { status } = await call(
      TOKENS.own,
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}${filter}=${value ?? ''}`,
    );
    expect([name, [403, 404].includes(status)]).toEqual([name, true]);
  }
});

it('shows the things of the own hauler by their ids', async () => {
  for (const name of names) {
    const { method, path, resource, isPerHauler } = ADMIN_ROUTES[name];
    if (method !== 'GET' || isPerHauler !== true || !path.includes('{id}') || name === 'getRecordingContent') continue;
    const id = resource === 'hauler' ? own!.haulerId : own!.ids[resource];
    const { status } = await call(TOKENS.own, 'GET', path.replace('{id}', id ?? ''));
    expect([name, [200, 404].includes(status)]).toEqual([name, true]);
    if (!path.endsWith('footage')) expect([name, status]).toEqual([name, 200]);
  }
});

it('counts what is of the own haulers only', async () => {
  const counted = async (token: string) =>
    (await call(token, 'GET', '/haulers?pageSize=1')).body.pagination?.totalItems;
  expect(await counted(TOKENS.own)).toBe(1);
  expect(await counted(TOKENS.both)).toBe(2);
});

it('a caller with several haulers sees all of them, and names one for exchanges', async () => {
  const { text } = await call(TOKENS.both, 'GET', '/tickets');
  expect([text.includes('alpha-mark'), text.includes('bravo-mark'), text.includes('delta-mark')]).toEqual([
    true,
    false,
    true,
  ]);
  const { status, body } = await call(TOKENS.both, 'GET', '/exchanges');
  expect([status, body.error?.message]).toEqual([400, expect.stringContaining(own!.haulerId)]);
  expect((await call(TOKENS.both, 'GET', `/exchanges?haulerId=${own!.haulerId}`)).status).toBe(200);
});

it('a CSV has the rows of the own hauler only', async () => {
  const headers = { Authorization: `Bearer ${TOKENS.own}`, Accept: 'text/csv' };
  for (const path of ['/tickets', '/accounts', '/recordings', '/exchanges', '/vision-findings']) {
    const { status, text } = await limited.call('GET', ADMIN_API.prefix + path, { headers });
    expect([path, status]).toEqual([path, 200]);
    expect(text).not.toContain('bravo-mark');
    for (const id of Object.values(other!.ids)) expect(text).not.toContain(id);
  }
});

it('a search finds nothing of another hauler', async () => {
  for (const path of [
    '/tickets?search=bravo',
    '/tickets?ticketNumber=IN-bravo-mark',
    '/accounts?search=Account%20bravo',
    '/tickets?material=bravo',
  ]) {
    const { status, body } = await call(TOKENS.own, 'GET', path);
    expect([path, status, body.data, body.pagination?.totalItems]).toEqual([path, 200, [], 0]);
  }
});

it('the metrics are refused', async () => {
  const headers = { Authorization: `Bearer ${TOKENS.own}` };
  expect((await limited.call('GET', '/metrics', { headers })).status).toBe(403);
});
