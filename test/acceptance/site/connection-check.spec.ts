import { beforeAll, describe, expect, test } from '@jest/globals';
import { breaks, html, json, refuses, type ScriptedReply } from '../../support/scripted-partner.js';
import { material, site } from '../../support/site-data.js';
import { CONTINUOUS, POST, startVisionPartner, VIDEOS } from '../../support/scripted-vision.js';
import { Hauler, ONE_SITE } from '../support/hauler.js';
import { answers, siteAnswer } from '../support/site.js';
import { admin } from '../support/target.js';

interface Check {
  readonly reachable: boolean;
  readonly authorized: boolean;
  readonly conforms: boolean | null;
  readonly findings: readonly string[];
  readonly rules: readonly { readonly id: string; readonly operation: string; readonly outcome: string }[];
}

const WORKS = [true, true, true];
const NOTHING_TO_CHECK = [true, true, null];
const BREAKS = [true, true, false];
const SHUT = [true, false, false];
const AWAY = [false, false, false];

interface Row {
  readonly partner: string;
  readonly reply: ScriptedReply;
  readonly verdict: readonly (boolean | null)[];
  readonly finding: string;
  /** Of `coverage-rows.mjs`. */
  readonly row: string;
}
const row = (
  partner: string,
  reply: ScriptedReply,
  verdict: readonly (boolean | null)[],
  finding: string,
  of: string,
): Row => ({
  ...{ partner, reply, verdict, finding, row: of },
});
const listing = (data: object): ScriptedReply => siteAnswer(data);

/** The operation exists: without a hauler it answers 400. */
const knowsNobody: ScriptedReply = (response, request) =>
  request.query.has('haulerId')
    ? refuses(404, 'NOT_FOUND')(response, request)
    : refuses(400, 'INVALID_PAYLOAD')(response, request);

const ROWS: Row[] = [
  row('lists records', listing(ONE_SITE), WORKS, '1 sites, 0 kiosks and 1 materials', 'section 4.3 200'),
  row('lists no records', listing({}), NOTHING_TO_CHECK, '0 sites', 'section 4.3 200'),
  row(
    'has a record with a wrong type',
    listing({ sites: [site('a', { name: 7 })] }),
    BREAKS,
    'data.sites[0].name',
    'section 2.4a Site name',
  ),
  row(
    'lists one id twice',
    listing({ sites: [site('a'), site('a')] }),
    BREAKS,
    'is the id of an earlier element',
    'section 2.4a Site id',
  ),
  row(
    'has a material without a parent',
    listing({ materials: [material('m')] }),
    BREAKS,
    'neither a siteId nor a kioskId',
    'section 2.4a links',
  ),
  row(
    'has a record of more than 1 MiB',
    listing({ sites: [site('a', { note: 'x'.repeat(1_100_000) })] }),
    BREAKS,
    'larger than 1 MiB',
    'section 2.4a data.sites',
  ),
  row(
    'has such a record in an answer of more than 4 MiB',
    listing({ sites: [site('a'), ...['b', 'c', 'd', 'e'].map((id) => site(id, { note: 'x'.repeat(1_100_000) }))] }),
    BREAKS,
    'data.sites[1] must not be larger than 1 MiB',
    'section 2.4a data.sites',
  ),
  row('leaves success out', json({ data: {} }), BREAKS, 'success must be true', 'section 2.4a success'),
  row(
    'refuses the key in an answer of 200',
    json({ success: false, error: { code: 'UNAUTHORIZED', message: 'no such key' } }),
    SHUT,
    'UNAUTHORIZED: no such key',
    'section 4.3 401',
  ),
  row('refuses the hauler', refuses(400, 'INVALID_PAYLOAD', 'ask us first'), BREAKS, 'ask us first', 'section 4.3 400'),
  row('has no data of the hauler', knowsNobody, NOTHING_TO_CHECK, '404 NOT_FOUND', 'section 4.3 404'),
  row('answers with a page of HTML', html(), BREAKS, 'HTML page', 'section 4.3 200'),
  row('does not accept the key', refuses(401, 'UNAUTHORIZED'), SHUT, 'does not accept our API key', 'section 4.3 401'),
  row('fails', refuses(500, 'INTERNAL_ERROR'), BREAKS, 'status 500', 'section 4.3 500'),
  row('breaks the connection', breaks('{}', 0), AWAY, 'broke', 'decision 54'),
];

describe('the check of a Site connection', () => {
  let found: ReadonlyMap<Row, Check>;
  /** Requests that the partner received. */
  const sent = new Map<Row, number>();
  beforeAll(async () => {
    const play = async (each: Row): Promise<Check> => {
      const hauler = await Hauler.create();
      const { connectionId, partner } = await hauler.siteConnection();
      await answers(hauler, each.reply);
      const { status, body } = await admin<Check>('POST', `/connections/${connectionId}/check`);
      expect(status).toBe(200);
      sent.set(each, partner.asked.length);
      return body;
    };
    found = new Map(await Promise.all(ROWS.map(async (each) => [each, await play(each)] as const)));
  }, 120_000);

  test.each(ROWS)('of a partner that $partner names it ($row)', (each) => {
    const check = found.get(each);
    expect([check?.reachable, check?.authorized, check?.conforms]).toEqual(each.verdict);
    expect(check?.findings.join('\n')).toContain(each.finding);
  });

  test('sends one GET, and one without the hauler where the partner knows none (section 4.3 200)', () => {
    const asked = (partner: string) => sent.get(ROWS.find((each) => each.partner === partner) as Row);
    expect([asked('lists records'), asked('fails'), asked('breaks the connection')]).toEqual([1, 1, 1]);
    expect([asked('does not accept the key'), asked('has no data of the hauler')]).toEqual([1, 2]);
  });

  test('has an outcome for each rule of the interface, and none fails for a correct partner (section 4.3 200)', () => {
    const rules = found.get(ROWS[0] as Row)?.rules ?? [];
    expect(rules.length).toBeGreaterThan(40);
    expect(rules.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
    expect(rules.find(({ id }) => id === 'SITE-001')).toMatchObject({ operation: 'getSites', outcome: 'passed' });
  });
});

test('the check of a Vision connection calls every GET and no POST (section 4.5 200; section 4.6 200)', async () => {
  const hauler = await Hauler.create();
  const partner = await startVisionPartner();
  partner.on(VIDEOS, json({ success: true, data: { videos: [] } }));
  const id = await hauler.connect({ interface: 'vision', baseUrl: partner.url, customerId: 'c', enabled: false });
  const { body } = await admin<Check>('POST', `/connections/${id}/check`);
  expect(body.conforms).toBe(false);
  expect(body.rules.find(({ id: rule }) => rule === 'VISION-192')).toMatchObject({
    operation: 'listContinuous',
    outcome: 'failed',
  });
  expect(body.rules.find(({ id: rule }) => rule === 'VISION-201')).toMatchObject({
    operation: 'requestVideo',
    outcome: 'not-proven',
  });
  // One list of the kit, and one that looks for a file to fetch.
  expect([partner.askedOf(VIDEOS).length, partner.askedOf(CONTINUOUS).length > 0, partner.askedOf(POST)]).toEqual([
    2,
    true,
    [],
  ]);
});
