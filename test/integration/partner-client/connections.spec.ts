import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Connection, ConnectionCheck } from '../../../src/contracts/admin/connections.routes.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { sampleVideo } from '../../support/sample-video.js';
import { type ScriptedPartner, type ScriptedReply, startScriptedPartner } from '../../support/scripted-partner.js';
import { connectionRow, setConnectionRow } from '../../support/rows.js';
import { makeConnectionDue } from '../../support/time.js';
import * as partnerDoes from '../../support/scripted-partner.js';

/** Checks of a Site connection are in `acceptance/site/connection-check.spec.ts`, the rules of the kit in `nightly/conformance`. */
const VIDEOS = 'GET /video-platform/v1/videos';
const CONTINUOUS = 'GET /video-platform/v1/videos/continuous';
const KEY = 'partner-key-5f0c1f2e7a3b';
/** Yesterday, on a full second. */
const NOW = Math.floor(Date.now() / 1000 - 86_400) * 1000;
const ago = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();
const VIDEO = {
  id: 'v1',
  customerId: 'g v',
  truckId: 'T7',
  cameraId: 'front',
  startTime: ago(60),
  endTime: ago(55),
  durationSeconds: 300,
  expiresAt: '2099-01-31T08:35:00Z',
};
const FILE = '/files/v1?sig=1';
const PAGE = { page: 1, pageSize: 20, totalItems: 1, totalPages: 1 };

let service: TestApp;
let partner: ScriptedPartner;
let haulerId: string;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  partner = await startScriptedPartner();
  haulerId = (await service.admin<{ id: string }>('POST', '/haulers', { name: 'Green Valley' })).body.id;
});
beforeEach(() => partner.on('GET /files/v1', partnerDoes.raw(sampleVideo())));
afterEach(() => partner.reset());
afterAll(async () => {
  await service.close();
  await partner.stop();
});

async function connect(name: 'site' | 'vision', baseUrl = partner.url): Promise<string> {
  const body = { haulerId, interface: name, baseUrl, apiKey: KEY, enabled: false };
  const reply = await service.admin<Connection>('POST', '/connections', {
    ...body,
    ...(name === 'vision' ? { customerId: 'g v' } : {}),
  });
  return reply.body.id;
}

const check = async (id: string, body?: object): Promise<ConnectionCheck> => {
  const reply = await service.admin<ConnectionCheck>('POST', `/connections/${id}/check`, body);
  expect(reply.status).toBe(200);
  expect(reply.text).not.toContain(KEY);
  return reply.body;
};

const works = [true, true, true] as const;
/** Nothing failed, and there was nothing to check. */
const empty = [true, true, null] as const;
const breaks = [true, true, false] as const;
const shut = [true, false, false] as const;

/** Two recordings of the truck, and what a case changes of the last one. */
const recordings =
  (fields: object = {}): ScriptedReply =>
  (response, request) => {
    const [from, to] = ['startTime', 'endTime'].map((name) => Date.parse(request.query.get(name) ?? ''));
    const all = [
      { ...VIDEO, id: 'c1' },
      { ...VIDEO, id: 'c2', startTime: ago(55), endTime: ago(50), ...fields },
    ].filter(
      ({ startTime, endTime }) => !(Date.parse(endTime) <= (from ?? 0)) && !(Date.parse(startTime) >= (to ?? 0)),
    );
    const pageSize = Number(request.query.get('pageSize') ?? 20);
    const pagination = { page: 1, pageSize, totalItems: all.length, totalPages: Math.min(all.length, 1) };
    videos({ recordings: all, pagination })(response, request);
  };

const continuous: ScriptedReply = (response, request) =>
  request.query.has('truckId')
    ? recordings()(response, request)
    : partnerDoes.refuses(400, 'INVALID_PAYLOAD')(response, request);

type Case = [string, ScriptedReply, readonly [boolean, boolean, boolean | null], string];
/** Lists with the link of a whole file. */
const videos =
  (data: Readonly<Record<string, unknown>>): ScriptedReply =>
  (response, request) => {
    const linked = (each: unknown) => (isVideo(each) ? { downloadUrl: partner.url + FILE, ...each } : each);
    const lists = Object.entries(data).map(([name, list]): [string, unknown] => [
      name,
      Array.isArray(list) ? (list as readonly unknown[]).map(linked) : list,
    ]);
    partnerDoes.json({ success: true, data: Object.fromEntries(lists) })(response, request);
  };
