import { beforeAll, describe, expect, test } from '@jest/globals';
import { ADDRESS, idOf, kiosk, material, type Plain, site, STAMP } from '../../support/site-data.js';
import { Hauler, type SyncRun } from '../support/hauler.js';
import { catalog, type CatalogRecord, type Issue, issuesOf, type Kind, KINDS } from '../support/site.js';

/** Section 2.4a as the platform reads it: one answer of a scripted partner has the records of all rows. */
interface Row {
  /** Of `coverage-rows.mjs`. */
  readonly row: string;
  readonly kind: Kind;
  readonly what: string;
  readonly record: unknown;
}

interface StoredRow extends Row {
  readonly record: Plain;
  /** Fields of the stored record; `undefined` is absent. */
  readonly stored: Plain;
}

interface RefusedRow extends Row {
  /** Behind `materials[3]`. */
  readonly path: string;
  readonly reason: string;
}

const YARD = idOf('yard');
const HUT = idOf('hut');
const NOWHERE = idOf('nowhere');
const text = (length: number): string => 'x'.repeat(length);
/** Four bytes each, and two units of UTF-16. */
const trucks = (length: number): string => '🚛'.repeat(length);
const UNITS = ['Item', 'Ton', 'Pound', 'Kilogram', 'Cubic Yard', 'Cubic Meter'];

let made = 0;
const name = (): string => `row ${++made}`;
const ofSite = (change: Plain = {}): Plain => site(name(), change);
const ofKiosk = (change: Plain = {}): Plain => kiosk(name(), 'yard', change);
const ofMaterial = (change: Plain = {}): Plain => material(name(), { siteId: YARD, ...change });
const of = { sites: ofSite, kiosks: ofKiosk, materials: ofMaterial };

/** Most rows are of section 2.4a. */
const titled = (row: string): string => (/^(section|decision) /.test(row) ? row : `section 2.4a ${row}`);

const stored = (row: string, kind: Kind, what: string, change: Plain, fields: Plain = change): StoredRow => ({
  row: titled(row),
  kind,
  what,
  record: of[kind](change),
  stored: fields,
});

const upper = { sites: ofSite(), kiosks: ofKiosk(), materials: ofMaterial() };
const inCapitals = (row: string, kind: Kind): StoredRow => {
  const { id } = upper[kind];
  return {
    ...{ row: titled(row), kind, what: 'an id in capitals' },
    record: { ...upper[kind], id: String(id).toUpperCase() },
    stored: { externalId: id },
  };
};

/** `active` and `updatedAt` are the same of all kinds. */
const common = (kind: Kind, noun: string): StoredRow[] => [
  inCapitals(`${noun} id`, kind),
  stored(`${noun} active`, kind, 'active: true', { active: true }),
  stored(`${noun} active`, kind, 'active: false', { active: false }),
  stored(`${noun} active`, kind, 'no active', {}, { active: true }),
  stored(`${noun} active`, kind, 'active: null', { active: null }, { active: true }),
  stored(
    `${noun} updatedAt`,
    kind,
    'a time with an offset',
    { updatedAt: '2026-01-15T12:00:00.5+02:00' },
    {
      updatedAt: '2026-01-15T10:00:00.500Z',
    },
  ),
  stored(`${noun} updatedAt`, kind, 'no time', { updatedAt: undefined }),
  stored(`${noun} updatedAt`, kind, 'null as its time', { updatedAt: null }, { updatedAt: undefined }),
];

const address = (change: Plain) => ({ address: { ...ADDRESS, ...change } });
const ADDRESS_LIMITS = { line1: 255, city: 100, state: 100, country: 100, zipCode: 20 };
const LIMITS = Object.entries(ADDRESS_LIMITS);
const LENGTHS = 'section 8 Address and material type lengths';
const NAMES = 'section 8 Site and kiosk name length';

