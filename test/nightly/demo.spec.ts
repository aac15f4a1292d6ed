import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { type OwnService, startOwnService } from '../acceptance/support/service.js';
import { administer, call } from '../acceptance/support/target.js';

const HAULER = '5f0c1f2e-7a3b-4c8d-9e10-112233445566';
/** Seconds suffice but on a machine that does much else. */
const FILL_LIMIT_MS = 150_000;
const ENV = { DEMO: 'true', LOG_LEVEL: 'warn' };

interface List<T> {
  readonly data: T[];
  readonly pagination: { readonly totalItems: number };
}
interface Ticket {
  readonly id: string;
  readonly siteId: string;
  readonly materials: { readonly id: string; readonly unitPriceCents?: number; readonly quantity: number }[];
  readonly inboundFlow?: { readonly updatedAt: string };
}
interface Exchange {
  readonly id: string;
  readonly status: number;
  readonly result?: string;
  readonly reason?: string;
}

let service: OwnService;
beforeAll(async () => {
  service = await startOwnService({ env: { ...ENV, STORAGE_URL: `file:${import.meta.filename}/videos` } });
  await isFilled(service);
}, FILL_LIMIT_MS);

/** On the same database and data folder. */
async function startAgain(): Promise<OwnService> {
  const { databaseUrl, dataDir } = service;
  return startOwnService({ env: ENV, databaseUrl, dataDir });
}

/** The welcome is the last output of a start. */
const isFilled = (started: OwnService) =>
  eventually(() => expect(started.output()).toMatch(/Five things to look at:[^]*\/demo\/webhooks\n$/), FILL_LIMIT_MS);

const list = <T>(path: string) => administer<List<T>>('GET', path, undefined, service);
const listed = async <T>(path: string): Promise<T[]> => (await list<T>(path)).data;
const count = async (path: string): Promise<number> => (await list(path)).pagination.totalItems;
const refusals = () => listed<Exchange>(`/exchanges?haulerId=${HAULER}&interface=scale&failed=true&pageSize=100`);

async function allTickets(): Promise<Ticket[]> {
  const pages = [1, 2, 3, 4, 5].map((page) => listed<Ticket>(`/tickets?haulerId=${HAULER}&pageSize=100&page=${page}`));
  return (await Promise.all(pages)).flat();
}

/** What a later start must not add again. */
async function contents() {
  return {
    refused: (await refusals()).length,
    accounts: await count(`/accounts?haulerId=${HAULER}`),
    held: await count('/sync-runs?status=held&latest=true'),
    quarantined: await count('/sync-runs?quarantined=true'),
    holds: await count('/holds'),
    clips: await count('/video-requests'),
    endpoints: await count('/webhook-endpoints'),
    subscriptions: await count('/video-subscriptions'),
    keys: await count('/api-keys'),
    haulers: await count('/haulers'),
  };
}

const welcome = () => service.output().slice(service.output().indexOf('Sign in'));

/** The page of the receiver, when these events have arrived. */
const receivedWebhooks = (...topics: string[]) =>
  eventually(async () => {
    const { text } = await call<string>('GET', '/demo/webhooks', {}, service);
    for (const topic of topics) expect(text).toContain(topic);
    return text;
  });

/** The query of the page to which the welcome leads for a question. */
function addressed(question: string): URLSearchParams {
  const [, address = ''] = new RegExp(`${question}.*? (http\\S+)`).exec(welcome()) ?? [];
  return new URL(address).searchParams;
}