const isVideo = (each: unknown): each is object => typeof each === 'object' && each !== null && 'truckId' in each;
const VIDEO_CASES: Case[] = [
  ['has videos', videos({ videos: [VIDEO], pagination: PAGE }), works, 'lists videos'],
  ['has no videos', videos({ videos: [] }), empty, 'rules are not proven, the first of them: VISION-011'],
  ['lacks the operation', partnerDoes.refuses(404, 'NOT_FOUND'), breaks, 'VISION-060 (listVideos): the status is 404'],
  ['has a bad element', videos({ videos: [{ ...VIDEO, endTime: 'noon' }] }), breaks, 'VISION-016'],
  ['does not accept our key', partnerDoes.refuses(401, 'UNAUTHORIZED'), shut, 'does not accept our API key'],
];

const verdict = ({ reachable, authorized, conforms }: ConnectionCheck) => [reachable, authorized, conforms];

describe('POST /admin/v1/connections/{id}/check', () => {
  test.each(VIDEO_CASES)('of a Vision partner that %s is reported', async (_, reply, expected, finding) => {
    partner.on(VIDEOS, reply);
    partner.on(CONTINUOUS, continuous);
    const found = await check(await connect('vision'));
    expect(verdict(found)).toEqual(expected);
    expect(found.findings.join('\n')).toContain(finding);
    expect(partner.asked[0]?.query.get('customerId')).toBe('g v');
  });

  const half = sampleVideo().subarray(0, -100);

  test.each<[string, ScriptedReply, object, string]>([
    ['refuses its links', partnerDoes.raw('<Error/>', { status: 403 }), {}, 'CHECK-LINK'],
    ['sends half a file', partnerDoes.raw(half), {}, 'CHECK-FILE'],
    ['sends a page in place of a file', partnerDoes.html(), {}, 'CHECK-FILE'],
    ['lists times without an offset', partnerDoes.raw(sampleVideo()), { startTime: ago(55).slice(0, 19) }, 'VISION-1'],
  ])('of a Vision partner that %s fails', async (_, file, fields, rule) => {
    partner.on(VIDEOS, videos({ videos: [VIDEO], pagination: PAGE }));
    partner.on(CONTINUOUS, recordings(fields));
    partner.on('GET /files/v1', file);
    const { authorized, conforms, rules, findings } = await check(await connect('vision'), { truckId: 'T7' });
    expect([authorized, conforms]).toEqual([true, false]);
    const broken = rules.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
    expect(broken.join()).toContain(rule);
    expect(findings.join('\n')).toContain(broken[0]);
  });

  test('of a Vision partner takes the truck of the newest subscription', async () => {
    partner.on(VIDEOS, videos({ videos: [] }));
    partner.on(CONTINUOUS, continuous);
    const id = await connect('vision');
    expect(await check(id)).toMatchObject({
      conforms: null,
      rules: expect.not.arrayContaining([{ id: 'CHECK-FILE', outcome: 'passed' }]),
    });
    await service.admin('POST', '/video-subscriptions', { connectionId: id, truckId: 'T7', startTime: ago(60) });
    const found = await check(id);
    expect(found.rules).toContainEqual({ id: 'CHECK-FILE', operation: 'download', outcome: 'passed', message: '' });
    expect(found.proven).toBeGreaterThan(30);
    expect(partner.asked.some(({ path }) => path === '/files/v1')).toBe(true);
  });

  test('of a Vision partner whose list of clips hangs ends in time, and fails no rule', async () => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const spy = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms < 60_000 ? ms : 1_000));
    try {
      partner.on(VIDEOS, partnerDoes.hangs());
      partner.on(CONTINUOUS, continuous);
      const { conforms, rules } = await check(await connect('vision'), { truckId: 'T7' });
      expect([conforms, rules.filter(({ outcome }) => outcome === 'failed')]).toEqual([false, []]);
      expect(rules).not.toContainEqual(expect.objectContaining({ id: 'CHECK-FILE', outcome: 'passed' }));
    } finally {
      spy.mockRestore();
    }
  });
});

