import { describe, expect, test } from '@jest/globals';
import { Breather } from '../../../src/chunked-work/breather.js';
import { Intake } from '../../../src/site-sync/sync/intake.js';
import { KINDS, type Kind } from '../../../src/site-sync/sync/kinds.js';
import { KnownParents, type StoredParents } from '../../../src/site-sync/sync/known-parents.js';
import { MOST_REMARKS } from '../../../src/site-sync/sync/remarks.js';
import { idOf, kiosk, material, type Plain, site, STAMP } from '../../support/site-data.js';

const NOW = new Date('2026-11-20T12:00:00Z');
const NOTHING: StoredParents = { sites: new Set(), kiosks: new Map() };

/** Takes the arrays in the given order of kinds. */
async function intakeOf(
  data: Partial<Record<Kind, unknown[]>>,
  { stored = NOTHING, order = KINDS }: { stored?: StoredParents; order?: readonly Kind[] } = {},
): Promise<Intake> {
  const stated = order.filter((kind) => data[kind] !== undefined);
  const intake = new Intake(stated, new KnownParents(stored), NOW);
  for (const kind of stated) data[kind]?.forEach((element, i) => intake.take(kind, i, element));
  await intake.finish(new Breather());
  return intake;
}

const remarks = (intake: Intake) => intake.remarks.kept.map(({ severity, path, reason }) => [severity, path, reason]);
/** Ids that were accepted, and those that were only kept. */
function rows(intake: Intake, kind: Kind): unknown[][] {
  return [...intake.records[kind].judged()].map(([position, id]) => [id, position === null ? 'kept' : 'accepted']);
}

