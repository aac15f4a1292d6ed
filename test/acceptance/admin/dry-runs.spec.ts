import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { Footage, minute } from '../support/footage.js';
import { type ErrorBody, Hauler, ONE_SITE, paths, type Plain, type SyncRun } from '../support/hauler.js';
import { activeSites } from '../support/site.js';
import { admin, administer, call, listed } from '../support/target.js';
import { raw, startScriptedPartner } from '../../support/scripted-partner.js';
import { idOf, material, site } from '../../support/site-data.js';

/** A call that cannot be undone and reaches beyond the record that it names. */
interface Dangerous {
  readonly method: 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: Plain;
  readonly dryRunIn: 'query' | 'body';
  /** What the dry run answers. */
  readonly preview: object;
  /** What the call would change. */
  readonly state: () => Promise<unknown>;
}

const read = (path: string) => async () => (await admin<Plain>('GET', path)).body;

const SITES = Array.from({ length: 7 }, (_, i) => site(`s${i}`));

const CALLS = [
  ...[
    'erasure of an account',
    'erasure of footage',
    'retention of a hauler',
    'deletion by age',
    'confirmation of removals',
  ],
  ...['release of a hold', 'repair of the storage', 'deletion of a connection', 'revocation of a key'],
  ...['replay of an exchange', 'replay of exchanges', 'replacement of the site data', 'revocation of a link'],
  ...['end of a subscription', 'deletion of a webhook endpoint', 'delivery of what failed'],
];

