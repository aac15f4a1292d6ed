import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { StoredRecording } from '../../../src/contracts/admin/recording.dto.js';
import { isBlank } from '../../../src/contracts/common/text.js';
import { issueKey } from '../../support/api-keys.js';
import { eventually } from '../../support/eventually.js';
import { sampleVideo } from '../../support/sample-video.js';
import { ScaleHouse } from '../../support/scale-house.js';
import { site } from '../../support/site-data.js';
import { counts, SiteScene } from '../../support/site-scene.js';
import { element, startVisionPartner, type VisionPartner } from '../../support/scripted-vision.js';
import { hurryVideo } from '../../support/time.js';
import { connectVision, resetVision } from '../../support/vision-partner.js';
import { CONTINUOUS, inHours, lists } from '../../support/scripted-vision.js';

/** Texts, numbers and times as other systems write them: what was reported, and what the service makes of it. */
let scene: SiteScene;
let house: ScaleHouse;
let partner: VisionPartner;
beforeAll(async () => {
  scene = await SiteScene.start();
  house = await ScaleHouse.open(scene.service);
  partner = await startVisionPartner();
});
afterAll(async () => {
  await scene.stop();
  await partner.stop();
});

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

describe('a text without a visible character', () => {
  test.each(BLANKS)('%s as the number of a ticket: 400 with the field', async (_, ticketNumber) => {
    for (const direction of ['inboundFlow', 'outboundFlow']) {
      const flow = { ticketNumber, updatedAt: '2026-01-31T08:30:00Z' };
      await house.expectRefused(house.ticket({ [direction]: flow }), [`${direction}.ticketNumber`]);
    }
  });

  test('as the name of an account: 400 with the field', async () => {
    const { key } = await issueKey(scene.service, ['account']);
    for (const [, accountName] of BLANKS) {
      const reply = await scene.service.call<{ error?: { details?: { violations: { path: string }[] } } }>(
        'POST',
        '/platform-api/v1/accounts',
        { headers: { 'PLATFORM-API-KEY': key }, body: { accountName } },
      );
      expect([reply.status, reply.body.error?.details?.violations.map(({ path }) => path)]).toEqual([
        400,
        ['accountName'],
      ]);
    }
  });

  test('as the name of a custom field or of a material is kept: nothing is recognised by it', async () => {
    const customFields = Object.fromEntries(BLANKS.map(([what, name]) => [name, what]));
    const id = await house.expectAccepted({ materials: [house.material({ name: ' ' })], customFields });
    expect((await house.stored(id)).customFields).toEqual(customFields);
  });

  test.each(['0', '-', '.', '№ 7', ' 7 ', 'ＩＮ－７', 'م١', '\u05D0', '🚛', '0000', 'null', 'IN 1'])(
    '%j is a number of a ticket',
    async (ticketNumber) => {
      expect(isBlank(ticketNumber)).toBe(false);
      const id = await house.expectAccepted({ inboundFlow: { ticketNumber, updatedAt: '2026-01-31T08:30:00Z' } });
      expect((await house.stored(id)).inboundFlow?.ticketNumber).toBe(ticketNumber);
    },
  );
});

/** What a partner's server wrote, and the instant that it means. */
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
  beforeAll(() => scene.renew());

  test.each(TIMES)('%s is read', async (_, updatedAt, instant) => {
    const data = { sites: [site('a', { updatedAt: '2026-01-01T00:00:00Z' })] };
    await scene.sync(data);
    const run = await scene.sync({ sites: [site('a', { updatedAt, name: updatedAt })] });
    const isStrict = IS_STRICT.test(updatedAt);
    expect(counts(run)).toEqual({ received: 1, updated: 1, ...(isStrict ? {} : { flagged: 1 }) });
    expect(await scene.quarantine(run.id)).toMatchObject(
      isStrict
        ? []
        : [
            {
              severity: 'flagged',
              path: 'sites[0].updatedAt',
              ruleId: 'SITE-019',
              reason: expect.stringContaining('RFC 3339'),
            },
          ],
    );
    expect(await scene.sites()).toMatchObject([{ updatedAt: instant }]);
    expect(counts(await scene.sync())).toMatchObject({ unchanged: 1 });
    await scene.renew();
  });

  test.each(NO_TIMES)('%s quarantines the record, which stays as it is', async (_, updatedAt) => {
    await scene.sync({ sites: [site('a')] });
    const run = await scene.sync({ sites: [site('a', { updatedAt, name: 'later' })] });
    expect(counts(run)).toEqual({ received: 1, quarantined: 1 });
    expect(await scene.sites()).toMatchObject([{ name: 'Site a', active: true }]);
  });
});

describe('times and ids of recordings', () => {
  let connectionId: string;

  async function listed(recordings: Record<string, unknown>[]): Promise<StoredRecording[]> {
    await resetVision(scene.service, partner);
    ({ id: connectionId } = await connectVision(scene.service, partner.url));
    partner.on(
      CONTINUOUS,
      lists('recordings', () => recordings),
    );
    const body = { connectionId, truckId: 'TRUCK-7', startTime: inHours(-1) };
    expect((await scene.service.admin('POST', '/video-subscriptions', body)).status).toBe(201);
    return eventually(async () => {
      await hurryVideo(scene.service);
      const page = await scene.service.admin<{ data: StoredRecording[] }>(
        'GET',
        `/recordings?connectionId=${connectionId}&pageSize=100`,
      );
      expect(page.body.data).toHaveLength(recordings.length);
      return page.body.data;
    }, 15_000);
  }
  const recording = (fields: Record<string, unknown>) =>
    element({ downloadUrl: partner.link(sampleVideo(200)), ...fields });

  test('every form of a time is read, as start and as end', async () => {
    const starts = TIMES.map(([truckId, startTime]) =>
      recording({ truckId, startTime, endTime: '2026-01-31T08:35:00Z' }),
    );
    const ends = TIMES.map(([, endTime], i) =>
      recording({ truckId: `end ${i}`, startTime: '2026-01-31T08:00:00Z', endTime }),
    );
    const found = await listed([...starts, ...ends]);
    const byTruck = new Map(found.map((each) => [each.truckId, each]));
    for (const [i, [what, , instant]] of TIMES.entries()) {
      expect([what, byTruck.get(what)?.startTime, byTruck.get(`end ${i}`)?.endTime]).toEqual([what, instant, instant]);
    }
  });

  // Source: a recorder that leaves the id blank; all its chunks were one recording.
  test('chunks with a blank id are recognised by truck, camera and range', async () => {
    const chunk = (minute: number, id: string) =>
      recording({ id, startTime: `2026-01-31T08:${minute}:00Z`, endTime: `2026-01-31T08:${minute + 5}:00Z` });
    const found = await listed([chunk(10, ' '), chunk(15, ' '), chunk(20, ''), chunk(25, '\u00A0')]);
    expect(new Set(found.map(({ startTime }) => startTime)).size).toBe(4);
  });
});
