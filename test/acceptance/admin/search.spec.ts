import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { refuses } from '../../support/scripted-partner.js';
import { idOf } from '../../support/site-data.js';
import { type ErrorBody, flow, Hauler, ONE_SITE, paths, SITES_ROUTE } from '../support/hauler.js';
import { type OwnService, startOwnService } from '../support/service.js';
import { administer, call, read } from '../support/target.js';
import { VisionScene } from '../support/vision.js';

interface Found {
  readonly kind: string;
  readonly sentence: string;
  readonly detail?: string;
  readonly at?: string;
  readonly hauler?: { readonly id: string; readonly name: string };
  readonly page: string;
}
interface Results {
  readonly data: readonly Found[];
  readonly lookedFor: readonly string[];
}

/** As scale houses print them. */
const unique = () => `IN-${randomUUID().slice(0, 8).toUpperCase()}`;

const LIMITED = 'token-of-an-admin-of-one-hauler';
const LIMITED_TO = randomUUID();

let service: OwnService;
let hauler: Hauler;
let truck: VisionScene;
beforeAll(async () => {
  service = await startOwnService({ env: { ADMIN_TOKENS: `one:${LIMITED}:viewer@${LIMITED_TO}` } });
  hauler = await Hauler.create({ service, sites: ONE_SITE, name: 'Lone Star 100%_Hauling' });
  await Hauler.create({ service, id: LIMITED_TO, name: 'Quiet Hauling' });
  truck = await VisionScene.create({ hauler });
}, 120_000);

const search = (q: string) => read<Results>(`/search?q=${encodeURIComponent(q)}`, service);
const searchLimited = async (q: string) => {
  const headers = { Authorization: `Bearer ${LIMITED}` };
  return (await call<Results>('GET', `/admin/v1/search?q=${encodeURIComponent(q)}`, { headers }, service)).body;
};
const kindsOf = ({ data }: Results) => data.map(({ kind }) => kind);

describe('the search finds', () => {
  test('the number of a refused push, with its exchange and why, and of an accepted one the ticket too', async () => {
    const [refused, accepted] = [unique(), unique()];
    await hauler.push({
      inboundFlow: flow(refused),
      materials: [{ id: randomUUID(), name: 'X', quantity: 1, unitOfMeasure: 'Ton' }],
    });
    const { body } = await hauler.push({ inboundFlow: flow(accepted) });
    const [exchange, ...others] = (await search(refused)).data;
    expect([exchange, others]).toMatchObject([
      {
        ...{ kind: 'exchange', sentence: 'POST createTicket, refused 422', hauler: { id: hauler.id } },
        detail: expect.stringContaining('no material with this id') as unknown,
        page: expect.stringMatching(/^\/console\/exchanges\?id=/) as unknown,
      },
      [],
    ]);
    expect(Date.now() - Date.parse(exchange?.at ?? '')).toBeLessThan(60_000);
    for (const q of [accepted, accepted.toUpperCase(), ` ${accepted.toLowerCase()} `]) {
      const [ticket] = (await search(q)).data;
      expect(ticket).toMatchObject({ kind: 'ticket', sentence: `Ticket ${accepted}` });
      expect(ticket?.page).toBe(`/console/tickets?id=${body.disposalTicketId}`);
    }
    expect(kindsOf(await search(body.disposalTicketId))).toEqual(['ticket', 'exchange']);
  });

  test('a request id, and an exchange by its id', async () => {
    const reply = await hauler.push({ inboundFlow: flow(unique()) });
    const requestId = reply.headers.get('x-request-id') ?? '';
    const [found] = (await search(requestId)).data;
    expect(found).toMatchObject({ kind: 'exchange', sentence: 'POST createTicket, 200 created' });
    const id = found?.page.split('=')[1] ?? '';
    expect((await search(id)).data).toEqual([found]);
  });

  test('an account by its number and by a part of its name, and a hauler by a part of its name', async () => {
    const name = `Oak Ridge ${unique()}`;
    const { body } = await hauler.createAccount<{ accountId: string; accountNumber: string }>({ accountName: name });
    for (const q of [body.accountNumber, name.slice(2), body.accountId]) {
      const [account] = (await search(q)).data;
      expect(account).toMatchObject({ kind: 'account', sentence: `Account ${body.accountNumber}, ${name}` });
    }
    const { data } = await search('star 100%_');
    expect(data).toMatchObject([{ kind: 'hauler', page: `/console/haulers?id=${hauler.id}` }]);
  });

  test('`%`, `_` and `*` as themselves', async () => {
    for (const q of ['L%Hauling', 'Lone_Star', '%', '_', '*', '%%%', '___', '\\', "'; --"]) {
      expect([q, (await search(q)).data]).toEqual([q, []]);
    }
  });

  test('a truck, a clip request, a hold by its case, a key by its beginning, and every other id', async () => {
    const { connectionId } = truck;
    const range = {
      connectionId,
      truckId: 'TRUCK-77',
      startTime: '2026-01-31T08:00:00Z',
      endTime: '2026-01-31T08:05:00Z',
    };
    const make = async (path: string, body: object) =>
      (await administer<{ id: string }>('POST', path, body, service)).id;
    const clip = await make('/video-requests', { ...range, cameraId: 'front' });
    const subscription = await make('/video-subscriptions', {
      connectionId,
      truckId: 'TRUCK-77',
      startTime: range.startTime,
    });
    const times = { from: range.startTime, to: range.endTime };
    const hold = await make('/holds', {
      connectionId,
      truckId: 'TRUCK-77',
      ...times,
      caseId: 'CASE-9',
      reason: 'Claim',
    });
    const endpoint = await make('/webhook-endpoints', {
      url: 'http://127.0.0.1:9/',
      topics: ['ticket.created'],
      format: 'standard',
    });
    const key = await administer<{ id: string; prefix: string; key: string }>(
      'POST',
      '/api-keys',
      { haulerId: hauler.id, interfaces: ['scale'] },
      service,
    );
    const run = (await hauler.sync()).id;
    const expected: readonly (readonly [q: string, kind: string, page: string])[] = [
      ['truck-77', 'truck', `coverage?connectionId=${connectionId}&truckId=TRUCK-77`],
      [subscription, 'truck', `coverage?connectionId=${connectionId}&truckId=TRUCK-77`],
      [clip, 'clip', `clips?id=${clip}`],
      ['CASE-9', 'hold', `holds?id=${hold}`],
      [hold, 'hold', `holds?id=${hold}`],
      [key.prefix, 'key', `keys?haulerId=${hauler.id}`],
      [key.key, 'key', `keys?haulerId=${hauler.id}`],
      [key.id, 'key', `keys?haulerId=${hauler.id}`],
      [run, 'run', `sync?run=${run}`],
      [connectionId, 'connection', `connections?id=${connectionId}`],
      [hauler.id, 'hauler', `haulers?id=${hauler.id}`],
      [endpoint, 'webhook', `webhooks?endpoint=${endpoint}`],
      [idOf('yard'), 'site', `tickets?siteId=${idOf('yard')}`],
      [idOf('debris').toUpperCase(), 'material', `exchanges?reference=materialId%3A${idOf('debris')}`],
    ];
    for (const [q, kind, page] of expected) {
      const [found] = (await search(q)).data;
      expect([q, found?.kind, found?.page]).toEqual([q, kind, `/console/${page}`]);
      // A person of another hauler finds nothing of it.
      expect([q, (await searchLimited(q)).data]).toEqual([q, []]);
    }
  });
});

