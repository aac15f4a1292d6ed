import { beforeAll, describe, expect, test } from '@jest/globals';
import { sampleVideo } from '../../support/sample-video.js';
import { CONTINUOUS, type Element, element, lists } from '../../support/scripted-vision.js';
import { eventually } from '../../support/eventually.js';
import { site } from '../../support/site-data.js';
import { Hauler, ONE_SITE, paths, TICKET, type TicketAnswer } from '../support/hauler.js';
import { catalog, type CatalogRecord, type Issue, issuesOf } from '../support/site.js';
import { administer } from '../support/target.js';
import { type ShownRecording, VisionScene } from '../support/vision.js';

/** Texts, numbers and times as other systems write them: what was reported, and what the service makes of it. */

// Source: a scale without a printer pads its number field; two trucks became one ticket.
const BLANKS: [string, string][] = [
  ['nothing', ''],
  ['a space', ' '],
  ['several spaces', '   '],
  ['a tab', '\t'],
  ['a line break', '\r\n'],
  ['a no-break space', '\u00A0'],
  ['a narrow no-break space', '\u202F'],
  ['an ideographic space', '\u3000'],
  ['an em space', '\u2003'],
  ['a zero width space', '\u200B'],
  ['a byte order mark', '\uFEFF'],
  ['a word joiner', '\u2060'],
  ['a soft hyphen', '\u00AD'],
  ['a Hangul filler', '\u3164'],
  ['a Braille pattern without a dot', '\u2800'],
  ['a direction mark', '\u200E'],
  ['a mixture', ' \u200B\u00A0\t'],
];
const NUMBERS = ['0', '-', '.', '№ 7', ' 7 ', 'ＩＮ－７', 'م١', '\u05D0', '🚛', '0000', 'null', 'IN 1'];
const UPDATED = '2026-01-31T08:30:00Z';

describe('a text without a visible character', () => {
  let hauler: Hauler;
  const pushes = new Map<string, TicketAnswer>();
  beforeAll(async () => {
    hauler = await Hauler.create({ sites: ONE_SITE });
    const push = async (ticketNumber: string) => {
      const flow = { ticketNumber, updatedAt: UPDATED };
      const isBlank = BLANKS.some(([, blank]) => blank === ticketNumber);
      pushes.set(ticketNumber, await hauler.push({ inboundFlow: flow, ...(isBlank ? { outboundFlow: flow } : {}) }));
    };
    await Promise.all([...BLANKS.map(([, blank]) => blank), ...NUMBERS].map(push));
  }, 120_000);

  test.each(BLANKS)('%s as the number of a ticket is 400 with the field (decision 22)', (_, blank) => {
    const answer = pushes.get(blank) as TicketAnswer;
    expect(answer.status).toBe(400);
    expect(paths(answer)).toEqual(['inboundFlow.ticketNumber', 'outboundFlow.ticketNumber']);
  });

  test.each(NUMBERS)('%j is a number of a ticket, and is kept as it is (decision 22)', async (ticketNumber) => {
    const answer = pushes.get(ticketNumber) as TicketAnswer;
    expect(answer.status).toBe(200);
    const stored = await administer('GET', `/tickets/${answer.body.disposalTicketId}`);
    expect(stored).toMatchObject({ inboundFlow: { ticketNumber } });
  });

  test('as the name of an account is 400 with the field (decision 27)', async () => {
    const answers = await Promise.all(BLANKS.map(([, accountName]) => hauler.createAccount({ accountName })));
    expect(answers.map((answer) => [answer.status, paths(answer)])).toEqual(BLANKS.map(() => [400, ['accountName']]));
  });

  test('as the name of a custom field or of a material is kept: nothing is recognised by it (decision 9)', async () => {
    const customFields = Object.fromEntries(BLANKS.map(([what, name]) => [name, what]));
    const materials = [{ ...TICKET.materials[0], name: ' ' }];
    const { status, body } = await hauler.push({ materials, customFields });
    expect(status).toBe(200);
    expect(await administer('GET', `/tickets/${body.disposalTicketId}`)).toMatchObject({ materials, customFields });
  });
});

/** What the server of a partner wrote, and the instant that it means. */
const TIMES: [string, string, string][] = [
  // Source: Java's OffsetDateTime leaves out seconds of zero; the recording was skipped.
  ['without seconds', '2026-01-31T08:30Z', '2026-01-31T08:30:00Z'],
  ['without seconds, with an offset', '2026-01-31T09:30+01:00', '2026-01-31T08:30:00Z'],
  // Source: strftime('%z') of C, PHP and Python.
  ['+0000', '2026-01-31T08:30:00+0000', '2026-01-31T08:30:00Z'],
  ['-0530', '2026-01-31T03:00:00-0530', '2026-01-31T08:30:00Z'],
  // Source: the text of PostgreSQL.
  ['a blank and +00', '2026-01-31 08:30:00+00', '2026-01-31T08:30:00Z'],
  ['a blank, a fraction and -06', '2026-01-31 02:30:00.25-06', '2026-01-31T08:30:00.250Z'],
  // Source: Ruby's Time#to_s.
  ['a blank before the offset', '2026-01-31 08:30:00 +0000', '2026-01-31T08:30:00Z'],
  ['UTC', '2026-01-31 08:30:00 UTC', '2026-01-31T08:30:00Z'],
  ['GMT', '2026-01-31T08:30:00GMT', '2026-01-31T08:30:00Z'],
  // Source: a server with a German or French locale.
  ['a decimal comma', '2026-01-31T08:30:00,5Z', '2026-01-31T08:30:00.500Z'],
  // Source: Java's ZonedDateTime.
  ['a zone beside the offset', '2026-01-31T09:30:00+01:00[Europe/Berlin]', '2026-01-31T08:30:00Z'],
  // Source: a column of fixed width.
  ['blanks around it', ' 2026-01-31T08:30:00Z ', '2026-01-31T08:30:00Z'],
  ['a line break behind it', '2026-01-31T08:30:00Z\n', '2026-01-31T08:30:00Z'],
  // These are RFC 3339, and have no finding.
  ['lower case', '2026-01-31t08:30:00z', '2026-01-31T08:30:00Z'],
  ['seven digits of .NET', '2026-01-31T08:30:00.0000000+00:00', '2026-01-31T08:30:00Z'],
];
const IS_STRICT = /^2026-01-31[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|\+00:00)$/;

