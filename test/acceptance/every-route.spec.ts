import { createHash, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'csv-parse/sync';
import type { Reply } from '../support/http.js';
import { sampleVideo } from '../support/sample-video.js';
import {
  columnsOf,
  exampleOf,
  faultsOf,
  type Operation,
  OPERATIONS,
  parametersOf,
  requiredQueryOf,
  rowFieldsOf,
} from './support/documents.js';
import { createFleet, type Fleet, hostOwn, signIn } from './support/fleet.js';
import { administer, call } from './support/target.js';
import { type OwnService, startOwnService } from './support/service.js';

/**
 * Every operation of the six published documents, so that a new route is covered on the day it is added. Its own service, because
 * people with each role and two haulers with things of each kind are known to it, and because nobody else changes its lists.
 */

const ROLES = ['viewer', 'viewer+video', 'operator', 'admin'];
const READ_TOKEN = 'test-read-token-0123456789';
const LIMITED_TOKEN = 'token-of-an-admin-of-one-hauler';
const UNKNOWN_ID = '0197a1d0-11aa-7c33-9b44-0f1e2d3c4b5a';
const tokenOf = (role: string) => `token-of-the-role-${role}`;

/** They concern all haulers: people who are limited to haulers get 403 (guide "People and roles"). */
const OF_ALL_HAULERS = new Set([
  ...['createHauler', 'setHaulerRetention', 'runRetention', 'issueApiKey'],
  ...['getOverview', 'listActions', 'listActors', 'checkStorage', 'repairStorage', 'getOutbound', 'setOutbound'],
  ...['listSessions', 'endSession', 'releaseHold', 'createErasure', 'listErasures', 'getErasure'],
  ...['replaceHostedSiteData', 'uploadHostedRecording', 'setHostedCamera', 'listHostedVideoRequests'],
  ...['listRunningScenarios', 'listSandboxScenarios', 'listActiveScenarios', 'startScenario', 'endScenario'],
  ...['advanceClock', 'listWebhookDeliveries', 'retryWebhookDeliveries', 'getWebhookDelivery', 'retryWebhookDelivery'],
  ...['createWebhookEndpoint', 'listWebhookEndpoints', 'getWebhookEndpoint', 'updateWebhookEndpoint'],
  ...['deleteWebhookEndpoint', 'rotateWebhookSecret', 'testWebhookEndpoint'],
]);

/** The read-only token may call it, although it needs the role `operator`: it changes nothing (operating.md, "Read-only token"). */
const OPEN_TO_READ_TOKEN = new Set(['checkConnection']);

/** What this file does not show of an operation, with the reason. */
const NO_SUCCESS: Readonly<Record<string, string>> = {
  retryRecording: 'every recording of the fleet is stored, which is 409; retries are in the folder vision',
  retryOwnRecording: 'the same',
};

let service: OwnService;
let [own, other]: Fleet[] = [];
let sessionId = '';
/** What of the answers so far is not as the document says, and whether one was a success. */
const faults = new Map<string, Set<string>>();
const successes = new Set<string>();

beforeAll(async () => {
  const [ownId, otherId] = [randomUUID(), randomUUID()];
  const tokens = [
    ...ROLES.map((role) => `a-${role.replace('+', '-')}:${tokenOf(role)}:${role}`),
    `limited:${LIMITED_TOKEN}:admin@${ownId}`,
  ];
  service = await startOwnService({
    env: { ADMIN_READ_TOKEN: READ_TOKEN, ADMIN_TOKENS: tokens.join(','), TRUST_PROXY: '127.0.0.1' },
  });
  [own, other] = await Promise.all([
    createFleet(service, ownId, 'alpha-mark'),
    createFleet(service, otherId, 'bravo-mark'),
  ]);
  await hostOwn(service, own);
  await Promise.all(ROLES.map(() => signIn(service)));
  const sessions = await administer<{ data: { id: string }[] }>('GET', '/sessions', undefined, service);
  sessionId = sessions.data[0]?.id ?? '';
}, 120_000);

const fleetOf = (name: 'own' | 'other'): Fleet => {
  const fleet = name === 'own' ? own : other;
  if (fleet === undefined) throw new Error('the fleets are not made yet');
  return fleet;
};

/** Each key opens a part of the partner API. */
function keyOf({ path }: Operation, { keys }: Fleet): string {
  if (path.includes('/sync-runs')) return keys.site;
  return /attention|findings|video-subscriptions|unread-windows|recordings|pokes/.test(path)
    ? keys.vision
    : keys.hauler;
}

const OF_PLATFORM = new Set(['scale', 'account']);

function credentialOf(operation: Operation, fleet: Fleet): Record<string, string> {
  if (operation.document === 'admin') return { Authorization: `Bearer ${service.adminToken}` };
  return { [OF_PLATFORM.has(operation.document) ? 'PLATFORM-API-KEY' : 'API-KEY']: keyOf(operation, fleet) };
}

function idOf({ document, path }: Operation, { ids, ownIds }: Fleet): string {
  const [, kind = ''] = /([\w-]+)\/\{id\}/.exec(path) ?? [];
  return kind === 'sessions' ? sessionId : ((document === 'partner' ? ownIds[kind] : undefined) ?? ids[kind] ?? '');
}

interface Sent {
  /** Instead of the one of the fleet. */
  readonly id?: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: Readonly<Record<string, string>>;
}

/** Values of members of bodies, and of parameters, which an example of a document cannot know. */
const valuesOf = ({ haulerId, connections, customerId, truckId, ids }: Fleet): Record<string, string> => ({
  ...{ haulerId, customerId, truckId, connectionId: connections.vision },
  ...{ accountId: ids['accounts'] ?? '', endpointId: ids['webhook-endpoints'] ?? '' },
  ...{ requestId: ids['video-requests'] ?? '', baseUrl: 'http://127.0.0.1:9', url: 'http://127.0.0.1:9/hook' },
  ...{ subject: 'haulers', subjectId: haulerId, name: 'stale-records' },
});

function known<T>(value: T, fleet: Fleet): T {
  const values = valuesOf(fleet);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, values[name] ?? (each as unknown)]),
  ) as T;
}

