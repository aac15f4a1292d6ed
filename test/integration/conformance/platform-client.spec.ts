import 'reflect-metadata';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Call, CallLog } from '../../../src/conformance/client/call.js';
import { checkCalls, isRepeat } from '../../../src/conformance/client/client-rule.js';
import { recordCalls } from '../../../src/conformance/client/listener.js';
import { PLATFORM_CLIENT } from '../../../src/conformance/client/platform-client.js';
import { createHauler } from '../../support/api-keys.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { hurryVideo } from '../../support/time.js';
import {
  added,
  change,
  type ClientMutant,
  isMet,
  type Pick,
  set,
  withBody,
  withHeader,
  without,
  withQuery,
  wronglyFound,
} from './client-mutants.js';

const KEY = 'the-key-of-the-kit';
const FINAL = ['stored', 'failed', 'expired'];
const MINUTE_MS = 60_000;

let service: TestApp;
let haulerId: string;
let log: CallLog;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  haulerId = await createHauler(service);
  const stop = new AbortController();
  let failure: unknown;
  const calls = await recordCalls((url) => PLATFORM_CLIENT.peer({ url, apiKey: KEY }), {
    host: '127.0.0.1',
    port: 0,
    idleMs: 40_000,
    stop: stop.signal,
    onListening: (url) =>
      void rehearse(url)
        .catch((error: unknown) => (failure = error))
        .finally(() => stop.abort()),
  });
  if (failure !== undefined) throw new Error('the rehearsal failed', { cause: failure });
  log = { calls, apiKey: KEY, haulerId };
});
afterAll(() => service.close());

async function rehearse(url: string): Promise<void> {
  const connect = async (name: 'site' | 'vision') => {
    const body = {
      haulerId,
      interface: name,
      baseUrl: url,
      apiKey: KEY,
      customerId: 'customer-1',
      enabled: name === 'vision',
    };
    if (name === 'site') Reflect.deleteProperty(body, 'customerId');
    return (await service.admin<{ id: string }>('POST', '/connections', body)).body.id;
  };
  const [site, vision] = await Promise.all([connect('site'), connect('vision')]);
  await Promise.all([synchronise(site), requestClips(vision), follow(vision)]);
}

async function until<T>(read: () => Promise<T>, isDone: (value: T) => boolean, between = () => delay(100)): Promise<T> {
  for (const end = Date.now() + 30_000; ; await between()) {
    const value = await read();
    if (isDone(value)) return value;
    if (Date.now() > end) throw new Error(`not done in time: ${JSON.stringify(value)}`);
  }
}

/** Each run gets the next answer of the kit; a run that failed is followed by another. */
async function synchronise(connection: string): Promise<void> {
  for (let i = 0; i < 6; i++) {
    const { body } = await service.admin<{ runId: string }>('POST', `/connections/${connection}/sync`);
    const read = async () => (await service.admin<{ status: string }>('GET', `/sync-runs/${body.runId}`)).body;
    await until(read, ({ status }) => status !== 'queued' && status !== 'running');
    await delay(600);
  }
}

/** One request after the other: each meets the next fault of the kit. */
async function requestClips(connectionId: string): Promise<void> {
  for (let i = 0; i < 6; i++) {
    const [startTime, endTime] = [i, i + 1].map((n) =>
      new Date(Date.parse('2026-01-31T08:30:00Z') + n * MINUTE_MS).toISOString(),
    );
    const clip = { connectionId, truckId: 'TRUCK-7', cameraId: 'front', startTime, endTime };
    const { body } = await service.admin<{ id: string }>('POST', '/video-requests', clip);
    const read = async () => (await service.admin<{ status: string }>('GET', `/video-requests/${body.id}`)).body;
    // A submission waits for its own time: Retry-After counts.
    let status = 'submitting';
    await until(
      async () => ({ status } = await read()),
      ({ status }) => FINAL.includes(status),
      async () => {
        if (status !== 'submitting') await hurryVideo(service);
        await delay(150);
      },
    );
  }
}

async function follow(connectionId: string): Promise<void> {
  const startTime = new Date(Date.now() - 25 * 60 * MINUTE_MS).toISOString();
  await service.admin('POST', '/video-subscriptions', { connectionId, truckId: 'TRUCK-7', startTime });
  const count = async (status: string) =>
    (
      await service.admin<{ pagination: { totalItems: number } }>(
        'GET',
        `/recordings?connectionId=${connectionId}&source=continuous&status=${status}`,
      )
    ).body.pagination.totalItems;
  await until(
    async () => [await count('stored'), (await count('available')) + (await count('downloading'))],
    ([stored = 0, open = 0]) => stored >= 104 && open === 0,
    () => delay(300),
  );
}