const site = (more: object = {}) => ({
  haulerId,
  interface: 'site',
  baseUrl: 'https://partner.example.com',
  apiKey: KEY,
  // No partner answers in these tests, so the connection is not enabled.
  enabled: false,
  ...more,
});
const vision = (more: object = {}) => site({ interface: 'vision', ...more });
const create = async (body: object = site()): Promise<Connection> => {
  const reply = await service.admin<Connection>('POST', '/connections', body);
  expect(reply.status).toBe(201);
  return reply.body;
};

const stored = (id: string) => connectionRow(service, id);

describe('PATCH /admin/v1/connections/{id}', () => {
  test('does not move the next run for an unchanged field or an interval, but for a new key, which resets the attempts', async () => {
    const { id } = await create(site({ enabled: true, baseUrl: 'http://127.0.0.1:1' }));
    // Its first run, which may be in progress, loses its row.
    await setConnectionRow(service, id, { attempts: 2, isRunning: false });
    await makeConnectionDue(service, id, 3_600);
    const dueInMs = async (body: object) =>
      Date.parse((await service.admin<Connection>('PATCH', `/connections/${id}`, body)).body.nextRunAt ?? '') -
      Date.now();
    expect(await dueInMs({ enabled: true })).toBeGreaterThan(1_800_000);
    expect(await dueInMs({ intervalSeconds: 60 })).toBeGreaterThan(1_800_000);
    expect(await dueInMs({ nextApiKey: KEY })).toBeLessThan(1_800_000);
    expect((await stored(id)).attempts).toBeLessThan(2);
    await service.admin('DELETE', `/connections/${id}`);
  });

  test('never makes a Vision connection due', async () => {
    const { id } = await create(vision());
    for (const body of [{ enabled: true }, { apiKey: `${KEY}-other` }, { intervalSeconds: 60 }]) {
      expect((await service.admin<Connection>('PATCH', `/connections/${id}`, body)).body.nextRunAt).toBeNull();
    }
    expect((await stored(id)).dueAt).toBeNull();
  });
});

describe('DELETE /admin/v1/connections/{id}', () => {
  test('deletes the keys and hides the connection; the row stays for the data that came through it', async () => {
    const { id } = await create();
    await service.admin('PATCH', `/connections/${id}`, { nextApiKey: KEY });
    // The state during a run that an admin has requested.
    await setConnectionRow(service, id, { isRequested: true, isRunning: true });
    await makeConnectionDue(service, id, 3_600);
    expect(await service.admin('DELETE', `/connections/${id}`)).toMatchObject({ status: 204, text: '' });
    expect(await stored(id)).toMatchObject({
      sealedKey: '',
      sealedNextKey: null,
      dueAt: null,
      isRequested: false,
      isRunning: false,
    });
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/check'],
    ] as const) {
      const reply = await service.admin(method, `/connections/${id}${path}`, method === 'PATCH' ? {} : undefined);
      expect(reply.status).toBe(404);
    }
    const { body } = await service.admin<{ data: Connection[] }>('GET', '/connections?pageSize=100');
    expect(body.data.map((connection) => connection.id)).not.toContain(id);
  });
});

describe("a partner's key and its origin, beyond acceptance/site/keys.spec.ts", () => {
  const OTHER_KEY = 'partner-key-of-the-other-host';
  let first: ScriptedPartner;
  let other: ScriptedPartner;
  beforeAll(async () => {
    [first, other] = [await startScriptedPartner(), await startScriptedPartner()];
  });
  const connect = async () => (await create(site({ baseUrl: first.url }))).id;
  const change = (id: string, body: object) => service.admin<Connection>('PATCH', `/connections/${id}`, body);
  const check = (id: string) => service.admin('POST', `/connections/${id}/check`);
  const keysAt = ({ asked }: ScriptedPartner) => [...new Set(asked.map(({ headers }) => headers['api-key']))];

  test('two concurrent changes do not join the key of one with the address of the other', async () => {
    const changeAtOnce = async () => {
      const id = await connect();
      await Promise.all([
        change(id, { baseUrl: other.url, apiKey: OTHER_KEY }),
        change(id, { baseUrl: `${first.url}/path` }),
      ]);
      await check(id);
    };
    for (let i = 0; i < 5; i++) await Promise.all(Array.from({ length: 4 }, changeAtOnce));
    expect(keysAt(other)).toEqual([OTHER_KEY]);
    expect(keysAt(first)).not.toContain(OTHER_KEY);
  });
});