const STORED: StoredRow[] = [
  ...common('sites', 'Site'),
  ...common('kiosks', 'Kiosk'),
  ...common('materials', 'Material'),
  stored('data.sites, Site name', 'sites', 'any text as its name', { name: 'tab\t, "quote", \\N, ü, 🚛' }),
  stored('Site name', 'sites', 'an empty name', { name: '' }),
  stored(NAMES, 'sites', 'a name of 255 characters', { name: text(255) }),
  stored(`${NAMES}; decision 8`, 'sites', 'a name of 255 code points of four bytes', { name: trucks(255) }),
  stored('Site address', 'sites', 'an address', { address: ADDRESS }),
  stored('Site address', 'sites', 'no address', {}, { address: undefined }),
  stored('Site address; decision 5', 'sites', 'null as its address', { address: null }, { address: undefined }),
  ...LIMITS.map(([field, max]) =>
    stored(`Address ${field}; ${LENGTHS}`, 'sites', `${field} of ${max} characters`, address({ [field]: text(max) })),
  ),
  stored('data.sites; decision 4', 'sites', 'unknown fields', { region: 'north' }, { region: undefined }),
  stored('data.kiosks, Kiosk siteId', 'kiosks', 'a known site', {}, { siteId: YARD }),
  stored('Kiosk name', 'kiosks', 'a name', { name: 'Inbound scale 1' }),
  stored(NAMES, 'kiosks', 'a name of 255 characters', { name: text(255) }),
  stored(
    'data.materials, Material siteId, links',
    'materials',
    'a site alone',
    {},
    { siteId: YARD, kioskId: undefined },
  ),
  stored('Material kioskId, links', 'materials', 'a kiosk alone', { siteId: undefined, kioskId: HUT }),
  stored(
    'links; decision 32',
    'materials',
    'both, of one site',
    { kioskId: HUT },
    { siteId: YARD, kioskId: HUT, flaggedReason: undefined },
  ),
  stored(
    'links; decision 32',
    'materials',
    'a kiosk of another site',
    { siteId: idOf('dump'), kioskId: HUT },
    {
      flaggedReason: `the kiosk ${HUT} belongs to the site ${YARD}`,
    },
  ),
  stored(`Material materialType; ${LENGTHS}`, 'materials', 'a type of 100 characters', {
    materialType: text(100),
  }),
  ...UNITS.map((measureUnit) =>
    stored('Material measureUnit', 'materials', `the unit ${measureUnit}`, { measureUnit }),
  ),
];

const refused = (row: string, kind: Kind, what: string, record: unknown, path: string, reason: string): RefusedRow => ({
  ...{ row: titled(row), kind, what, record, path, reason },
});

/** A required text of at most so many characters. */
const requiredText = (row: string, kind: Kind, field: string, max: number): RefusedRow[] => [
  refused(row, kind, `no ${field}`, of[kind]({ [field]: undefined }), `.${field}`, 'is required'),
  refused(row, kind, `${field}: null`, of[kind]({ [field]: null }), `.${field}`, 'is required'),
  refused(row, kind, `a number as ${field}`, of[kind]({ [field]: 7 }), `.${field}`, 'must be text'),
  refused(`${row}; decision 8`, kind, `U+0000 in ${field}`, of[kind]({ [field]: 'a\0' }), `.${field}`, 'U+0000'),
  refused(row, kind, `${field} of ${max + 1} characters`, of[kind]({ [field]: text(max + 1) }), `.${field}`, `${max}`),
];

const requiredId = (row: string, kind: Kind, field: string): RefusedRow[] => [
  refused(row, kind, `no ${field}`, of[kind]({ [field]: undefined }), `.${field}`, 'is required'),
  refused(row, kind, `${field}: null`, of[kind]({ [field]: null }), `.${field}`, 'is required'),
  refused(row, kind, `a number as ${field}`, of[kind]({ [field]: 7 }), `.${field}`, 'UUID'),
  refused(`${row}; decision 6`, kind, `text as ${field}`, of[kind]({ [field]: 'yard-1' }), `.${field}`, 'UUID'),
];