test('our own platform passes every rule of platform-client', () => {
  const results = checkCalls(PLATFORM_CLIENT, log, 'http://kit');
  const others = results.filter(({ outcome }) => outcome !== 'passed');
  expect(others.map(({ rule, outcome, message }) => `${rule.id} ${outcome}: ${message}`)).toEqual([]);
});

const is =
  (operation: string): Pick =>
  (call) =>
    call.operation === operation;
const [sites, posts, videos, continuous, downloads] = [
  'getSites',
  'requestVideo',
  'listVideos',
  'listContinuous',
  'download',
].map(is) as [Pick, Pick, Pick, Pick, Pick];

const of = (path: string, to: unknown) =>
  change(
    posts,
    withBody((body) => set(body, path.split('.'), to)),
  );
const query = (pick: Pick, name: string, ...values: string[]) => change(pick, withQuery(name, ...values));

/** Leaves out every later call of the operation. */
const alone = (operation: string, scenario: string) =>
  without(
    (call, calls) => call.operation === operation && calls.indexOf(call) > calls.findIndex(isMet(operation, scenario)),
  );

/** The next call of the operation comes at once. */
const tooEarly =
  (operation: string, scenario: string) =>
  (calls: readonly Call[]): Call[] => {
    const first = calls.findIndex(isMet(operation, scenario));
    const next = calls.findIndex((call, i) => i > first && call.operation === operation);
    return calls.map((call, i) => (i === next ? { ...call, at: (calls[first]?.at ?? 0) + 50 } : call));
  };

/** Without the repeat of a POST, and the polls of the request that it made. */
const unrepeated =
  (scenario: string) =>
  (calls: readonly Call[]): Call[] => {
    const first = calls.find(isMet('requestVideo', scenario));
    const repeats = calls.filter((call) => first !== undefined && isRepeat(first, call));
    const ids = repeats.map((call) => requestIdOf(call));
    return calls.filter((call) => !repeats.includes(call) && !ids.includes(call.query.get('requestId') ?? ''));
  };

const requestIdOf = ({ answer }: Call): string =>
  String((JSON.parse(answer.body.toString()) as { requestId?: string }).requestId);

const isFile = (call: Call, text: string) => call.operation === 'download' && call.path.includes(text);
/** The clip of the first request breaks off once. */
const CUT = 'clip-kit-request-1.';
const answeredBefore = (call: Call, calls: readonly Call[]) => calls.find((each) => isFile(each, CUT)) === call;

