import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { SyncRun } from '../../src/contracts/admin/sync-run.dto.js';
import {
  breaks,
  endless,
  gzipped,
  html,
  json,
  raw,
  redirects,
  refuses,
  type ScriptedReply,
} from '../support/scripted-partner.js';
import { kiosk, site, siteData } from '../support/site-data.js';
import { answer, PARTNER_KEY, SITES_ROUTE, SiteScene } from '../support/site-scene.js';

const LIMIT = 256 * 1024;
const good = { sites: [site('a'), site('b')], kiosks: [kiosk('k', 'a')] };
const body = JSON.stringify({ success: true, data: good });

type Case = readonly [what: string, reply: ScriptedReply, sentence: RegExp];
const CASES: readonly Case[] = [
  ['HTML', html(), /HTML|web page/i],
  ['nothing', raw('', { headers: { 'Content-Type': 'application/json' } }), /empty|nothing/i],
  ['truncated JSON', raw(body.slice(0, -20)), /not valid JSON|is no JSON|not JSON/i],
  ['JSON with something behind it', raw(`${body} {}`), /JSON/],
  ['a record that is no JSON', raw(body.replace('"Site b"', '"Site b')), /JSON/],
  ['bytes that are not UTF-8', raw(Buffer.from(body.replace('Site b', 'Site \u00ff'), 'latin1')), /JSON|UTF-8/],
  ['a number', raw('7'), /must be an object|object/],
  ['an array', raw('[]'), /object/],
  [
    '200 with success: false',
    json({ success: false, error: { code: 'INTERNAL_ERROR', message: `no ${PARTNER_KEY}` } }),
    /success must be true.*it says INTERNAL_ERROR: no \[redacted\]\.$/,
  ],
  ['success: false beside data', json({ success: false, data: good }), /success must be true/],
  ['no success at all', json({ data: good }), /success is required/],
  ['success as text', json({ success: 'true', data: good }), /success must be true or false/],
  ['no data', json({ success: true }), /data is required/],
  ['data as an array', json({ success: true, data: [] }), /data must be an object/],
  ['sites as an object', json({ success: true, data: { sites: {} } }), /data\.sites must be an array/],
  [
    'materials as text',
    json({ success: true, data: { ...good, materials: 'none' } }),
    /data\.materials must be an array/,
  ],
  ['an array twice', raw(body.replace('"kiosks"', '"sites"')), /data\.sites occurs twice/],
  ['more than PARTNER_BODY_LIMIT', answer({ sites: siteData(3000, 0, 0).sites }), /larger than 256 KB/],
  ['a body that never ends', endless(), /larger than 256 KB/],
  ['what unpacks to more than the limit', gzipped(Buffer.alloc(LIMIT * 4, 0x20)), /larger than 256 KB/],
  ['nesting without end', raw(`{"success":true,"data":{"sites":[${'['.repeat(100_000)}`), /nested|JSON/],
  ['a redirect to elsewhere', redirects('https://elsewhere.example/'), /redirect/i],
  ['401 with the only key', refuses(401, 'UNAUTHORIZED', `bad key ${PARTNER_KEY}`), /key/],
  ['400', refuses(400, 'INVALID_PAYLOAD', 'haulerId is wrong'), /400.*haulerId is wrong/],
  ['500', refuses(500, 'INTERNAL_ERROR'), /500/],
  ['204', raw('', { status: 204 }), /204/],
  ['304 although nothing was asked conditionally', raw('', { status: 304 }), /304/],
  ['a stranger for a gzip', raw('not gzip', { headers: { 'Content-Encoding': 'gzip' } }), /JSON/],
];