describe('a dry run', () => {
  let calls: Readonly<Record<string, Dangerous>>;

  beforeAll(async () => {
    const hauler = await Hauler.create({ sites: ONE_SITE });
    const footage = await Footage.create();
    const [first] = await footage.add({ from: 0, to: 10 }, { from: 10, to: 20 });
    const owner = footage.vision.hauler.id;
    const { body: account } = await hauler.createAccount<{ accountId: string }>({ accountName: 'Previewed' });
    const held = await administer<{ id: string }>('POST', '/holds', {
      ...{ caseId: 'CLAIM-9', reason: 'collision', ...footage.truck, from: minute(40), to: minute(50) },
    });
    const key = await administer<{ id: string }>('POST', '/api-keys', { haulerId: hauler.id, interfaces: ['scale'] });
    const connectionId = await hauler.connect({ interface: 'site', baseUrl: 'http://127.0.0.1:9', enabled: false });
    await administer('POST', '/api-keys', { connectionId, name: 'of the connection' });
    const run = await heldRun();
    const hostedPath = `/hosted/haulers/${hauler.id}/site-data`;
    await administer('PUT', hostedPath, { sites: SITES, materials: [material('m', { siteId: idOf('s0') })] });
    const asPartner = { headers: { 'API-KEY': await hauler.key('site') } };
    const subscription = await administer<{ id: string }>('POST', '/video-subscriptions', {
      ...{ ...footage.truck, truckId: 'TRUCK-8', startTime: minute(0) },
    });
    const shared = await administer<{ id: string }>('POST', `/recordings/${first?.id ?? ''}/shares`, { reason: 'D' });
    const endpointId = await endpointThatRefuses(hauler);
    await hauler.push({ siteId: randomUUID() });
    const filter = { haulerId: hauler.id, status: '422' };
    const exchanges = () => listedExchanges(`haulerId=${hauler.id}&direction=inbound`);
    const refused = (await listedExchanges(`haulerId=${hauler.id}&status=422`))[0]?.id ?? '';
    const recordings = read(`/recordings?connectionId=${footage.truck.connectionId}&status=stored`);
    const range = { from: minute(0), to: minute(30) };
    const retention = { continuousDays: 30, onDemandDays: 60 };
    calls = {
      'erasure of an account': {
        ...{ method: 'POST', path: '/erasures', dryRunIn: 'body', state: read(`/accounts/${account.accountId}`) },
        body: { haulerId: hauler.id, accountId: account.accountId },
        preview: { status: 'previewed', preview: { accounts: 1 } },
      },
      'erasure of footage': {
        ...{ method: 'POST', path: '/erasures', dryRunIn: 'body', state: recordings },
        body: { ...footage.truck, ...range },
        preview: { status: 'previewed', preview: { recordings: 2, bytes: 2_000 } },
      },
      'retention of a hauler': {
        ...{ method: 'PUT', path: `/haulers/${owner}/retention`, dryRunIn: 'body', body: retention },
        preview: { ...retention, preview: { recordings: 0, bytes: 0, held: 0, trucks: [] } },
        state: read(`/haulers/${owner}/retention`),
      },
      'deletion by age': {
        ...{ method: 'POST', path: '/retention', dryRunIn: 'body', state: recordings },
        preview: { recordings: expect.any(Number), bytes: expect.any(Number) },
      },
      'confirmation of removals': {
        ...{ method: 'POST', path: `/sync-runs/${run.id}/confirm`, dryRunIn: 'body' },
        preview: { id: run.id, status: 'succeeded', counts: { sites: { deactivated: 7, held: 0 } } },
        state: async () => [await activeSites(run.hauler), await read(`/sync-runs/${run.id}`)()],
      },
      'release of a hold': {
        ...{ method: 'POST', path: `/holds/${held.id}/release`, dryRunIn: 'body', body: { reason: 'settled' } },
        preview: { status: 'released', preview: { stored: 0, bytes: 0 } },
        state: read(`/holds/${held.id}`),
      },
      'repair of the storage': {
        ...{ method: 'POST', path: '/doctor/repair', dryRunIn: 'body', state: recordings },
        preview: { dryRun: true, examined: expect.any(Number) },
      },
      'deletion of a connection': {
        ...{ method: 'DELETE', path: `/connections/${connectionId}`, dryRunIn: 'query' },
        preview: { keys: 1, syncRuns: 0, videoSubscriptions: 0, videoRequests: 0, recordings: 0 },
        state: async () => [
          await read(`/connections/${connectionId}`)(),
          await read(`/api-keys?connectionId=${connectionId}`)(),
        ],
      },
      'revocation of a key': {
        ...{ method: 'DELETE', path: `/api-keys/${key.id}`, dryRunIn: 'query', state: read(`/api-keys/${key.id}`) },
        preview: { lastUsedAt: null, sessions: 0 },
      },
      'replay of an exchange': {
        ...{ method: 'POST', path: `/exchanges/${refused}/replay`, dryRunIn: 'body', state: exchanges },
        preview: { status: null, earlier: { status: 422 } },
      },
      'replay of exchanges': {
        ...{ method: 'POST', path: '/exchanges/replay', dryRunIn: 'body', body: filter, state: exchanges },
        preview: { matched: 1, replayed: 0 },
      },
      'replacement of the site data': {
        ...{ method: 'PUT', path: hostedPath, dryRunIn: 'query', body: { sites: [site('s1'), site('s9')] } },
        preview: { sites: 2, active: 2, preview: { sites: 6, kiosks: 0, materials: 1 } },
        state: async () => (await call<Plain>('GET', `/scale-platform/v1/sites?haulerId=${hauler.id}`, asPartner)).body,
      },
      'revocation of a link': {
        ...{ method: 'DELETE', path: `/shares/${shared.id}`, dryRunIn: 'query', state: read('/shares?status=active') },
        preview: { status: 'active', expiresAt: expect.any(String), views: 0, lastViewedAt: null },
      },
      'end of a subscription': {
        ...{ method: 'DELETE', path: `/video-subscriptions/${subscription.id}`, dryRunIn: 'query' },
        preview: { unreadWindows: 0, watermark: expect.any(String) },
        state: async () => (await admin('GET', `/video-subscriptions/${subscription.id}`)).status,
      },
      'deletion of a webhook endpoint': {
        ...{ method: 'DELETE', path: `/webhook-endpoints/${endpointId}`, dryRunIn: 'query' },
        preview: { deliveries: 1, pending: 0 },
        state: read(`/webhook-deliveries?endpointId=${endpointId}`),
      },
      'delivery of what failed': {
        ...{ method: 'POST', path: '/webhook-deliveries/retry', dryRunIn: 'body' },
        body: { endpointId, from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) },
        preview: { matched: 1 },
        state: read(`/webhook-deliveries?endpointId=${endpointId}`),
      },
    };
  }, 120_000);

  const callOf = (name: string): Dangerous => {
    const found = calls[name];
    if (found === undefined) throw new Error(`there is no call ${name}`);
    return found;
  };

  const send = ({ method, path, body, dryRunIn }: Dangerous, dryRun: unknown) =>
    dryRunIn === 'query'
      ? admin<Plain & ErrorBody>(method, `${path}?dryRun=${encodeURIComponent(String(dryRun))}`, body)
      : admin<Plain & ErrorBody>(method, path, { ...body, dryRun });

  test.each(CALLS)('of the %s answers 200 with what would be done, and changes nothing (decision 68)', async (name) => {
    const call = callOf(name);
    const before = await call.state();
    const reply = await send(call, true);
    expect([reply.status, reply.body]).toMatchObject([200, call.preview]);
    expect(await call.state()).toEqual(before);
  });

  test.each(CALLS)(
    'of the %s is refused with the name of the field where it is no boolean (decision 11)',
    async (name) => {
      const call = callOf(name);
      const before = await call.state();
      for (const value of call.dryRunIn === 'query'
        ? ['yes', '', '1', 'TRUE']
        : ['true', 'yes', 1, 0, [], {}, [true]]) {
        const reply = await send(call, value);
        expect([value, reply.status, paths(reply)]).toEqual([value, 400, ['dryRun']]);
      }
      expect(await call.state()).toEqual(before);
    },
  );

  test.each(CALLS)('of the %s is refused in the wrong place: the call would act (decision 11)', async (name) => {
    const call = callOf(name);
    const before = await call.state();
    const misplaced =
      call.dryRunIn === 'query'
        ? await admin<ErrorBody>(call.method, call.path, { ...call.body, dryRun: true })
        : await admin<ErrorBody>(call.method, `${call.path}?dryRun=true`, call.body ?? {});
    expect([misplaced.status, paths(misplaced)]).toEqual([400, ['dryRun']]);
    expect(await call.state()).toEqual(before);
  });
});

