import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  breaks,
  endless,
  gzipped,
  hangs,
  html,
  json,
  raw,
  redirects,
  refuses,
  type ScriptedReply,
  trickles,
} from '../support/scripted-partner.js';
import { kiosk, site, siteData } from '../support/site-data.js';
import { answer, PARTNER_KEY, SITES_ROUTE, SiteScene } from '../support/site-scene.js';

const LIMIT = 256 * 1024;
const good = { sites: [site('a'), site('b')], kiosks: [kiosk('k', 'a')] };
const body = JSON.stringify({ success: true, data: good });

const CASES: readonly [what: string, reply: ScriptedReply, sentence: RegExp][] = [
  ['HTML', html(), /HTML|web page/i],
  ['nothing', raw('', { headers: { 'Content-Type': 'application/json' } }), /empty|nothing/i],
  ['truncated JSON', raw(body.slice(0, -20)), /not valid JSON/],
  ['JSON with more bytes after its end', raw(`${body} {}`), /JSON/],
  ['a record that is not JSON', raw(body.replace('"Site b"', '"Site b')), /JSON/],
  ['bytes that are not UTF-8', raw(Buffer.from(body.replace('Site b', 'Site \u00ff'), 'latin1')), /JSON|UTF-8/],
  ['a number', raw('7'), /must be an object|object/],
  ['an array', raw('[]'), /object/],
  [
    '200 with success: false',
    json({ success: false, error: { code: 'INTERNAL_ERROR', message: `no ${PARTNER_KEY}` } }),
    /success must be true.*it says INTERNAL_ERROR: no \[redacted\]\.$/,
  ],
  ['success: false beside data', json({ success: false, data: good }), /success must be true/],
  ['no success', json({ data: good }), /success is required/],
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
  ['a compressed body beyond the limit', gzipped(Buffer.alloc(LIMIT * 4, 0x20)), /larger than 256 KB/],
  ['unlimited nesting', raw(`{"success":true,"data":{"sites":[${'['.repeat(100_000)}`), /nested|JSON/],
  ['a redirect to elsewhere', redirects('https://elsewhere.example/'), /redirect/i],
  ['401 with the only key', refuses(401, 'UNAUTHORIZED', `bad key ${PARTNER_KEY}`), /key/],
  ['400', refuses(400, 'INVALID_PAYLOAD', 'haulerId is wrong'), /400.*haulerId is wrong/],
  ['500', refuses(500, 'INTERNAL_ERROR'), /500/],
  ['204', raw('', { status: 204 }), /204/],
  ['304 for a request without conditions', raw('', { status: 304 }), /304/],
  ['gzip that is not gzip', raw('not gzip', { headers: { 'Content-Encoding': 'gzip' } }), /JSON/],
  [
    'an unknown Content-Encoding',
    raw('{}', { headers: { 'Content-Encoding': 'compress' } }),
    /unsupported Content-Enc/,
  ],
];

function expectSentence(error: string | undefined): void {
  expect(error).toMatch(/^[^\s].{15,}[.]$/s);
  expect(error).not.toMatch(/unexpected error|undefined|\[object/);
}

describe('a bad response fails the run with a reason, and changes no stored data', () => {
  let scene: SiteScene;
  let before: unknown;

  beforeAll(async () => {
    scene = await SiteScene.start({ env: { PARTNER_BODY_LIMIT: LIMIT, PARTNER_ANSWER_TIMEOUT: 2_000 } });
    await scene.renew();
    before = await begin(scene);
  });
  afterAll(() => scene.stop());

  /** Synchronises the good data, and returns its rows. */
  async function begin(of: SiteScene): Promise<unknown> {
    expect((await of.sync(good)).status).toBe('succeeded');
    return of.stored();
  }

  async function failsIn(scene: SiteScene, before: unknown, reply: ScriptedReply, sentence: RegExp): Promise<void> {
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
    // Each case starts without failures.
    await scene.service.dataSource.query('UPDATE connections SET attempts = 0 WHERE id = $1', [scene.connectionId]);
  }

  test.each(CASES)('%s', async (_, reply, sentence) => {
    await failsIn(scene, before, reply, sentence);
  });

  test.concurrent('a connection that breaks off at each of three attempts', async () => {
    const own = await scene.neighbour();
    const stored = await begin(own);
    const asked = own.partner.asked.length;
    await failsIn(own, stored, breaks(body, 40), /broke/);
    expect(own.partner.asked.length - asked).toBe(3);
    await own.partner.stop();
  });

  test.concurrent('503 at each of three attempts; a success at the third one is a success of the run', async () => {
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

  test('a Retry-After of more than five minutes, which is also when the next run is due (decision 36)', async () => {
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

  test('but not wrong types, dates in the future, cycles and repeated ids, which quarantine their records only', async () => {
    const run = await scene.sync({
      sites: [...good.sites, site('c', { name: 7 }), site('d', { updatedAt: '2099-01-01T00:00:00Z' }), site('a')],
      kiosks: [...good.kiosks, kiosk('self', 'self')],
    });
    expect([run.status, run.counts.sites.quarantined, run.counts.kiosks.quarantined]).toEqual(['succeeded', 3, 1]);
    expect(await scene.stored()).toEqual(before);
  });

  test.concurrent.each([
    ['that does not answer', hangs()],
    ['that sends a byte now and then', trickles(20)],
  ])('a partner %s', async (_, reply) => {
    const own = await scene.neighbour();
    await failsIn(own, await begin(own), reply, /did not send its whole answer within 2 s/);
    await own.partner.stop();
  });

  test.concurrent('a partner that is not reachable', async () => {
    const own = await scene.neighbour();
    const stored = await begin(own);
    await own.partner.stop();
    const run = await own.sync();
    expect([run.status, run.error]).toEqual(['failed', expect.stringMatching(/could not be reached/)]);
    expectSentence(run.error);
    expect(await own.stored()).toEqual(stored);
  });
});