describe('a first start that cannot store footage', () => {
  test('runs, has the rest, and says so in one sentence', async () => {
    expect(service.output().match(/^The demo is not complete: .*$/gm)).toHaveLength(1);
    expect(service.output()).toMatch(/^The demo is not complete: footage \(.*storage/m);
    // What follows from footage is left to a later start.
    expect(service.output()).not.toMatch(/actions of a person|ticket with footage/);
    expect(await count(`/tickets?haulerId=${HAULER}`)).toBeGreaterThan(330);
    expect((await call('GET', '/health/live', {}, service)).status).toBe(200);
  });

  test('shows what its webhook endpoint received, and refuses what this service has not signed', async () => {
    const page = await receivedWebhooks('ticket.refused', 'sync.held');
    const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': String(Math.floor(Date.now() / 1_000)) };
    const forged = { ...headers, 'webhook-signature': 'v1,AAAA', 'Content-Type': 'application/json' };
    const body = { type: 'sync.failed', timestamp: new Date().toISOString(), data: {} };
    expect((await call('POST', '/demo/webhooks', { headers: forged, body }, service)).status).toBe(401);
    expect(page).not.toContain('sync.failed');
    expect((await call('DELETE', '/demo/webhooks', {}, service)).status).toBe(405);
  });
});

describe('the demo', () => {
  beforeAll(async () => {
    await service.end();
    service = await startAgain();
    await isFilled(service);
  }, FILL_LIMIT_MS);

  test('has two weeks of tickets of three sites and eight materials, with prices, corrections, reversals and late pushes', async () => {
    const tickets = await allTickets();
    expect(tickets.length).toBeGreaterThan(330);
    expect(tickets.length).toBeLessThan(450);
    const days = tickets.map(({ inboundFlow }) => inboundFlow?.updatedAt.slice(0, 10));
    expect(new Set(days).size).toBeGreaterThanOrEqual(11);
    expect(new Set(tickets.map(({ siteId }) => siteId)).size).toBe(3);
    const materials = tickets.flatMap((ticket) => ticket.materials);
    expect(new Set(materials.map(({ id }) => id)).size).toBe(8);
    expect(materials.every(({ unitPriceCents }) => unitPriceCents !== undefined)).toBe(true);
    expect(materials.filter(({ quantity }) => quantity < 0).length).toBeGreaterThan(5);
    const results = await listed<Exchange>(`/exchanges?haulerId=${HAULER}&interface=scale&pageSize=100`);
    expect(results.map(({ result }) => result)).toEqual(
      expect.arrayContaining(['created', 'updated', 'stale', 'unchanged']),
    );
  });

  test('has refused pushes of four kinds, 40 accounts, and two more whose name was taken', async () => {
    const refused = await refusals();
    expect(refused.length).toBeGreaterThanOrEqual(18);
    expect(new Set(refused.map(({ status, reason }) => `${status} ${reason}`)).size).toBe(4);
    expect(await count(`/accounts?haulerId=${HAULER}`)).toBe(40);
    expect(await listed(`/exchanges?haulerId=${HAULER}&interface=account&status=409`)).toHaveLength(2);
  });

  test('has a held synchronisation of another hauler, and one with a quarantined record', async () => {
    const [held] = await listed<{ id: string }>('/sync-runs?status=held');
    expect(await count(`/sync-runs/${held?.id}/changes?change=held`)).toBe(7);
    const [run] = await listed<{ id: string }>('/sync-runs?quarantined=true');
    expect(await count(`/sync-runs/${run?.id}/quarantine`)).toBe(1);
  });

  test('has a day of footage of two trucks, with a clip, a gap, and an hour that was lost to an expired link', async () => {
    const stored = (truck: string) => count(`/recordings?truckId=${truck}&source=continuous&status=stored`);
    await eventually(async () => {
      expect(await stored('TRUCK-7')).toBeGreaterThanOrEqual(41);
      expect(await stored('TRUCK-12')).toBeGreaterThanOrEqual(21);
    });
    const hours = await listed<{ truckId: string; sha256: string }>(
      '/recordings?status=stored&source=continuous&pageSize=100',
    );
    const filmsOf = (truck: string) =>
      new Set(hours.filter(({ truckId }) => truckId === truck).map(({ sha256 }) => sha256));
    // Each truck shows its own name.
    const others = filmsOf('TRUCK-12');
    expect([...filmsOf('TRUCK-7')].filter((film) => others.has(film))).toEqual([]);
    const lost = await listed<{ truckId: string; cameraId: string }>('/recordings?status=expired');
    expect(lost).toMatchObject([{ truckId: 'TRUCK-12', cameraId: 'rear' }]);
    const [hold] = await listed<{ id: string }>('/holds');
    const { missing } = await administer<{ missing: object[] }>('GET', `/holds/${hold?.id}`, undefined, service);
    expect(missing).toMatchObject([{ cameraId: 'rear' }]);
    await eventually(async () => {
      const clips = await listed<{ status: string }>('/video-requests');
      expect(clips.map(({ status }) => status)).toEqual(['failed', 'stored']);
    });
  });

  test('has actions of a person, and this start has sent webhooks', async () => {
    await receivedWebhooks('webhook.test', 'ticket.created');
    const actions = await listed<{ actor: string; action: string }>('/actions?pageSize=100');
    const own = actions.filter(({ actor }) => actor === 'token:dana.reyes').map(({ action }) => action);
    expect(own.sort()).toEqual([
      ...['createHold', 'createVideoRequest', 'exchange.viewed', 'readVideoSubscriptionAgain', 'testWebhookEndpoint'],
    ]);
  });
});

describe('the welcome', () => {
  test('leads to each of the five things', async () => {
    const refused = addressed('Why was a push refused').get('reference') ?? '';
    expect(await listed(`/exchanges?reference=${refused}`)).toMatchObject([{ status: 422, reason: 'materialExists' }]);
    const [corrected] = await listed<Ticket>(`/tickets?search=${addressed('corrected this weight').get('search')}`);
    expect(corrected?.materials).toMatchObject([{ quantity: 12.48 }]);
    expect(await count(`/tickets/${corrected?.id}/revisions`)).toBe(3);
    expect(await count(`/sync-runs?latest=true&status=${addressed('held run remove').get('status')}`)).toBe(1);
    const [arrived] = await listed<Ticket>(`/tickets?search=${addressed('Play the arrival').get('search')}`);
    const path = `/tickets/${arrived?.id}/footage`;
    const { recordings } = await administer<{ recordings: object[] }>('GET', path, undefined, service);
    expect(recordings.length).toBeGreaterThanOrEqual(4);
    const connections = await listed<{ id: string }>(`/connections?${addressed('kit say').toString()}`);
    expect(connections).toHaveLength(1);
    const check = `/connections/${connections[0]?.id}/check`;
    expect(await administer('POST', check, {}, service)).toMatchObject({ conforms: true });
  });

  test('comes after a call for each interface that works as pasted', async () => {
    const curls = service.output().match(/curl -sS .*/g) ?? [];
    const answered = [];
    for (const curl of curls) {
      // A shell would expand the brackets of http://[::1]:3000 without quotes.
      const [, url = ''] = /^curl -sS '(http[^']+)'/.exec(curl) ?? [];
      const headers = Object.fromEntries(
        [...curl.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [name, value]),
      );
      const [, body] = /-d '(.+)'$/.exec(curl) ?? [];
      const response = await fetch(url, { headers, ...(body === undefined ? {} : { method: 'POST', body }) });
      answered.push(`${new URL(url).pathname} ${response.status}`);
    }
    expect(answered).toEqual([
      '/platform-api/v1/tickets 200',
      '/platform-api/v1/accounts 200',
      '/scale-platform/v1/sites 200',
      '/video-platform/v1/videos/requests 202',
    ]);
  });
});

describe('a later start', () => {
  test(
    'adds nothing that is there, also after one that was stopped while it looked',
    async () => {
      const before = await contents();
      const began = new Date().toISOString();
      const keys = () => readFileSync(join(service.dataDir, 'demo-keys.json'), 'utf8');
      const stored = keys();
      await service.end();
      const stopped = await startAgain();
      expect(await stopped.end()).toBe(0);
      expect(stopped.output()).not.toMatch(/Five things|not complete/);
      service = await startAgain();
      await isFilled(service);
      expect(await contents()).toEqual(before);
      // Time may have added a ticket.
      const pushes = await listed<Exchange>(`/exchanges?haulerId=${HAULER}&interface=scale&from=${began}`);
      expect(pushes.length).toBeLessThan(8);
      expect(keys()).toBe(stored);
      expect(service.output()).not.toMatch(/not complete/);
    },
    FILL_LIMIT_MS,
  );

  test('without the demo has no receiver of webhooks', async () => {
    const other = await startOwnService();
    expect((await call('GET', '/demo/webhooks', {}, other)).status).toBe(404);
  });
});