describe('what is taken of a partner’s answer', () => {
  test('good records of all kinds', async () => {
    const intake = await intakeOf({
      sites: [site('a')],
      kiosks: [kiosk('k', 'a')],
      materials: [material('m', { kioskId: idOf('k') }), material('n', { siteId: idOf('a'), kioskId: idOf('k') })],
    });
    expect(remarks(intake)).toEqual([]);
    expect(intake.received).toEqual({ sites: 1, kiosks: 1, materials: 2 });
    expect(rows(intake, 'materials')).toEqual([
      [idOf('m'), 'accepted'],
      [idOf('n'), 'accepted'],
    ]);
  });

  test.each<[string, Kind, unknown, string, string]>([
    [
      'a wrong unit',
      'materials',
      material('m', { siteId: idOf('a'), measureUnit: 'Gallon' }),
      'materials[0].measureUnit',
      'must be one of',
    ],
    ['a name of a number', 'sites', site('b', { name: 7 }), 'sites[0].name', 'must be text'],
    [
      'a name with U+0000',
      'sites',
      site('b', { name: 'a\0' }),
      'sites[0].name',
      'must be valid Unicode without U+0000',
    ],
    [
      'an address without its city',
      'sites',
      site('b', { address: { line1: 'x' } }),
      'sites[0].address.city',
      'is required',
    ],
    [
      'a date that is none',
      'sites',
      site('b', { updatedAt: '2026-02-30T00:00:00Z' }),
      'sites[0].updatedAt',
      'must be an RFC 3339 date-time',
    ],
    [
      'a date in the future (decision 33)',
      'sites',
      site('b', { updatedAt: '2026-11-22T00:00:00Z' }),
      'sites[0].updatedAt',
      'lies in the future',
    ],
    ['neither link', 'materials', material('m'), 'materials[0]', 'neither a siteId nor a kioskId'],
    [
      'an unknown site',
      'materials',
      material('m', { siteId: idOf('x') }),
      'materials[0].siteId',
      'no site that is known',
    ],
    [
      'an unknown kiosk',
      'materials',
      material('m', { siteId: idOf('a'), kioskId: idOf('x') }),
      'materials[0].kioskId',
      'no kiosk that is known',
    ],
    ["a kiosk's unknown site", 'kiosks', kiosk('k', 'x'), 'kiosks[0].siteId', 'no site that is known'],
    ['a kiosk that is its own site: a cycle', 'kiosks', kiosk('k', 'k'), 'kiosks[0].siteId', 'no site that is known'],
    [
      'a material that is its own kiosk: a cycle',
      'materials',
      material('m', { kioskId: idOf('m') }),
      'materials[0].kioskId',
      'no kiosk that is known',
    ],
  ])('%s is quarantined, and its id kept', async (_what, kind, element, path, reason) => {
    const intake = await intakeOf(
      { [kind]: [element] },
      { stored: { sites: new Set([idOf('a')]), kiosks: new Map() } },
    );
    expect(remarks(intake)).toEqual([['quarantined', path, expect.stringContaining(reason)]]);
    expect(intake.remarks.quarantined[kind]).toBe(1);
    expect(intake.remarks.kept[0]?.raw).toBe(JSON.stringify(element));
    expect(rows(intake, kind)).toEqual([[(element as Plain)['id'], 'kept']]);
    expect([...intake.unreadable]).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['null', null],
    ['a number', 7],
    ['an array', []],
    ['an object without id', { name: 'x' }],
    ['an id that is no UUID', site('a', { id: 'a' })],
    ['an id that is a number', site('a', { id: 7 })],
  ])('%s in the place of a record: its id cannot be read', async (_what, element) => {
    const intake = await intakeOf({ sites: [element, site('b')] });
    expect(intake.remarks.quarantined.sites).toBe(1);
    expect([...intake.unreadable]).toEqual(['sites']);
    expect(rows(intake, 'sites')).toEqual([[idOf('b'), 'accepted']]);
  });

  test('of a repeated id the first counts, whatever the case, and even where the first is malformed (decision 33)', async () => {
    const intake = await intakeOf({
      sites: [site('a'), site('a', { id: idOf('a').toUpperCase(), name: 'again' }), site('b', { name: 7 }), site('b')],
    });
    expect(remarks(intake).map(([, path]) => path)).toEqual(['sites[1].id', 'sites[2].name', 'sites[3].id']);
    expect(remarks(intake)[0]?.[2]).toBe('sites[1].id is the id of an earlier element');
    expect(rows(intake, 'sites')).toEqual([
      [idOf('a'), 'accepted'],
      [idOf('b'), 'kept'],
    ]);
  });

  test('parents may stand behind their children', async () => {
    const intake = await intakeOf(
      { materials: [material('m', { kioskId: idOf('k') })], kiosks: [kiosk('k', 'a')], sites: [site('a')] },
      { order: ['materials', 'kiosks', 'sites'] },
    );
    expect(remarks(intake)).toEqual([]);
    expect(rows(intake, 'materials')).toEqual([[idOf('m'), 'accepted']]);
  });

  test('a record of another kind is no parent', async () => {
    const intake = await intakeOf({
      sites: [site('a')],
      kiosks: [kiosk('k', 'a'), kiosk('l', 'k')],
      materials: [
        material('m', { siteId: idOf('a') }),
        material('n', { siteId: idOf('k') }),
        ...['a', 'm'].map((name) => material(`of ${name}`, { kioskId: idOf(name) })),
      ],
    });
    expect(remarks(intake).map(([, path]) => path)).toEqual([
      'kiosks[1].siteId',
      'materials[1].siteId',
      'materials[2].kioskId',
      'materials[3].kioskId',
    ]);
  });

  test('what hangs on an orphan is an orphan; what hangs on a malformed one too, unless that one is stored (decision 32)', async () => {
    const data = {
      sites: [site('bad', { name: 7 })],
      kiosks: [kiosk('k', 'bad'), kiosk('l', 'nowhere')],
      materials: [material('m', { kioskId: idOf('k') }), material('n', { kioskId: idOf('l') })],
    };
    const paths = async (stored: StoredParents) => remarks(await intakeOf(data, { stored })).map(([, path]) => path);
    expect(await paths(NOTHING)).toEqual([
      'sites[0].name',
      'kiosks[0].siteId',
      'kiosks[1].siteId',
      'materials[0].kioskId',
      'materials[1].kioskId',
    ]);
    expect(await paths({ sites: new Set([idOf('bad')]), kiosks: new Map() })).toEqual([
      'sites[0].name',
      'kiosks[1].siteId',
      'materials[1].kioskId',
    ]);
  });

  describe('both links, and the kiosk belongs to another site (decision 32)', () => {
    const both = [material('m', { siteId: idOf('a'), kioskId: idOf('k') })];
    const sites = [site('a'), site('b')];
    const storedKiosk = (siteName: string, updatedAt: string | null = null): StoredParents => ({
      sites: new Set([idOf('a'), idOf('b')]),
      kiosks: new Map([[idOf('k'), { siteId: idOf(siteName), updatedAt }]]),
    });

    test.each<[string, Partial<Record<Kind, unknown[]>>, StoredParents, boolean]>([
      ['as the answer says', { sites, kiosks: [kiosk('k', 'b')], materials: both }, NOTHING, true],
      ['not so as the answer says', { sites, kiosks: [kiosk('k', 'a')], materials: both }, NOTHING, false],
      ['as is stored', { materials: both }, storedKiosk('b'), true],
      ['not so as is stored', { materials: both }, storedKiosk('a'), false],
      ['no more, says the answer', { kiosks: [kiosk('k', 'a')], materials: both }, storedKiosk('b'), false],
      ...['2026-01-15T09:59:59.999999Z', '2026-01-15T10:00:00.000000Z'].map(
        (stamp): [string, Partial<Record<Kind, unknown[]>>, StoredParents, boolean] => [
          `no more, says the answer of ${STAMP} where ${stamp} is stored`,
          { kiosks: [kiosk('k', 'a')], materials: both },
          storedKiosk('b', stamp),
          false,
        ],
      ),
      [
        'the answer says, but its kiosk is stale',
        { kiosks: [kiosk('k', 'b')], materials: both },
        storedKiosk('a', '2026-06-01T00:00:00.000000Z'),
        false,
      ],
      [
        'is stored, and the kiosk of the answer is malformed',
        { kiosks: [kiosk('k', 'a', { name: 7 })], materials: both },
        storedKiosk('b'),
        true,
      ],
    ])('%s', async (_what, data, stored, flagged) => {
      for (const order of [KINDS, [...KINDS].reverse()]) {
        const intake = await intakeOf(data, { stored, order });
        expect(rows(intake, 'materials')).toEqual([[idOf('m'), 'accepted']]);
        expect(intake.remarks.flagged.materials).toBe(flagged ? 1 : 0);
        if (flagged) {
          expect(remarks(intake)).toContainEqual([
            'flagged',
            'materials[0].kioskId',
            `the kiosk ${idOf('k')} belongs to the site ${idOf('b')}`,
          ]);
        }
      }
    });
  });

  test('a clock that is some hours ahead is forgiven, and what was refused for its time may be judged otherwise later', async () => {
    const ahead = await intakeOf({ sites: [site('a', { updatedAt: '2026-11-21T02:00:00Z' })] });
    expect([remarks(ahead), ahead.dependsOnTime]).toEqual([[], false]);
    const most = await intakeOf({ sites: [site('a', { updatedAt: '2026-11-21T12:00:00Z' })] });
    expect([remarks(most), most.dependsOnTime]).toEqual([[], false]);
    const more = await intakeOf({ sites: [site('a', { updatedAt: '2026-11-21T12:00:00.000001Z' })] });
    expect([remarks(more)[0]?.[1], more.dependsOnTime]).toEqual(['sites[0].updatedAt', true]);
    const far = await intakeOf({ sites: [site('a', { updatedAt: '2126-11-21T02:00:00Z' })] });
    expect(far.dependsOnTime).toBe(true);
  });

  test('an omitted array is not stated, an empty one is (decision 35)', async () => {
    const intake = await intakeOf({ sites: [], materials: [] });
    expect(intake.stated).toEqual(['sites', 'materials']);
  });

  test('all faults of a record in one sentence, very long records cut, and a bounded number of remarks', async () => {
    const long = site('a', { id: idOf('long'), name: 'x'.repeat(20_000), active: 'no' });
    const intake = await intakeOf({ sites: [long, ...Array.from({ length: MOST_REMARKS + 5 }, () => 0)] });
    expect(intake.remarks.kept[0]).toMatchObject({
      reason: expect.stringMatching(/sites\[0\]\.name .*; sites\[0\]\.active /),
      raw: expect.stringMatching(/^.{8000}$/),
    });
    expect([intake.remarks.kept.length, intake.remarks.quarantined.sites]).toEqual([MOST_REMARKS, MOST_REMARKS + 6]);
  });
});