test('a person of another hauler finds neither tickets nor accounts nor exchanges of it, and says what was looked for', async () => {
  const number = unique();
  const reply = await hauler.push({ inboundFlow: flow(number) });
  await hauler.createAccount({ accountName: `Elm Street ${number}` });
  for (const q of [
    number,
    'Elm Street',
    'Lone Star',
    reply.body.disposalTicketId,
    reply.headers.get('x-request-id') ?? '',
  ]) {
    expect((await search(q)).data.length).toBeGreaterThan(0);
    const { data, lookedFor } = await searchLimited(q);
    expect([q, data]).toEqual([q, []]);
    expect(lookedFor.length).toBeGreaterThan(1);
  }
  expect(kindsOf(await searchLimited('Quiet'))).toEqual(['hauler']);
});

test('refuses a text that is absent, empty or of 10,000 characters', async () => {
  const ask = (query: string) =>
    call<ErrorBody>(
      'GET',
      `/admin/v1/search${query}`,
      { headers: { Authorization: `Bearer ${service.adminToken}` } },
      service,
    );
  for (const query of ['', '?q=', '?q=%00', `?q=${'x'.repeat(10_000)}`]) {
    const reply = await ask(query);
    expect([reply.status, paths(reply)]).toEqual([400, ['q']]);
  }
  for (const garbage of ['   ', '𝕏'.repeat(200), '"\\', '..%2f']) expect((await search(garbage)).data).toEqual([]);
});

