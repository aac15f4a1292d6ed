import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.js';
import { json, startScriptedPartner } from '../../support/scripted-partner.js';
import { idOf, kiosk, material, site } from '../../support/site-data.js';
import { flow, Hauler, ONE_SITE, type Plain, SITES_ROUTE, TICKET, type TicketAnswer } from '../support/hauler.js';
import { countOf, expectError, POSTS } from '../support/posts.js';
import { administer } from '../support/target.js';

const [POST] = POSTS as [(typeof POSTS)[0]];

const SITES = {
  sites: [site('yard'), site('pit'), site('closed', { active: false })],
  kiosks: [kiosk('gate', 'pit'), kiosk('booth', 'closed')],
  materials: [
    material('debris', { siteId: idOf('yard') }),
    material('sand', { siteId: idOf('pit') }),
    material('gravel', { kioskId: idOf('gate') }),
    material('old', { kioskId: idOf('booth'), active: false }),
  ],
};
const UNKNOWN = idOf('nowhere');
const line = (id: string, more: Plain = {}) => ({ ...TICKET.materials[0], id, ...more });

const violations = ({ body }: TicketAnswer) =>
  body.error.details?.violations?.map(({ path, rule }) => `${path} ${rule}`);

let hauler: Hauler;
beforeAll(async () => {
  hauler = await Hauler.create({ sites: SITES });
});

describe('a ticket that breaks a rule of the business', () => {
  test.each<[string, Plain, string[]]>([
    ['an unknown site', { siteId: UNKNOWN }, ['siteId siteExists']],
    [
      'an unknown material, twice',
      { materials: [line(UNKNOWN), line(idOf('debris')), line(UNKNOWN)] },
      ['materials[0].id materialExists', 'materials[2].id materialExists'],
    ],
    [
      'an unknown site and an unknown material',
      { siteId: UNKNOWN, materials: [line(idOf('debris')), line(randomUUID())] },
      ['siteId siteExists', 'materials[1].id materialExists'],
    ],
    ['a material of another site', { materials: [line(idOf('sand'))] }, ['materials[0].id materialOfSite']],
    [
      "a material of another site's kiosk",
      { materials: [line(idOf('debris')), line(idOf('gravel'))] },
      ['materials[1].id materialOfSite'],
    ],
  ])(
    '%s: 422 with every element that breaks it (section 4.1 422; section 7 422 Scale; decisions 11, 24)',
    async (_what, over, expected) => {
      const before = await countOf(hauler, POST);
      const refused = await hauler.push(over);
      expectError(refused, 422, 'VALIDATION_ERROR');
      expect(violations(refused)).toEqual(expected);
      expect(await countOf(hauler, POST)).toBe(before);
    },
  );

  test("another hauler's site and material do not exist (decisions 1, 24)", async () => {
    const other = await Hauler.create({
      sites: { sites: [site('theirs')], materials: [material('m', { siteId: idOf('theirs') })] },
    });
    const theirs = { siteId: idOf('theirs'), materials: [line(idOf('m'))] };
    expect((await other.push(theirs)).status).toBe(200);
    expect(violations(await hauler.push(theirs))).toEqual(['siteId siteExists', 'materials[0].id materialExists']);
  });

  test('is a malformed one first: 400 before 422 (decision 3)', async () => {
    expectError(await hauler.push({ siteId: UNKNOWN, materials: [] }), 400);
  });

  test('a wrong clock and an unknown material are named together (decisions 21, 24)', async () => {
    const tomorrow = new Date(Date.now() + 25 * 3_600_000).toISOString();
    const over = { materials: [line(UNKNOWN)], inboundFlow: { ticketNumber: 'A', updatedAt: tomorrow } };
    expect(violations(await hauler.push(over))).toEqual([
      'materials[0].id materialExists',
      'inboundFlow.updatedAt updatedAtInFuture',
    ]);
  });
});

describe('a ticket that is accepted', () => {
  test.each<[string, Plain]>([
    [
      'a material twice, one line a reversal',
      { materials: [line(idOf('debris')), line(idOf('debris'), { quantity: -1 })] },
    ],
    ['a material of a kiosk of the site', { siteId: idOf('pit'), materials: [line(idOf('gravel'))] }],
    ['an inactive site and an inactive material', { siteId: idOf('closed'), materials: [line(idOf('old'))] }],
  ])('%s (section 4.1 200; decision 24)', async (_what, over) => {
    const { status, body } = await hauler.push(over);
    expect(status).toBe(200);
    expect(await administer('GET', `/tickets/${body.disposalTicketId}`)).toMatchObject(over);
  });

  test('a material that has moved belongs to its new site alone (decision 24)', async () => {
    const moving = await Hauler.create({ sites: ONE_SITE });
    const sites = [site('yard'), site('pit')];
    await moving.sync({
      sites,
      materials: [material('debris', { siteId: idOf('pit'), updatedAt: '2026-01-16T10:00:00Z' })],
    });
    expect(violations(await moving.push())).toEqual(['materials[0].id materialOfSite']);
    expect((await moving.push({ siteId: idOf('pit') })).status).toBe(200);
  });
});

describe('a ticket that comes before its master data', () => {
  test('without a Site connection the message asks for one (decision 24)', async () => {
    const { body } = await (await Hauler.create()).push();
    expect(body.error.message).toContain('The hauler has no Site connection');
  });

  test('says in its message when the last synchronisation was, and the partner is asked at most once a minute (decision 24)', async () => {
    const early = await Hauler.create();
    const partner = await startScriptedPartner();
    partner.on(SITES_ROUTE, json({ success: true, data: { sites: [site('yard')] } }));
    await early.connect({ interface: 'site', baseUrl: partner.url });
    // A push may be checked before the synchronisation and answered after it.
    await eventually(async () => {
      const refused = await early.push();
      expect(refused.body.error.message).toMatch(/were last synchronised at \d{4}-\d\d-\d\dT/);
      expect(violations(refused)).toEqual(['materials[0].id materialExists']);
    });
    const { length } = partner.askedOf(SITES_ROUTE);
    for (let i = 0; i < 3; i++) await early.push({ siteId: UNKNOWN });
    expect(partner.askedOf(SITES_ROUTE)).toHaveLength(length);
  });

  test('succeeds when it is sent again after a synchronisation (decision 24)', async () => {
    const early = await Hauler.create({ sites: { sites: [site('yard')] } });
    expect((await early.push({ inboundFlow: flow('A') })).status).toBe(422);
    await early.sync(ONE_SITE);
    expect((await early.push({ inboundFlow: flow('A') })).status).toBe(200);
  });
});