const REFUSED: RefusedRow[] = [
  ...requiredId('Site id', 'sites', 'id'),
  ...requiredText(`Site name; ${NAMES}`, 'sites', 'name', 255),
  refused('data.sites', 'sites', 'null as a record', null, '', 'must be an object'),
  refused('data.sites', 'sites', 'an array as a record', [], '', 'must be an object'),
  refused('Site id', 'sites', 'the id of an earlier record', site('yard', { name: 'Again' }), '.id', 'earlier'),
  ...requiredId('Kiosk id', 'kiosks', 'id'),
  ...requiredId('Kiosk siteId', 'kiosks', 'siteId'),
  refused(
    'Kiosk siteId; decision 32',
    'kiosks',
    'an unknown site',
    ofKiosk({ siteId: NOWHERE }),
    '.siteId',
    'known site',
  ),
  refused(
    'Kiosk siteId; decision 32',
    'kiosks',
    'a kiosk as its site',
    ofKiosk({ siteId: HUT }),
    '.siteId',
    'known site',
  ),
  refused(
    'Kiosk id',
    'kiosks',
    'the id of an earlier record',
    kiosk('hut', 'yard', { name: 'Again' }),
    '.id',
    'earlier',
  ),
  ...requiredText(`Kiosk name; ${NAMES}`, 'kiosks', 'name', 255),
  ...requiredId('Material id', 'materials', 'id'),
  ...requiredText(`Material materialType; ${LENGTHS}`, 'materials', 'materialType', 100),
  refused('Material siteId', 'materials', 'text as its site', ofMaterial({ siteId: 'yard' }), '.siteId', 'UUID'),
  refused('Material kioskId', 'materials', 'text as its kiosk', ofMaterial({ kioskId: 'hut' }), '.kioskId', 'UUID'),
  refused(
    'links; decision 32',
    'materials',
    'neither site nor kiosk',
    ofMaterial({ siteId: undefined }),
    '',
    'neither a siteId nor a kioskId',
  ),
  refused(
    'Material siteId; decision 32',
    'materials',
    'an unknown site',
    ofMaterial({ siteId: NOWHERE }),
    '.siteId',
    'known site',
  ),
  refused(
    'Material kioskId; decision 32',
    'materials',
    'an unknown kiosk',
    ofMaterial({ kioskId: NOWHERE }),
    '.kioskId',
    'known kiosk',
  ),
  refused(
    'Material kioskId; decision 32',
    'materials',
    'a site as its kiosk',
    ofMaterial({ kioskId: YARD }),
    '.kioskId',
    'known kiosk',
  ),
  refused(
    'Material measureUnit',
    'materials',
    'no unit',
    ofMaterial({ measureUnit: undefined }),
    '.measureUnit',
    'is required',
  ),
  refused(
    'Material measureUnit',
    'materials',
    'a unit of tickets alone',
    ofMaterial({ measureUnit: 'Gallon' }),
    '.measureUnit',
    'one of',
  ),
  refused(
    'Material measureUnit',
    'materials',
    'a unit in lower case',
    ofMaterial({ measureUnit: 'ton' }),
    '.measureUnit',
    'one of',
  ),
];