/** The beginning of a day, so many days after today. */
const midnight = (days: number): string =>
  `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`;

/** Requests that the example of the document does not make by itself. */
const REQUESTS: Readonly<Record<string, (fleet: Fleet) => Sent>> = {
  importAccounts: ({ mark }) => ({
    headers: { 'Content-Type': 'text/csv' },
    body: `accountName\r\nImported ${mark}\r\n`,
  }),
  uploadHostedRecording: () => ({ headers: { 'Content-Type': 'video/mp4' }, body: sampleVideo() }),
  createTicket: ({ mark, siteId, materialId }) => ({
    body: {
      siteId,
      materials: [{ id: materialId, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' }],
      inboundFlow: { ticketNumber: `more of ${mark}`, updatedAt: '2026-01-31T08:00:00Z' },
    },
  }),
  poke: ({ truckId }) => ({ body: { truckId } }),
  confirmSyncRun: ({ heldRun }) => ({ id: heldRun }),
  rejectSyncRun: ({ heldRun }) => ({ id: heldRun, body: {} }),
  syncConnection: ({ connections }) => ({ id: connections.site }),
  setHaulerRetention: () => ({ body: { onDemandDays: 3_000, continuousDays: 3_000, confirm: true, recordings: 0 } }),
  createHauler: () => ({ body: { name: 'A hauler more' } }),
  getSites: ({ haulerId }) => ({ query: { haulerId } }),
  setOutbound: () => ({ body: { enabled: true, reason: 'the sweep' } }),
  listFleetCoverage: () => ({ query: { from: midnight(-1), to: midnight(1) } }),
  getTonnage: () => ({ query: { from: midnight(-1), to: midnight(1) } }),
  updateConnection: () => ({ body: { intervalSeconds: 1_800 } }),
};

function requestOf(operation: Operation, fleet: Fleet): Sent {
  const example = known(exampleOf(operation), fleet);
  const query = known(requiredQueryOf(operation), fleet);
  const { query: more, ...request } = REQUESTS[operation.name]?.(fleet) ?? {};
  return { ...(example === undefined ? {} : { body: example }), ...request, query: { ...query, ...more } };
}

/** One call with the credential of the own fleet, unless `headers` has another; its answer is compared with the document. */
async function ask(operation: Operation, fleet: Fleet, sent: Sent = {}): Promise<Reply> {
  const { id = idOf(operation, fleet), query = {}, body, headers = {} } = sent;
  const values: Readonly<Record<string, string>> = { ...valuesOf(fleet), ...sent.path, id };
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)])).toString();
  const options = { headers: { ...credentialOf(operation, fleetOf('own')), ...headers }, body };
  const reply = await call<unknown>(operation.method, search === '' ? path : `${path}?${search}`, options, service);
  const found = faults.get(operation.title) ?? new Set<string>();
  for (const fault of faultsOf(operation, reply)) found.add(fault);
  faults.set(operation.title, found);
  if (reply.status < 300) successes.add(operation.name);
  return reply;
}