describe('the health of a connection', () => {
  interface Shown {
    readonly nextRunAt: string | null;
    readonly health: Readonly<Record<'state' | 'lastSuccessAt' | 'lastFailureAt' | 'lastFailure', string | null>> & {
      readonly calls: number;
      readonly failedCalls: number;
      readonly lastFailureId?: string;
    };
  }
  const shown = async (id: string) => {
    const [one, { data }] = await Promise.all([
      read<Shown>(`/connections/${id}`, service),
      read<{ data: (Shown & { id: string })[] }>('/connections?pageSize=100', service),
    ]);
    expect(data.find((each) => each.id === id)?.health).toEqual(one.health);
    return one;
  };

  test('of a partner that answers 401 to each call is failing, with the reason and the exchange', async () => {
    const own = await Hauler.create({ service, sites: ONE_SITE });
    const { partner, connectionId } = await own.siteConnection();
    await administer('PATCH', `/connections/${connectionId}`, { enabled: true }, service);
    const working = await eventually(async () => {
      const { health } = await shown(connectionId);
      expect(health.state).toBe('working');
      return health;
    });
    expect(working).toMatchObject({ failedCalls: 0, lastFailureAt: null });
    partner.on(SITES_ROUTE, refuses(401, 'UNAUTHORIZED'));
    await own.sync();
    const { health } = await eventually(async () => {
      const found = await shown(connectionId);
      expect(found.health).toMatchObject({ state: 'failing', failedCalls: 1, lastSuccessAt: working.lastSuccessAt });
      return found;
    });
    expect(health.lastFailure).toContain('not accept our API key');
    expect(health.calls).toBe(working.calls + 1);
    const exchange = await read<{ status: number }>(`/exchanges/${health.lastFailureId ?? ''}`, service);
    expect(exchange.status).toBe(401);
    const { health: ofHauler } = await read<{ health: object }>(`/haulers/${own.id}`, service);
    expect(ofHauler).toMatchObject({ connections: 1, failingConnections: 1, refusedPushes: 0 });
    await administer('PATCH', `/connections/${connectionId}`, { enabled: false }, service);
    expect((await shown(connectionId)).health.state).toBe('paused');
  });

  test('of a vision connection has its next call, and a clip that the partner does not know is no failure', async () => {
    const { nextRunAt } = await eventually(async () => {
      const found = await shown(truck.connectionId);
      expect(found.nextRunAt).not.toBeNull();
      return found;
    });
    expect(Date.parse(nextRunAt ?? '')).not.toBeNaN();
  });

  test('of a hauler counts its refused pushes, and says when it pushed last', async () => {
    const own = await Hauler.create({ service, sites: ONE_SITE });
    await own.push({ inboundFlow: flow(unique()), siteId: randomUUID() });
    await eventually(async () => {
      const { data } = await read<{ data: { id: string; health: object }[] }>('/haulers', service);
      const health = data.find(({ id }) => id === own.id)?.health;
      expect(health).toMatchObject({ refusedPushes: 1, lastPushAt: expect.any(String) as unknown });
    });
  });
});

test('exchanges are counted over time as their list has them', async () => {
  const count = async (query: string) => {
    const path = `/exchanges/counts?${query}`;
    const answer = await read<{ hours: number; failedOnly: boolean; data: Record<string, number>[] }>(path, service);
    const sum = (name: string) => answer.data.reduce((all, each) => all + (each[name] ?? 0), 0);
    return { ...answer, succeeded: sum('succeeded'), refused: sum('refused') };
  };
  const day = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 23 * 3_600_000).toISOString();
  const filter = `from=${day}&direction=inbound&interface=scale`;
  const before = await count(filter);
  expect([before.hours, before.data.length, before.failedOnly]).toEqual([1, 24, false]);
  await hauler.push({ inboundFlow: flow(unique()) });
  await hauler.push({ inboundFlow: flow(unique()), siteId: randomUUID() });
  const after = await count(filter);
  expect([after.succeeded - before.succeeded, after.refused - before.refused]).toEqual([1, 1]);
  const ofHauler = await count(`${filter}&haulerId=${hauler.id}`);
  expect([ofHauler.failedOnly, ofHauler.succeeded, ofHauler.refused > 0]).toEqual([true, 0, true]);
  expect((await count(`${filter}&failed=true`)).succeeded).toBe(0);
  const long = await count('from=2025-01-01T00:00:00Z');
  expect(long.data.length).toBeLessThanOrEqual(48);
  expect(long.hours % 24).toBe(0);
  const refused = await call<ErrorBody>(
    'GET',
    '/admin/v1/exchanges/counts?reference=x',
    {
      headers: { Authorization: `Bearer ${service.adminToken}` },
    },
    service,
  );
  expect(refused.status).toBe(400);
});

test('actions are listed by person and by kind, and everybody who did something is named', async () => {
  interface Action {
    readonly actor: string;
    readonly resource: string;
  }
  const list = async (query: string) =>
    (await read<{ data: Action[] }>(`/actions?pageSize=100&${query}`, service)).data;
  await administer('POST', '/haulers', { name: 'For the log' }, service);
  const { data: actors } = await read<{ data: { actor: string; name: string }[] }>('/actions/actors', service);
  expect(actors).toContainEqual(expect.objectContaining({ actor: 'admin', name: 'An admin with the token' }));
  const own = await list('actor=admin&kind=hauler');
  expect(own.length).toBeGreaterThan(0);
  expect(own.every(({ actor, resource }) => actor === 'admin' && resource.startsWith('hauler:'))).toBe(true);
  expect(await list('actor=person:nobody')).toEqual([]);
  expect(
    (
      await call(
        'GET',
        '/admin/v1/actions?kind=unknown',
        { headers: { Authorization: `Bearer ${service.adminToken}` } },
        service,
      )
    ).status,
  ).toBe(400);
});