/** Empty, without a zone, no day of the calendar, of another type, the zero of a clock, or of next century. */
const UNREAD_TIMES = [
  ...[
    '',
    '2026-01-15T10:00:00',
    '2026-02-30T00:00:00Z',
    '2026-01-15',
    'yesterday',
    1768471200,
    {},
    ['2026-01-15T10:00:00Z'],
  ],
  ...['0001-01-01T00:00:00Z', '0001-01-01T00:00:00+02:00', '0000-00-00T00:00:00Z', '1900-01-01T00:00:00Z'],
  ...['1970-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '2126-01-15T10:00:00Z'],
];

/** Optional parts that cannot be read: they are left out and flagged, the record is kept. */
const LEFT_OUT: RefusedRow[] = [
  ...LIMITS.flatMap(([field, max]) => [
    refused(
      `Address ${field}`,
      'sites',
      `an address without ${field}`,
      ofSite(address({ [field]: undefined })),
      '.address',
      field,
    ),
    refused(
      `Address ${field}`,
      'sites',
      `${field} of ${max + 1} characters`,
      ofSite(address({ [field]: text(max + 1) })),
      '.address',
      field,
    ),
  ]),
  ...['Austin', 7, true, [], [ADDRESS], {}].map((value) =>
    refused(
      'Site address',
      'sites',
      `${JSON.stringify(value)} as its address`,
      ofSite({ address: value }),
      '.address',
      '',
    ),
  ),
  ...[null, 78744, ['78744'], 'a\0'].map((zipCode) =>
    refused(
      'Address zipCode',
      'sites',
      `${JSON.stringify(zipCode)} as zipCode`,
      ofSite(address({ zipCode })),
      '.address',
      '',
    ),
  ),
  ...KINDS.flatMap((kind) => {
    const noun = { sites: 'Site', kiosks: 'Kiosk', materials: 'Material' }[kind];
    return [
      ...['yes', 'true', '', 1, [], {}].map((active) =>
        refused(`${noun} active`, kind, `active: ${JSON.stringify(active)}`, of[kind]({ active }), '.active', 'active'),
      ),
      ...UNREAD_TIMES.map((updatedAt) =>
        refused(
          `${noun} updatedAt`,
          kind,
          `updatedAt: ${JSON.stringify(updatedAt)}`,
          of[kind]({ updatedAt }),
          '.updatedAt',
          '',
        ),
      ),
    ];
  }),
];

const FIRST: Record<Kind, unknown[]> = {
  sites: [site('yard'), site('dump')],
  kiosks: [kiosk('hut', 'yard')],
  materials: [],
};
const ROWS: Row[] = [...STORED, ...REFUSED, ...LEFT_OUT];
const listOf = (kind: Kind): unknown[] => [
  ...FIRST[kind],
  ...ROWS.flatMap((row) => (row.kind === kind ? [row.record] : [])),
];
const placeOf = ({ kind, record }: Row): string => `${kind}[${listOf(kind).indexOf(record)}]`;

describe('a record of a partner', () => {
  let run: SyncRun;
  let issues: Map<string, Issue>;
  let kept: Map<string, CatalogRecord>;
  beforeAll(async () => {
    const hauler = await Hauler.create();
    const [sites, kiosks, materials] = KINDS.map((kind) => listOf(kind) as Plain[]);
    run = await hauler.sync({ sites, kiosks, materials });
    issues = new Map((await issuesOf(hauler, run)).map((issue) => [issue.path, issue]));
    const all = await Promise.all(KINDS.map((kind) => catalog(hauler, kind)));
    kept = new Map(all.flat().map((each) => [each.externalId, each]));
  });
  const storedOf = ({ record }: Row) => kept.get(String((record as Plain)['id']).toLowerCase());

  test('never fails the run that has a malformed one (decision 33)', () => {
    expect(run).toMatchObject({ status: 'succeeded', counts: { sites: { received: listOf('sites').length } } });
  });

  test('has an id of our own beside the id of the partner (decision 31)', () => {
    const yard = kept.get(YARD);
    expect(yard).toMatchObject({ externalId: YARD, name: 'Site yard', active: true, updatedAt: STAMP });
    expect(yard?.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(yard?.id).not.toBe(YARD);
  });

  test.each(STORED)('of $kind with $what is stored ($row)', (row) => {
    const found = storedOf(row);
    expect(found).toMatchObject(
      Object.fromEntries(Object.entries(row.stored).filter(([, value]) => value !== undefined)),
    );
    for (const [field, value] of Object.entries(row.stored)) {
      expect([field, field in (found ?? {})]).toEqual([field, value !== undefined]);
    }
  });

  test.each(REFUSED)('of $kind with $what is quarantined with its path, its reason and its raw form ($row)', (row) => {
    const issue = issues.get(placeOf(row) + row.path);
    expect(issue).toMatchObject({
      severity: 'quarantined',
      kind: row.kind,
      reason: expect.stringContaining(row.reason),
    });
    expect(issue?.raw).toEqual(JSON.parse(JSON.stringify(row.record)));
  });

  test.each(LEFT_OUT)('of $kind with $what is kept without it, and flagged ($row; decision 33)', (row) => {
    const [part = ''] = row.path.slice(1).split('.');
    const found = storedOf(row);
    expect(found).toBeDefined();
    expect(found).not.toHaveProperty(part === 'active' ? 'deactivatedAt' : part);
    const flags = [...issues.values()].filter(({ path }) => path.startsWith(placeOf(row) + row.path));
    expect(flags).toMatchObject([{ severity: 'flagged', reason: expect.stringContaining(part) }]);
  });

  test('whose kiosk belongs to another site is kept and flagged with its path (section 2.4a links; decision 32)', () => {
    const row = STORED.find(({ what }) => what === 'a kiosk of another site') as StoredRow;
    expect(issues.get(`${placeOf(row)}.kioskId`)).toMatchObject({ severity: 'flagged', kind: 'materials' });
  });
});

// Source: 7 of 8 sites had no postal code; all were quarantined, and every ticket was refused with 422.
test('what names a record without its optional parts is taken, and a second list changes nothing (decision 33)', async () => {
  const hauler = await Hauler.create();
  const data = {
    sites: [site('bare', { ...address({ zipCode: undefined }), active: 'yes', updatedAt: '' })],
    kiosks: [kiosk('gate', 'bare', { updatedAt: '0001-01-01T00:00:00Z' })],
    materials: [material('soil', { kioskId: idOf('gate'), active: 1 })],
  };
  const flagged = (change: Plain) => ({ received: 1, flagged: 1, quarantined: 0, ...change });
  const all = (change: Plain) => Object.fromEntries(KINDS.map((kind) => [kind, flagged(change)]));
  expect(await hauler.sync(data)).toMatchObject({ status: 'succeeded', counts: all({ created: 1 }) });
  const line = { id: idOf('soil'), name: 'Soil', quantity: 1, unitOfMeasure: 'Ton' };
  expect((await hauler.push({ siteId: idOf('bare'), materials: [line] })).status).toBe(200);
  expect(await hauler.sync(data)).toMatchObject({ status: 'succeeded', counts: all({ unchanged: 1 }) });
  const reason = (await issuesOf(hauler, await hauler.sync(data))).find(({ kind }) => kind === 'sites')?.reason;
  for (const part of ['address.zipCode', 'active', 'updatedAt']) expect(reason).toContain(part);
});
