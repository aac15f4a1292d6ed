import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { ConnectionCheck } from '../../../src/contracts/admin/connection-check.dto.js';
import type { Connection } from '../../../src/contracts/admin/connection.dto.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { answerOf, commandsBeside, runCommand } from '../../support/command-line.js';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import * as partnerDoes from '../../support/scripted-partner.js';
import { type ScriptedPartner, type ScriptedReply, startScriptedPartner } from '../../support/scripted-partner.js';

const SITES = 'GET /scale-platform/v1/sites';
const VIDEOS = 'GET /video-platform/v1/videos';
const CONTINUOUS = 'GET /video-platform/v1/videos/continuous';
const KEY = 'partner-key-5f0c1f2e7a3b';
/** Yesterday, on a full second. */
const NOW = Math.floor(Date.now() / 1000 - 86_400) * 1000;
const SITE = { id: '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10', name: 'Onion Creek' };
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
let endCommands: () => void;
let haulerId: string;
beforeAll(async () => {
  service = await startTestApp({ env: { OUTBOUND_ALLOW_PRIVATE: true } });
  endCommands = commandsBeside(service);
  partner = await startScriptedPartner();
  haulerId = (await service.admin<{ id: string }>('POST', '/haulers', { name: 'Green Valley' })).body.id;
});
beforeEach(() => partner.on('GET /files/v1', partnerDoes.raw(sampleVideo())));
afterEach(() => partner.reset());
afterAll(async () => {
  endCommands();
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

const onlyWith =
  (name: string, reply: ScriptedReply, other: ScriptedReply): ScriptedReply =>
  (response, request) =>
    (request.query.has(name) ? reply : other)(response, request);

/** Knows the operation, and no hauler or customer. */
const knowsNobody = (name: string): ScriptedReply =>
  onlyWith(name, partnerDoes.refuses(404, 'NOT_FOUND'), partnerDoes.refuses(400, 'INVALID_PAYLOAD'));

const continuous: ScriptedReply = (response, request) =>
  request.query.has('truckId')
    ? recordings()(response, request)
    : partnerDoes.refuses(400, 'INVALID_PAYLOAD')(response, request);

type Case = [string, ScriptedReply, readonly [boolean, boolean, boolean | null], string];

const sites = (data: unknown, success: unknown = true) => partnerDoes.json({ success, data });
const refusal = (code: string) => partnerDoes.json({ success: false, error: { code, message: 'sorry' } });
const SITE_CASES: Case[] = [
  ['has no data of the hauler', knowsNobody('haulerId'), empty, 'no data of this hauler'],
  ['lacks the operation', partnerDoes.refuses(404, 'NOT_FOUND'), breaks, 'SITE-060 (getSites): the status is 404'],
  ['compresses', partnerDoes.gzipped(JSON.stringify({ success: true, data: {} })), empty, '0 sites'],
  ['has an object in place of a list', sites({ sites: {} }), breaks, 'data.sites must be an array'],
  ['sends success: false', sites({}, false), breaks, 'success must be true'],
  [
    'sends an error with status 200',
    refusal('INTERNAL_ERROR'),
    breaks,
    'status 200, and it says INTERNAL_ERROR: sorry',
  ],
  ['refuses our key with status 200', refusal('UNAUTHORIZED'), shut, 'status 200, and it says UNAUTHORIZED: sorry'],
  ['answers 404 with a page', partnerDoes.html(404), breaks, 'HTML page'],
  ['answers 404 with the body of a gateway', partnerDoes.json({ message: 'no route' }, { status: 404 }), breaks, '404'],
  ['answers 404 with another code', partnerDoes.refuses(404, 'GONE'), breaks, 'error.code NOT_FOUND'],
  ['answers with JSON of another kind', partnerDoes.json({ status: 'ok' }), breaks, 'success is required'],
  ['echoes our key', sites({ sites: [{ ...SITE, id: KEY }] }), breaks, 'data.sites[0].id'],
  ['redirects', partnerDoes.redirects('https://www.example.com'), breaks, 'redirect'],
  ['wants fewer calls', partnerDoes.refuses(429, 'X', 'slow', { 'Retry-After': '9' }), breaks, 'fewer calls'],
];

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const raw = (body: string) => partnerDoes.raw(body, { headers: { 'Content-Type': 'application/json' } });
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
  ['lists them as items', videos({ items: [VIDEO], pagination: PAGE }), works, 'data.items'],
  [
    'has no pagination',
    videos({ videos: [] }),
    empty,
    'no pagination; continuous recordings will be read until a page is empty',
  ],
  [
    'leaves the duration out',
    videos({ videos: [{ ...VIDEO, durationSeconds: undefined }], pagination: PAGE }),
    empty,
    'lists videos',
  ],
  ['does not know the customer', knowsNobody('customerId'), empty, 'no data of this hauler or customer'],
  ['lacks the operation', partnerDoes.refuses(404, 'NOT_FOUND'), breaks, 'VISION-060 (listVideos): the status is 404'],
  ['has a bad element', videos({ videos: [{ ...VIDEO, endTime: 'noon' }] }), breaks, 'data.videos[0].endTime'],
  [
    'sends an error with status 200',
    refusal('INTERNAL_ERROR'),
    breaks,
    'status 200, and it says INTERNAL_ERROR: sorry',
  ],
  ['refuses our key with status 200', refusal('UNAUTHORIZED'), shut, 'status 200, and it says UNAUTHORIZED: sorry'],
  ['has no list', videos({}), breaks, 'data.videos must be an array'],
  ['answers with JSON of another kind', partnerDoes.json({ status: 'ok' }), breaks, 'success must be true'],
  ['leaves success out', partnerDoes.json({ data: { videos: [] } }), breaks, 'success must be true'],
  ['answers with null', partnerDoes.json(null), breaks, 'success must be true'],
  [
    'nests an element 100,000 levels deep',
    raw(`{"success":true,"data":{"videos":["\\n",${nested(100_000)}]}}`),
    breaks,
    'data.videos[1] must be an object',
  ],
  [
    'nests its response 400,000 levels deep',
    raw(`{"success":true,"x":"\\\\","data":${nested(400_000)}}`),
    breaks,
    'data.videos must be an array',
  ],
  ['does not accept our key', partnerDoes.refuses(401, 'UNAUTHORIZED'), shut, 'does not accept our API key'],
];

const verdict = ({ reachable, authorized, conforms }: ConnectionCheck) => [reachable, authorized, conforms];

describe('POST /admin/v1/connections/{id}/check', () => {
  test.each(SITE_CASES)('of a site partner that %s is reported', async (_, reply, expected, finding) => {
    partner.on(SITES, reply);
    const found = await check(await connect('site'));
    expect(verdict(found)).toEqual(expected);
    expect(found.findings.join('\n')).toContain(finding);
    expect(partner.asked[0]?.query.get('haulerId')).toBe(haulerId);
    expect(partner.asked[0]?.headers['api-key']).toBe(KEY);
  });

  test.each(VIDEO_CASES)('of a Vision partner that %s is reported', async (_, reply, expected, finding) => {
    partner.on(VIDEOS, reply);
    partner.on(CONTINUOUS, continuous);
    const found = await check(await connect('vision'));
    expect(verdict(found)).toEqual(expected);
    expect(found.findings.join('\n')).toContain(finding);
    expect(partner.asked[0]?.query.get('customerId')).toBe('g v');
  });

  test.each([
    ['lists a truck', { videos: [VIDEO], pagination: PAGE }, 'VISION-101'],
    ['lists no truck', { videos: [] }, 'VISION-192'],
  ])(
    'of a Vision partner that %s, and answers the other operations with 404, fails the rule',
    async (_, data, rule) => {
      partner.on(VIDEOS, videos(data));
      const { conforms, rules, findings } = await check(await connect('vision'));
      expect(conforms).toBe(false);
      expect(rules.find(({ id }) => id === rule)).toMatchObject({ operation: 'listContinuous', outcome: 'failed' });
      expect(rules.find(({ id }) => id === 'VISION-201')).toMatchObject({
        operation: 'requestVideo',
        outcome: 'not-proven',
      });
      expect(findings.join()).toContain(rule);
      expect(partner.asked.every(({ method }) => method === 'GET')).toBe(true);
    },
  );

  test('of a Vision partner whose answers are pages names each operation', async () => {
    partner.on(VIDEOS, partnerDoes.html());
    partner.on(CONTINUOUS, partnerDoes.html());
    const { authorized, conforms, findings } = await check(await connect('vision'), { truckId: 'T7' });
    expect([authorized, conforms]).toEqual([true, false]);
    expect(findings[0]).toContain('HTML page');
    expect(findings.join()).toContain('VISION-102 (listContinuous): Content-Type is text/html');
  });

  const half = sampleVideo().subarray(0, -100);

  test.each<[string, ScriptedReply, object, string]>([
    ['refuses its links', partnerDoes.raw('<Error/>', { status: 403 }), {}, 'CHECK-LINK'],
    ['wants a key for its links', partnerDoes.refuses(401, 'UNAUTHORIZED'), {}, 'CHECK-LINK'],
    ['lists a link to nowhere', partnerDoes.raw(''), { downloadUrl: 'http://127.0.0.1:1/v' }, 'CHECK-LINK'],
    ['sends half a file', partnerDoes.raw(half), {}, 'CHECK-FILE'],
    ['sends a page in place of a file', partnerDoes.html(), {}, 'CHECK-FILE'],
    ['breaks its files off', partnerDoes.breaks(sampleVideo().toString('latin1'), 9), {}, 'CHECK-FILE'],
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

  test('of a Vision partner that is busy with its file proves nothing about it', async () => {
    partner.on(VIDEOS, videos({ videos: [VIDEO], pagination: PAGE }));
    partner.on(CONTINUOUS, continuous);
    partner.on('GET /files/v1', partnerDoes.raw('', { status: 202 }));
    const { conforms, proven, of, findings } = await check(await connect('vision'));
    expect([conforms, of - proven]).toEqual([null, 2]);
    expect(findings.join()).toContain('CHECK-FILE (download): 127.0.0.1 answered 202');
  });

  test.each<[string, Record<string, ScriptedReply>]>([
    ['list of clips', { [VIDEOS]: partnerDoes.hangs() }],
    ['list of recordings', { [CONTINUOUS]: onlyWith('truckId', partnerDoes.hangs(), continuous) }],
    ['long list of recordings', { [CONTINUOUS]: onlyWith('pageSize', partnerDoes.hangs(), continuous) }],
    ['file', { 'GET /files/v1': partnerDoes.hangs() }],
  ])('of a Vision partner whose %s hangs ends in time, and proves nothing about it', async (_, replies) => {
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const spy = jest.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => timeout(ms < 60_000 ? ms : 1_000));
    try {
      partner.on(VIDEOS, videos({ videos: [VIDEO], pagination: PAGE }));
      partner.on(CONTINUOUS, continuous);
      for (const [call, reply] of Object.entries(replies)) partner.on(call, reply);
      const { conforms, rules } = await check(await connect('vision'), { truckId: 'T7' });
      expect(conforms).toBe(VIDEOS in replies ? false : null);
      expect(rules).not.toContainEqual(expect.objectContaining({ id: 'CHECK-FILE', outcome: 'passed' }));
      expect(rules).not.toContainEqual(expect.objectContaining({ outcome: 'failed' }));
    } finally {
      spy.mockRestore();
    }
  });

  test('of a site partner whose list has several megabytes reads every record', async () => {
    const list = Array.from({ length: 40_000 }, (_, i) => ({
      id: `7b0a3a52-6e0d-4e0e-9d61-${i.toString(16).padStart(12, '0')}`,
      siteId: SITE.id,
      materialType: 'Mixed construction debris',
      measureUnit: 'Ton',
    }));
    const id = await connect('site');
    partner.on(SITES, sites({ sites: [SITE], materials: list }));
    const { conforms, findings, rules } = await check(id);
    expect([conforms, findings]).toEqual([
      true,
      ['The partner has 1 sites, 0 kiosks and 40000 materials of this hauler.'],
    ]);
    const outcomeOf = (rule: string) => rules.find((each) => each.id === rule)?.outcome;
    expect(['SITE-001', 'SITE-006', 'SITE-034', 'SITE-044'].map(outcomeOf)).toEqual(Array(4).fill('passed'));
    partner.on(SITES, sites({ sites: [SITE], materials: [...list, { ...list[0], measureUnit: 'Bushel' }, 7] }));
    const second = await check(id);
    const faulty = second.rules.filter(({ outcome }) => outcome === 'failed');
    expect(faulty.map((rule) => rule.id)).toEqual(['SITE-008']);
    expect(second.proven).toBe(second.rules.filter(({ outcome }) => /^(passed|warning)$/.test(outcome)).length);
  });

  test('of a partner that breaks off its second response proves nothing and fails no rule', async () => {
    const id = await connect('site');
    partner.on(SITES, sites({ sites: [SITE] }), partnerDoes.breaks('{"success":true}', 4));
    const { conforms, findings, rules } = await check(id);
    expect(conforms).toBeNull();
    expect(findings[1]).toContain('getSites is not proven: ');
    expect(rules[0]).toMatchObject({ id: 'SITE-001', outcome: 'not-proven' });
    expect(rules.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
  });

  test('of an address without a server reports that it refuses connections', async () => {
    const found = await check(await connect('site', 'http://127.0.0.1:1'));
    expect(found).toEqual({
      reachable: false,
      authorized: false,
      conforms: false,
      proven: 0,
      of: 0,
      findings: ['127.0.0.1:1 could not be reached: it refuses connections.'],
      rules: [],
    });
  });

  test('promotes a next key that works', async () => {
    const id = await connect('site');
    await service.admin('PATCH', `/connections/${id}`, { nextApiKey: `${KEY}-next` });
    partner.on(SITES, partnerDoes.refuses(401, 'UNAUTHORIZED'), sites({}));
    expect(verdict(await check(id))).toEqual(empty);
    expect((await service.admin<Connection>('GET', `/connections/${id}`)).body.hasNextApiKey).toBe(false);
    await check(id);
    expect(partner.asked[0]?.headers['api-key']).toBe(KEY);
    expect(partner.asked.slice(1).every(({ headers }) => headers['api-key'] === `${KEY}-next`)).toBe(true);
  });

  test('shows no key that the partner echoes in its Content-Type, in plain or encoded', async () => {
    for (const echo of [KEY, encodeURIComponent(KEY), Buffer.from(KEY).toString('base64')]) {
      partner.on(SITES, partnerDoes.json({ success: true, data: {} }, { headers: { 'Content-Type': `text/${echo}` } }));
      const { rules } = await check(await connect('site'));
      const found = rules.find(({ message }) => message.startsWith('Content-Type is '))?.message;
      expect(found).toContain('[redacted], expected application/json');
      expect(found).not.toContain(echo);
    }
  });

  test('reports at most twenty findings of a partner that does everything wrong', async () => {
    partner.on(SITES, sites({ materials: Array.from({ length: 5_000 }, () => ({})) }));
    const found = await check(await connect('site'));
    expect(found.findings).toHaveLength(21);
    expect(found.findings.at(-1)).toContain('or more');
  });
});

describe('npm run cli -- connection', () => {
  const add = ['--base-url', 'https://partner.example.com/', '--api-key', KEY, '--enabled', 'false'];

  test('sync runs a synchronisation, also of a paused connection', async () => {
    partner.on(SITES, sites({ sites: [SITE] }));
    const id = await connect('site');
    const { runId } = await answerOf<{ runId: string }>('connection', 'sync', id);
    await eventually(async () => {
      const { body } = await service.admin<{ status: string }>('GET', `/sync-runs/${runId}`);
      expect(body.status).toBe('succeeded');
    });
    expect(await runCommand('connection', 'sync', await connect('vision'))).toMatchObject({ code: 2 });
  });

  test('wrong usage names the field and never the key', async () => {
    const run = await runCommand('connection', 'add', '--hauler-id', haulerId, '--interface', 'scale', ...add);
    expect(run).toMatchObject({ code: 2, out: '' });
    expect(run.err).toContain('--interface must be one of site, vision');
    expect(run.err).not.toContain(KEY);
  });
});