function expectSentence(error: string | undefined): void {
  expect(error).toMatch(/^[^\s].{15,}[.]$/s);
  expect(error).not.toMatch(/unexpected error|undefined|\[object/);
}

/** Issue 3, "Bad input from a partner": the stored data stays as it was, the run says why, the next one comes by itself. */
describe('bad input from a partner', () => {
  let scene: SiteScene;
  let before: unknown;

  beforeAll(async () => {
    scene = await SiteScene.start({ env: { PARTNER_BODY_LIMIT: LIMIT } });
    await scene.renew();
    before = await begin(scene);
  });
  afterAll(() => scene.stop());

  /** Brings what is good, and gives what is stored of it. */
  async function begin(of: SiteScene): Promise<unknown> {
    expect((await of.sync(good)).status).toBe('succeeded');
    return of.stored();
  }

  const tried = new Map<Case, Promise<SyncRun>>();
  /** Once, whoever asks first. */
  function tryOut(each: Case): Promise<SyncRun> {
    const [, reply, sentence] = each;
    const run = tried.get(each) ?? failsIn(scene, before, reply, sentence);
    tried.set(each, run);
    return run;
  }

  async function failsIn(scene: SiteScene, before: unknown, reply: ScriptedReply, sentence: RegExp): Promise<SyncRun> {
    scene.partner.on(SITES_ROUTE, reply);
    const run = await scene.sync();
    expect([run.status, run.error]).toEqual(['failed', expect.stringMatching(sentence)]);
    expect(run.error).not.toContain(PARTNER_KEY);
    expectSentence(run.error);
    expect(await scene.stored()).toEqual(before);
    const [row] = await scene.service.dataSource.query<[{ attempts: number; last_error: string; inMinutes: number }]>(
      `SELECT attempts, last_error, extract(epoch FROM due_at - now())::float8 / 60 AS "inMinutes" FROM connections WHERE id = $1`,
      [scene.connectionId],
    );
    expect(row?.last_error).toBe(run.error);
    expect(row?.inMinutes).toBeGreaterThan(1);
    // As if the failures before this one had not been: each case stands for itself.
    await scene.service.dataSource.query('UPDATE connections SET attempts = 0 WHERE id = $1', [scene.connectionId]);
    return run;
  }

  test.each(CASES.map((each) => ({ what: each[0], each })))('$what', async ({ each }) => {
    await tryOut(each);
  });

  test.concurrent('a connection that breaks, three times over', async () => {
    const own = await scene.neighbour();
    const stored = await begin(own);
    const asked = own.partner.asked.length;
    await failsIn(own, stored, breaks(body, 40), /broke/);
    expect(own.partner.asked.length - asked).toBe(3);
    await own.partner.stop();
  });

  test.concurrent('503, three times over; the third try that works is a success', async () => {
    const own = await scene.neighbour();
    const stored = await begin(own);
    const asked = own.partner.asked.length;
    await failsIn(own, stored, refuses(503, 'INTERNAL_ERROR'), /503/);
    expect(own.partner.asked.length - asked).toBe(3);
    own.partner.on(
      SITES_ROUTE,
      refuses(503, 'INTERNAL_ERROR'),
      refuses(429, 'INTERNAL_ERROR', 'slow', { 'Retry-After': '0.2' }),
      answer(good),
    );
    expect((await own.sync()).status).toBe('succeeded');
    await own.partner.stop();
  });

  test('Retry-After beyond five minutes: the run ends, and the next is due then (decision 36)', async () => {
    const asked = scene.partner.asked.length;
    scene.partner.on(SITES_ROUTE, refuses(429, 'INTERNAL_ERROR', 'later', { 'Retry-After': '3600' }));
    const run = await scene.sync();
    expect([run.status, scene.partner.asked.length - asked]).toEqual(['failed', 1]);
    expectSentence(run.error);
    const [row] = await scene.service.dataSource.query<[{ seconds: number }]>(
      'SELECT extract(epoch FROM due_at - now())::float8 AS seconds FROM connections WHERE id = $1',
      [scene.connectionId],
    );
    expect(row?.seconds).toBeGreaterThan(3590);
    expect(row?.seconds).toBeLessThanOrEqual(3601);
  });

  test('wrong types, dates in the future, cycles and repeated ids cost their records only', async () => {
    const run = await scene.sync({
      sites: [...good.sites, site('c', { name: 7 }), site('d', { updatedAt: '2099-01-01T00:00:00Z' }), site('a')],
      kiosks: [...good.kiosks, kiosk('self', 'self')],
    });
    expect([run.status, run.counts.sites.quarantined, run.counts.kiosks.quarantined]).toEqual(['succeeded', 3, 1]);
    expect(await scene.stored()).toEqual(before);
  });

  test.concurrent('a partner that is away', async () => {
    const own = await scene.neighbour();
    const stored = await begin(own);
    await own.partner.stop();
    const run = await own.sync();
    expect([run.status, run.error]).toEqual(['failed', expect.stringMatching(/could not be reached/)]);
    expectSentence(run.error);
    expect(await own.stored()).toEqual(stored);
  });

  test('every failure is told to the admin as a sentence', async () => {
    for (const each of CASES) await tryOut(each);
    const query = `connectionId=${scene.connectionId}&status=failed&pageSize=100`;
    const { body: page } = await scene.service.admin<{ data: SyncRun[] }>('GET', `/sync-runs?${query}`);
    expect(page.data.length).toBeGreaterThan(25);
    for (const { error } of page.data) expectSentence(error);
  });
});