/** Nobody knows what instant these mean. */
const NO_TIMES: [string, unknown][] = [
  ['no offset', '2026-01-31T08:30:00'],
  ['no offset and no seconds', '2026-01-31 08:30'],
  ['a zone without an offset', '2026-01-31T08:30:00 CET'],
  ['a date', '2026-01-31'],
  ['day first', '31.01.2026 08:30Z'],
  ['a date that does not exist', '2026-02-30 08:30Z'],
  ['a number', 1_769_848_200],
];

describe('a time of a site', () => {
  const forms = [...TIMES, ...NO_TIMES];
  let stored: ReadonlyMap<unknown, CatalogRecord>;
  let issues: ReadonlyMap<string, Issue>;
  beforeAll(async () => {
    const hauler = await Hauler.create();
    const run = await hauler.sync({ sites: forms.map(([what, updatedAt]) => site(what, { name: what, updatedAt })) });
    issues = new Map((await issuesOf(hauler, run)).map((issue) => [issue.path, issue]));
    stored = new Map((await catalog(hauler, 'sites')).map((each) => [each['name'], each]));
  });
  const pathOf = (what: string) => `sites[${forms.findIndex(([each]) => each === what)}].updatedAt`;
  const strict = TIMES.filter(([, time]) => IS_STRICT.test(time));
  const wide = TIMES.filter(([, time]) => !IS_STRICT.test(time));

  test.each(wide)('%s is read, with a finding (decision 7)', (what, _, instant) => {
    expect(stored.get(what)?.['updatedAt']).toBe(instant);
    expect(issues.get(pathOf(what))).toMatchObject({
      severity: 'flagged',
      reason: expect.stringContaining('RFC 3339'),
    });
  });

  test.each(strict)('%s is read without a finding (decision 7)', (what, _, instant) => {
    expect([stored.get(what)?.['updatedAt'], issues.get(pathOf(what))]).toEqual([instant, undefined]);
  });

  test.each(NO_TIMES)('%s is not read, and named (decision 7)', (what) => {
    expect(issues.get(pathOf(what))).toBeDefined();
    expect(stored.get(what)?.['updatedAt']).toBeUndefined();
  });
});

describe('recordings of a partner', () => {
  /** What the platform stores of a list. */
  async function listed(chunks: readonly Element[]): Promise<(ShownRecording & Element)[]> {
    const vision = await VisionScene.create();
    const file = sampleVideo(200);
    const all = chunks.map((chunk) => element({ downloadUrl: vision.partner.link(file), ...chunk }));
    vision.partner.on(
      CONTINUOUS,
      lists('recordings', () => all),
    );
    await vision.follow({ startTime: '2026-01-31T08:00:00Z', cameraId: 'front' });
    return eventually(async () => {
      const found = (await vision.recordings()) as (ShownRecording & Element)[];
      expect(found).toHaveLength(chunks.length);
      return found;
    });
  }

  test('are read with every form of a time, as start and as end (decision 7)', async () => {
    const starts = TIMES.map(([truckId, startTime]) => ({ truckId, startTime, endTime: '2026-01-31T08:35:00Z' }));
    const ends = TIMES.map(([, endTime], i) => ({ truckId: `end ${i}`, startTime: '2026-01-31T08:00:00Z', endTime }));
    const byTruck = new Map((await listed([...starts, ...ends])).map((each) => [each.truckId, each]));
    const read = TIMES.map(([what], i) => [
      what,
      byTruck.get(what)?.['startTime'],
      byTruck.get(`end ${i}`)?.['endTime'],
    ]);
    expect(read).toEqual(TIMES.map(([what, , instant]) => [what, instant, instant]));
  });

  // Source: a recorder that leaves the id blank; all its chunks were one recording.
  test('with a blank id are recognised by truck, camera and range (decision 48)', async () => {
    const chunk = (minute: number, id: string) => ({
      id,
      startTime: `2026-01-31T08:${minute}:00Z`,
      endTime: `2026-01-31T08:${minute + 5}:00Z`,
    });
    const found = await listed([chunk(10, ' '), chunk(15, ' '), chunk(20, ''), chunk(25, '\u00A0')]);
    expect(new Set(found.map((each) => each['startTime'])).size).toBe(4);
  });
});