test.each([
  ['deletion of a connection', '/connections/', 'DELETE'],
  ['revocation of a key', '/api-keys/', 'DELETE'],
  ['revocation of a link', '/shares/', 'DELETE'],
  ['end of a subscription', '/video-subscriptions/', 'DELETE'],
  ['deletion of a webhook endpoint', '/webhook-endpoints/', 'DELETE'],
])('the dry run of the %s of an unknown id answers 404 (decision 68)', async (_, path, method) => {
  expect((await admin(method, `${path}${randomUUID()}?dryRun=true`)).status).toBe(404);
});

test('the dry run of the deletion of a connection counts the subscriptions that are read, without ended ones (decision 68)', async () => {
  const hauler = await Hauler.create();
  const connectionId = await hauler.connect({ interface: 'vision', baseUrl: 'http://127.0.0.1:9', enabled: false });
  const subscribe = (truckId: string) =>
    administer<{ id: string }>('POST', '/video-subscriptions', { connectionId, truckId, startTime: minute(0) });
  const [, ended, paused] = [await subscribe('T-1'), await subscribe('T-2'), await subscribe('T-3')];
  await administer('DELETE', `/video-subscriptions/${ended.id}`);
  await administer('PATCH', `/video-subscriptions/${paused.id}`, { enabled: false });
  const { body } = await admin<Plain>('DELETE', `/connections/${connectionId}?dryRun=true`);
  expect(body).toMatchObject({ videoSubscriptions: 1, recordings: 0 });
});

test('the confirmation of a run that is not held is refused in a dry run too (decisions 52, 68)', async () => {
  const hauler = await Hauler.create({ sites: ONE_SITE });
  const [run] = await listed<{ id: string }>(`/sync-runs?connectionId=${(await hauler.siteConnection()).connectionId}`);
  expect((await admin('POST', `/sync-runs/${run?.id ?? ''}/confirm`, { dryRun: true })).status).toBe(409);
});

test('a retention is shortened without a confirmation, and its dry run counts what it deletes (decision 68)', async () => {
  const hauler = await Hauler.create();
  const path = `/haulers/${hauler.id}/retention`;
  const days = { continuousDays: 2, onDemandDays: 1 };
  expect((await admin('PUT', path, { ...days, dryRun: true })).body).toMatchObject({
    ...days,
    preview: { recordings: 0 },
  });
  expect((await admin('GET', path)).body).toMatchObject({ isDefault: true });
  const set = await admin<Plain>('PUT', path, days);
  expect([set.status, set.body]).toMatchObject([200, { ...days, isDefault: false }]);
  expect(set.body).not.toHaveProperty('preview');
  expect((await admin('PUT', `/haulers/${randomUUID()}/retention`, { ...days, dryRun: true })).status).toBe(404);
});

const listedExchanges = async (query: string) =>
  (await administer<{ data: { id: string }[] }>('GET', `/exchanges?${query}&pageSize=100`)).data;

/**
 * A paused endpoint with a delivery that has failed: a test is tried once. A receiver that is gone would be announced to other tests,
 * as theirs to this endpoint if it were not paused.
 */
async function endpointThatRefuses(hauler: Hauler): Promise<string> {
  const receiver = await startScriptedPartner();
  receiver.on('POST /hook', raw('', { status: 500 }));
  const body = { url: `${receiver.url}/hook`, topics: ['ticket.created'], haulerId: hauler.id };
  const { id } = await administer<{ id: string }>('POST', '/webhook-endpoints', body);
  await administer('POST', `/webhook-endpoints/${id}/test`);
  await administer('PATCH', `/webhook-endpoints/${id}`, { enabled: false });
  expect(await listed(`/webhook-deliveries?endpointId=${id}`)).toMatchObject([{ status: 'failed' }]);
  return id;
}

/** A run that holds the removal of seven sites. */
async function heldRun(): Promise<SyncRun & { readonly hauler: Hauler }> {
  const hauler = await Hauler.create({ sites: { sites: SITES } });
  return { ...(await hauler.sync({ sites: [] })), hauler };
}