/** Another address for each call: those that try keys from one address are soon refused with 429. */
let addresses = 0;
const elsewhere = () => ({ 'X-Forwarded-For': `198.51.${(++addresses >> 8) & 255}.${addresses & 255}` });

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });
const errorOf = ({ status, body }: Reply) => [status, (body as { error?: { code: string } }).error?.code];
const violationsOf = ({ body }: Reply): string[] =>
  (body as { error?: { details?: { violations?: { path: string }[] } } }).error?.details?.violations?.map(
    ({ path }) => path,
  ) ?? [];

/** For titles: a row of a table is an operation. */
const rows = (operations: readonly Operation[]) => operations.map((operation) => [operation.title, operation] as const);
const admin = OPERATIONS.filter(({ document }) => document === 'admin');
const withId = OPERATIONS.filter(({ path }) => path.includes('{id}'));

test('every operation of the documents needs a credential', () => {
  expect(OPERATIONS.filter(({ security = [] }) => security.length === 0).map(({ title }) => title)).toEqual([]);
  expect(OPERATIONS.length).toBeGreaterThan(120);
});

/** The path of an operation with an unknown id, and the methods of all operations that have it. */
function methodsAt({ path }: Operation): { whole: string; methods: string[] } {
  const whole = path.replace(/\{\w+\}/g, UNKNOWN_ID);
  const hasIt = (each: Operation) => new RegExp(`^${each.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(whole);
  const methods = new Set(OPERATIONS.filter(hasIt).map(({ method }) => method));
  return { whole, methods: [...methods, ...(methods.has('GET') ? ['HEAD'] : [])].sort() };
}

const PATHS = [...new Map(OPERATIONS.map((operation) => [operation.path, operation]))];

test.each(PATHS)('%s is 405 by any other method, in any case of its path (decision 10)', async (_, operation) => {
  const { whole, methods } = methodsAt(operation);
  const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].filter((method) => !methods.includes(method));
  for (const path of [whole, `${whole}/`, whole.toUpperCase()]) {
    const replies = await Promise.all(others.map((method) => call(method, path, {}, service)));
    expect(replies.map(({ status, headers }) => [status, headers.get('allow')])).toEqual(
      others.map(() => [405, methods.join(', ')]),
    );
  }
});

describe('without a valid credential', () => {
  const none = { Authorization: '', 'PLATFORM-API-KEY': '', 'API-KEY': '' };
  // Another one for each call, because who tries many with one beginning is soon refused with 429.
  const wrong = () => {
    const secret = randomUUID();
    return { Authorization: `Bearer ${secret}`, 'PLATFORM-API-KEY': secret, 'API-KEY': secret };
  };

  test.each(rows(OPERATIONS))(
    '%s answers 401 alike to a valid and to a malformed request (decisions 3, 10)',
    async (_, operation) => {
      const fleet = fleetOf('own');
      const only = ({ Authorization, ...keys }: typeof none) =>
        operation.document === 'admin' ? { Authorization } : pick(keys, Object.keys(credentialOf(operation, fleet)));
      const request = requestOf(operation, fleet);
      const malformed: Sent = {
        id: 'x',
        query: { page: 0, from: 'x', haulerId: 'x' },
        path: { subject: 'x', subjectId: 'x' },
      };
      const broken: Sent = request.body === undefined ? malformed : { ...malformed, body: '{"' };
      const answers = await Promise.all(
        [request, broken].flatMap((sent) =>
          [none, wrong()].map((each) =>
            ask(operation, fleet, { ...sent, headers: { ...sent.headers, ...only(each), ...elsewhere() } }),
          ),
        ),
      );
      expect(answers.map(errorOf)).toEqual(Array(4).fill([401, 'UNAUTHORIZED']));
      const [first, second, third, fourth] = answers.map(({ text }) => text);
      expect([third, fourth]).toEqual([first, second]);
      expect(first).not.toContain(fleet.mark);
    },
  );
});

const pick = (keys: Readonly<Record<string, string>>, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, keys[name] ?? '']));

describe('a role', () => {
  test.each(rows(admin))(
    '%s is open to its x-role and those above it, else 403 with the role that it needs',
    async (_, operation) => {
      const needed = operation['x-role'] ?? '';
      expect(ROLES).toContain(needed);
      const harmless = { ...requestOf(operation, fleetOf('own')), id: UNKNOWN_ID, path: { subjectId: UNKNOWN_ID } };
      const sent =
        'body' in harmless ? { ...harmless, body: '{"' } : { ...harmless, path: { ...harmless.path, name: 'x' } };
      const answers = await Promise.all(
        ROLES.map(async (role) => {
          const reply = await ask(operation, fleetOf('own'), {
            ...sent,
            headers: { ...sent.headers, ...bearer(tokenOf(role)).headers },
          });
          return [
            role,
            reply.status === 403 ? (reply.body as { error: unknown }).error : reply.status === 401 ? 401 : 'open',
          ];
        }),
      );
      expect(answers).toEqual(
        ROLES.map((role) => {
          if (ROLES.indexOf(role) >= ROLES.indexOf(needed)) return [role, 'open'];
          const message = `this needs the role ${needed}; a-${role.replace('+', '-')} has the role ${role}`;
          return [role, { code: 'FORBIDDEN', message }];
        }),
      );
      const read = await ask(operation, fleetOf('own'), {
        ...sent,
        headers: { ...sent.headers, ...bearer(READ_TOKEN).headers },
      });
      const mayRead = needed.startsWith('viewer') || OPEN_TO_READ_TOKEN.has(operation.name);
      expect([read.status === 401, /read/.test(read.text) || mayRead]).toEqual([!mayRead, true]);
    },
  );

  test('no operation that changes something is open to viewers', () => {
    const open = admin.filter(({ method, 'x-role': role = '' }) => method !== 'GET' && role.startsWith('viewer'));
    expect(open.map(({ title }) => title)).toEqual([]);
  });
});

/** An answer without what differs from call to call. */
const comparable = ({ status, text }: Reply, id: string) => [status, text.replaceAll(id, 'ID')];

describe('of another hauler', () => {
  const keyed = withId.filter(({ document }) => document === 'partner');

  test.each(rows(keyed))('%s does not exist for the key of another partner (decision 1)', async (_, operation) => {
    const request = requestOf(operation, fleetOf('own'));
    const id = idOf(operation, fleetOf('other'));
    const foreign = await ask(operation, fleetOf('own'), { ...request, id });
    const unknown = await ask(operation, fleetOf('own'), { ...request, id: UNKNOWN_ID });
    expect(errorOf(unknown)).toEqual([404, 'NOT_FOUND']);
    expect(comparable(foreign, id)).toEqual(comparable(unknown, UNKNOWN_ID));
  });

  const lists = OPERATIONS.filter(
    ({ document, method, path }) => document === 'partner' && method === 'GET' && !path.includes('{'),
  );

  test.each(rows(lists))('%s has nothing of another partner (decision 1)', async (_, operation) => {
    const { status, text } = await ask(operation, fleetOf('own'), {
      query: parametersOf(operation, 'query').includes('pageSize') ? { pageSize: 100 } : {},
    });
    expect(status).toBe(200);
    expectNothingOf(fleetOf('other'), text);
  });

  const limited = admin.filter(({ name }) => !OF_ALL_HAULERS.has(name));

  test.each(rows(admin.filter(({ name }) => OF_ALL_HAULERS.has(name))))(
    '%s concerns all haulers, and is 403 for a person who is limited to one',
    async (_, operation) => {
      const request = requestOf(operation, fleetOf('own'));
      const headers = { ...request.headers, ...bearer(LIMITED_TOKEN).headers };
      expect(errorOf(await ask(operation, fleetOf('own'), { ...request, headers }))).toEqual([403, 'FORBIDDEN']);
    },
  );

  test.each(rows(limited.filter(({ path }) => path.includes('{id}'))))(
    '%s does not exist for a person who is limited to one hauler',
    async (_, operation) => {
      const request = requestOf(operation, fleetOf('own'));
      const headers = { ...request.headers, ...bearer(LIMITED_TOKEN).headers };
      const id = idOf(operation, fleetOf('other'));
      const foreign = await ask(operation, fleetOf('own'), { ...request, headers, id });
      const unknown = await ask(operation, fleetOf('own'), { ...request, headers, id: UNKNOWN_ID });
      expect(errorOf(unknown)).toEqual([404, 'NOT_FOUND']);
      expect(comparable(foreign, id)).toEqual(comparable(unknown, UNKNOWN_ID));
    },
  );

  const whole = limited.filter(({ path }) => !path.includes('{id}'));
  const naming = whole.filter((operation) =>
    /Id"?:/.test(JSON.stringify([exampleOf(operation), requiredQueryOf(operation)])),
  );

  test.each(rows(naming))('%s is refused where a person who is limited to one names another', async (_, operation) => {
    const request = requestOf(operation, fleetOf('other'));
    const headers = { ...request.headers, ...bearer(LIMITED_TOKEN).headers };
    const { status, text } = await ask(operation, fleetOf('other'), { ...request, headers });
    expect([403, 404]).toContain(status);
    expect(text).not.toContain(fleetOf('other').mark);
  });

  test.each(rows(whole.filter(({ method }) => method === 'GET')))(
    '%s shows a person who is limited to one hauler nothing of another, by no filter',
    async (_, operation) => {
      const names = parametersOf(operation, 'query');
      const { query } = requestOf(operation, fleetOf('own'));
      const { headers } = bearer(LIMITED_TOKEN);
      const paged = names.includes('pageSize') ? { ...query, pageSize: 100 } : query;
      const { status, text } = await ask(operation, fleetOf('own'), { query: paged, headers });
      expect(status).toBe(200);
      expectNothingOf(fleetOf('other'), text);
      const foreign = { haulerId: fleetOf('other').haulerId, connectionId: fleetOf('other').connections.vision };
      const filters = Object.entries(foreign).filter(([name]) => names.includes(name));
      const answers = await Promise.all(
        filters.map(([name, value]) => ask(operation, fleetOf('own'), { query: { ...query, [name]: value }, headers })),
      );
      expect(answers.filter((answer) => ![403, 404].includes(answer.status))).toEqual([]);
    },
  );

  test.each([
    ['GET /scale-platform/v1/sites', { haulerId: 'haulerId' }, 404],
    ['GET /video-platform/v1/videos', { customerId: 'customerId' }, 404],
    ['GET /video-platform/v1/videos/continuous', { customerId: 'customerId' }, 404],
  ] as const)('%s of what is outside the limit of the key is 404 (decisions 1, 17)', async (title, names, expected) => {
    const operation = OPERATIONS.find((each) => each.title === title)!;
    const query = Object.fromEntries(Object.keys(names).map((name) => [name, valuesOf(fleetOf('other'))[name] ?? '']));
    const { status } = await ask(operation, fleetOf('own'), { query: { ...requiredQueryOf(operation), ...query } });
    expect(status).toBe(expected);
  });
});

function expectNothingOf({ mark, ids, ownIds, connections, haulerId }: Fleet, text: string): void {
  const secrets = [mark, haulerId, ...Object.values(connections), ...Object.values(ids), ...Object.values(ownIds)];
  expect(secrets.filter((each) => text.includes(each))).toEqual([]);
}

describe('the id in a path', () => {
  test.each(rows(withId))('%s with an unknown id is 404', async (_, operation) => {
    const sent = { ...requestOf(operation, fleetOf('own')), id: UNKNOWN_ID };
    expect(errorOf(await ask(operation, fleetOf('own'), sent))).toEqual([404, 'NOT_FOUND']);
  });

  test.each(rows(withId))('%s with what is no id is 400 with the path id (decision 11)', async (_, operation) => {
    const answer = await ask(operation, fleetOf('own'), { ...requestOf(operation, fleetOf('own')), id: 'no-id' });
    expect(errorOf(answer)).toEqual([400, 'INVALID_PAYLOAD']);
    expect(violationsOf(answer)).toEqual(['id']);
  });

  test.each([
    ['GET /admin/v1/sandbox/{subject}/{subjectId}', { subject: 'trucks' }, 400],
    ['PUT /admin/v1/sandbox/{subject}/{subjectId}/scenarios/{name}', { name: 'no-scenario' }, 404],
    ['PUT /admin/v1/sandbox/{subject}/{subjectId}/scenarios/{name}', { subject: 'trucks' }, 400],
    ['DELETE /admin/v1/sandbox/{subject}/{subjectId}/scenarios/{name}', { name: 'no-scenario' }, 404],
    ['PUT /admin/v1/hosted/haulers/{haulerId}/site-data', { haulerId: 'no-id' }, 400],
    ['PUT /partner/v1/sandbox/scenarios/{name}', { name: 'no-scenario' }, 404],
    ['DELETE /partner/v1/sandbox/scenarios/{name}', { name: 'no-scenario' }, 404],
  ] as const)('%s with %j is %i', async (title, path, expected) => {
    const operation = OPERATIONS.find((each) => each.title === title)!;
    const { status } = await ask(operation, fleetOf('own'), { ...requestOf(operation, fleetOf('own')), path });
    expect(status).toBe(expected);
  });
});

interface Page {
  readonly data: readonly unknown[];
  readonly next?: string | null;
  readonly pagination?: { readonly totalItems: number; readonly totalPages: number; readonly next?: string | null };
}

/** The interfaces have their own envelope; their pages are in the folder vision. */
const paged = OPERATIONS.filter(
  (each) => ['admin', 'partner'].includes(each.document) && parametersOf(each, 'query').includes('pageSize'),
);
const numbered = paged.filter((each) => parametersOf(each, 'query').includes('page'));

/** The lists grow while the service calls partners and while this file calls the service; these begin at the same row. */
const until = new Date().toISOString();
const FIXED: Readonly<Record<string, (fleet: Fleet) => Sent['query']>> = {
  listActions: () => ({ to: fixedAt }),
  listExchanges: () => ({ to: fixedAt }),
  listOwnExchanges: () => ({ to: fixedAt }),
};
let fixedAt = until;
beforeAll(() => {
  fixedAt = new Date().toISOString();
});

describe('the pages of a list', () => {
  beforeAll(() => Promise.all([fleetOf('own').unread, fleetOf('other').unread]));

  test.each(rows(paged))('%s has each row once, by cursors and by pages', async (_, operation) => {
    const fleet = fleetOf('own');
    const query = { ...requestOf(operation, fleet).query, ...FIXED[operation.name]?.(fleet) };
    const hasNumbers = parametersOf(operation, 'query').includes('page');
    const page = async (more: Record<string, string | number>) => {
      const { status, body } = await ask(operation, fleet, { query: { ...query, ...more } });
      expect(status).toBe(200);
      return body as Page;
    };
    const { whole, steps, pages } = await atRest(async () => {
      const whole = await walk((more) => page({ ...more, pageSize: 100 }));
      const pageSize = Math.max(1, Math.ceil(whole.length / 3));
      const steps = await walk((more) => page({ ...more, pageSize }));
      const numbers = hasNumbers ? Array.from({ length: Math.ceil(whole.length / pageSize) }, (__, n) => n + 1) : [];
      const pages = await Promise.all(numbers.map((number) => page({ page: number, pageSize })));
      return { whole, steps, pages, after: await walk((more) => page({ ...more, pageSize: 100 })) };
    });
    expect(whole.length).toBeGreaterThanOrEqual(2);
    expect(new Set(whole.map((row) => JSON.stringify(row))).size).toBe(whole.length);
    expect(steps).toEqual(whole);
    expect(pages.flatMap(({ data }) => data.map(withoutClock))).toEqual(hasNumbers ? whole : []);
    expect(pages.map(({ pagination }) => [pagination?.totalItems, pagination?.totalPages])).toEqual(
      pages.map(() => [whole.length, pages.length]),
    );
  });

  test.each(rows(numbered))(
    '%s refuses page 0 and pageSize 0 and 101, and ends with an empty list (decision 43)',
    async (_, operation) => {
      const { query } = requestOf(operation, fleetOf('own'));
      const asked = (more: Record<string, string | number>) =>
        ask(operation, fleetOf('own'), { query: { ...query, ...more } });
      const refused = await Promise.all(
        [{ page: 0 }, { pageSize: 0 }, { pageSize: 101 }, { page: 'x' }].map((each) =>
          asked(Object.fromEntries(Object.entries(each))),
        ),
      );
      expect(refused.map((answer) => [errorOf(answer)[0], violationsOf(answer)])).toEqual([
        [400, ['page']],
        [400, ['pageSize']],
        [400, ['pageSize']],
        [400, ['page']],
      ]);
      const past = await Promise.all(
        ['1001', '1000000001', '9'.repeat(100)].map((page) => asked({ page, pageSize: 10 })),
      );
      expect(past.map(({ status, body }) => [status, (body as Page).data])).toEqual(past.map(() => [200, []]));
    },
  );

  test.each(rows(paged))('%s refuses a cursor that the service has not made, in every form', async (_, operation) => {
    const fleet = fleetOf('own');
    const { query } = requestOf(operation, fleet);
    const forms = Object.keys(operation.responses['200']?.content ?? {});
    const cursors = ['no-cursor', ...FORGED_PARTS.map((parts) => forgedCursor(operation, query, parts))];
    for (const cursor of cursors) {
      const sent = forms.map((form) =>
        ask(operation, fleet, { query: { ...query, cursor }, headers: { Accept: form } }),
      );
      const answers = await Promise.all(sent);
      expect(answers.map((answer) => [errorOf(answer)[0], violationsOf(answer)])).toEqual(
        forms.map(() => [400, ['cursor']]),
      );
    }
  });
});

/** What a sort key cannot have, and what it could. */
const FORGED_PARTS = [['x'], [1, 'x'], [1, 'x', 'x'], [-1], [1, UNKNOWN_ID]];

/** A cursor with a digest that anybody can compute. */
function forgedCursor({ path }: Operation, query: Sent['query'], parts: readonly unknown[]): string {
  const filters = Object.entries(query ?? {}).sort();
  const scope = [path.split('/').at(-1), filters];
  const digest = createHash('sha256')
    .update(JSON.stringify([scope, parts]))
    .digest('base64url');
  return Buffer.from(JSON.stringify([digest.slice(0, 16), ...parts])).toString('base64url');
}

/** What of a row goes on: a tree of a run counts back from the call, days end with it, and partners are called meanwhile. */
const withoutClock = (row: unknown): unknown => {
  const going = {
    ticketsFrom: undefined,
    days: undefined,
    health: undefined,
    nextRunAt: undefined,
    lastError: undefined,
  };
  return { ...(row as object), ...going };
};

/** Readings of a list that stood still between the first and the last: cameras that are polled change places. */
async function atRest<T extends { whole: unknown; after: unknown }>(read: () => Promise<T>): Promise<T> {
  const readings = await read();
  return isDeepStrictEqual(readings.whole, readings.after) ? readings : atRest(read);
}

/** All rows of a list, page by page. */
async function walk(page: (more: Record<string, string>) => Promise<Page>): Promise<unknown[]> {
  const all: unknown[] = [];
  let next: string | null | undefined;
  do {
    const answer = await page(next == null ? {} : { cursor: next });
    all.push(...answer.data.map(withoutClock));
    next = answer.next ?? answer.pagination?.next;
  } while (next != null);
  return all;
}

describe('a list as CSV', () => {
  const tables = OPERATIONS.filter((each) => columnsOf(each) !== undefined);

  test.each(rows(tables))('%s has the columns that its document names, and a row at least', async (_, operation) => {
    const { query } = requestOf(operation, fleetOf('own'));
    const accept = { Accept: 'text/csv; charset=utf-8; header=present' };
    const { status, headers, text } = await ask(operation, fleetOf('own'), { query, headers: accept });
    expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8; header=present']);
    expect(headers.get('content-disposition')).toMatch(/^attachment; filename="[\w-]+-\d{4}-\d\d-\d\d\.csv"$/);
    const [head, ...body]: string[][] = parse(text, { bom: true });
    expect(head).toEqual(columnsOf(operation));
    expect(body.length).toBeGreaterThan(0);
  });

  test.each(rows(tables))('%s has the fields of its rows as JSON, and no other', (_, operation) => {
    const fields = columnsOf(operation)?.map((name) => name.split('.')[0]);
    expect(new Set(fields)).toEqual(new Set(rowFieldsOf(operation)));
  });

  test.each(rows(OPERATIONS.filter(({ name }) => name === 'listOwnRecordings')))(
    '%s does not show a partner which holds keep its recordings, and neither does its document',
    async (_, operation) => {
      const answers = await Promise.all(
        ['text/csv', 'application/json'].map((Accept) => ask(operation, fleetOf('own'), { headers: { Accept } })),
      );
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      const texts = [...answers.map(({ text }) => text), JSON.stringify(operation)];
      expect(texts.map((text) => /hold/i.test(text))).toEqual([false, false, false]);
    },
  );

  test.each(rows(tables))('%s has nothing of another hauler', async (_, operation) => {
    const query = { ...requestOf(operation, fleetOf('own')).query, ...FIXED[operation.name]?.(fleetOf('own')) };
    const limited = operation.document === 'admin' ? bearer(LIMITED_TOKEN).headers : {};
    const { status, text } = await ask(operation, fleetOf('own'), {
      query,
      headers: { ...limited, Accept: 'text/csv' },
    });
    expect(status).toBe(200);
    expectNothingOf(fleetOf('other'), text);
  });
});

/** Calls that change something run after the lists were read, and those that remove something at last. */
describe('every operation', () => {
  const LATE = ['syncConnection'];
  const order = ({ method, name }: Operation): number => {
    if (method === 'DELETE') return name === 'revokeApiKey' ? 4 : 3;
    return method === 'GET' ? 0 : LATE.includes(name) ? 2 : 1;
  };
  const all = OPERATIONS.filter(({ name }) => !(name in NO_SUCCESS)).toSorted((a, b) => order(a) - order(b));

  test.each(rows(OPERATIONS.filter(({ name }) => name in NO_SUCCESS)))(
    '%s refuses what it cannot do now',
    async (_, operation) => {
      const { status } = await ask(operation, fleetOf('own'), requestOf(operation, fleetOf('own')));
      expect([400, 404, 409]).toContain(status);
    },
  );

  test.each(rows(all))('%s accepts the request of its document', async (_, operation) => {
    const fleet = fleetOf(['rejectSyncRun', 'deleteConnection'].includes(operation.name) ? 'other' : 'own');
    const { status, text } = await ask(operation, fleet, requestOf(operation, fleet));
    expect([status, status < 300 ? '' : text]).toEqual([expect.any(Number), '']);
    expect(operation.responses[status]).toBeDefined();
  });

  test.each(rows(OPERATIONS))('%s has answered as its document says, so far', (title) => {
    expect([...(faults.get(title) ?? ['no answer'])]).toEqual([]);
  });

  test('and each has succeeded once, but for the explicit list', () => {
    const missing = OPERATIONS.filter(({ name }) => !successes.has(name)).map(({ name }) => name);
    expect(missing.toSorted()).toEqual(Object.keys(NO_SUCCESS).toSorted());
  });
});