const MUTANTS: readonly ClientMutant[] = [
  ['PLATFORM-001', added(sites, (call) => ({ ...call, operation: '', path: '/sites' }))],
  ['PLATFORM-002', change(sites, withHeader('API-KEY'))],
  ['PLATFORM-003', change(sites, withHeader('API-KEY', KEY, KEY))],
  ['PLATFORM-004', change(sites, withHeader('API-KEY', `Bearer ${KEY}`))],
  ['PLATFORM-005', change(sites, withHeader('PLATFORM-API-KEY', KEY))],
  ['PLATFORM-006', change(posts, withHeader('Content-Type'))],
  [
    'PLATFORM-007',
    change(isMet('requestVideo', 'slow-clip'), (call) => ({ ...call, body: Buffer.from('{"truckId":') })),
  ],
  ['PLATFORM-008', change(downloads, withHeader('API-KEY', KEY))],
  ['PLATFORM-010', query(sites, 'haulerId', '${h}', '${h}')],
  ['PLATFORM-011', query(sites, 'haulerId', '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10')],
  ['PLATFORM-012', alone('getSites', 'too-many-requests')],
  ['PLATFORM-013', tooEarly('getSites', 'too-many-requests')],
  ['PLATFORM-014', alone('getSites', 'unavailable')],
  ['PLATFORM-015', tooEarly('getSites', 'unavailable')],
  ['PLATFORM-016', alone('getSites', 'server-error')],
  ['PLATFORM-017', alone('getSites', 'cut-answer')],
  ['PLATFORM-018', added(sites, (call) => ({ ...call, operation: 'redirected' }))],
  ['PLATFORM-019', tooEarly('getSites', 'unauthorized')],
  ['PLATFORM-020', of('customerId', undefined)],
  ['PLATFORM-021', of('truckId', 7)],
  ['PLATFORM-022', of('cameraId', 1)],
  ['PLATFORM-023', of('startTime', '08:30')],
  ['PLATFORM-024', of('endTime', '2026-01-31T08:31:00')],
  ['PLATFORM-025', of('endTime', '2026-01-31T08:30:00Z')],
  ['PLATFORM-026', unrepeated('too-many-requests')],
  ['PLATFORM-027', tooEarly('requestVideo', 'too-many-requests')],
  ['PLATFORM-028', unrepeated('server-error')],
  ['PLATFORM-029', added(isMet('requestVideo', 'invalid'))],
  ['PLATFORM-030', added(isMet('requestVideo', 'slow-clip'))],
  ['PLATFORM-031', without((call) => videos(call) || isFile(call, 'clip-'))],
  [
    'PLATFORM-032',
    (calls) => {
      const first = calls.find(videos);
      return calls.filter(
        (call) => call === first || !(call.query.get('requestId') === first?.query.get('requestId') && videos(call)),
      );
    },
  ],
  ['PLATFORM-033', added((call) => call.query.get('requestId') === failedId())],
  ['PLATFORM-040', query(videos, 'customerId')],
  ['PLATFORM-041', query(videos, 'page', '0')],
  ['PLATFORM-042', query(videos, 'pageSize', '101')],
  ['PLATFORM-043', query(videos, 'startTime', 'noon')],
  ['PLATFORM-044', query(videos, 'endTime', 'noon')],
  ['PLATFORM-045', added(videos, withQuery('requestId', 'another'))],
  ['PLATFORM-050', added(continuous, withQuery('customerId'))],
  ['PLATFORM-051', added(continuous, withQuery('page', 'first'))],
  ['PLATFORM-052', added(continuous, withQuery('pageSize', '1000'))],
  ['PLATFORM-053', added(continuous, withQuery('startTime'))],
  ['PLATFORM-054', added(continuous, withQuery('endTime', 'noon'))],
  ['PLATFORM-055', added(continuous, withQuery('truckId', ''))],
  ['PLATFORM-056', added(continuous, withQuery('endTime', '2020-01-31T08:30:00Z'))],
  ['PLATFORM-057', alone('listContinuous', 'server-error')],
  ['PLATFORM-058', without((call) => continuous(call) && call.query.get('page') === '2')],
  ['PLATFORM-060', without((call) => isFile(call, 'clip-kit-request-2.'))],
  [
    'PLATFORM-061',
    change(
      (call) => isFile(call, 'clip-kit-request-2.'),
      (call) => ({ ...call, at: call.at + 7_200_000 }),
    ),
  ],
  ['PLATFORM-062', without((call, calls) => isFile(call, CUT) && !answeredBefore(call, calls))],
  ['PLATFORM-063', (calls) => calls.map((call) => (isFile(call, CUT) ? withHeader('Range')(call) : call))],
  [
    'PLATFORM-064',
    (calls) => {
      const refused = calls.find(isMet('download', 'link-expired'));
      const id = /clip-[^.]*/.exec(refused?.path ?? '')?.[0] ?? '';
      return calls.map((call) => (isFile(call, `${id}.`) ? { ...call, path: refused?.path ?? '' } : call));
    },
  ],
  [
    'PLATFORM-065',
    (calls) => {
      const chunk = calls.find((call) => isFile(call, 'chunk-'));
      return chunk === undefined ? [] : [...calls, { ...chunk }];
    },
  ],
];

const failedId = (): string => {
  const request = log.calls.find(isMet('requestVideo', 'failed-clip'));
  return request === undefined ? '' : requestIdOf(request);
};

describe('each rule of platform-client', () => {
  test('finds a platform that breaks it, and no other rule does', () => {
    const given = MUTANTS.map((mutant): ClientMutant =>
      mutant[0] === 'PLATFORM-010' ? [mutant[0], query(sites, 'haulerId', haulerId, haulerId)] : mutant,
    );
    expect(wronglyFound(PLATFORM_CLIENT, log, given)).toEqual([]);
  });

  test('has a platform that breaks it', () => {
    const broken = new Set(MUTANTS.map(([rule]) => rule));
    expect(PLATFORM_CLIENT.rules.map(({ id }) => id).filter((id) => !broken.has(id))).toEqual([]);
  });
});
