import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from '../../support/fast-check.js';
import { absentCases, acceptedCases, type Field, refusedCases, valueAt, withValue } from '../support/fields.js';
import { flow, Hauler, ONE_SITE, paths, type Plain, TICKET } from '../support/hauler.js';
import { type Answered, countOf, expectError, postAs, POSTS, unique } from '../support/posts.js';
import { administer } from '../support/target.js';

const [POST] = POSTS as [(typeof POSTS)[0]];
const TRUCK = '🚛';
const [MATERIAL] = TICKET.materials as [(typeof TICKET.materials)[0]];

/** A ticket with every field, another one each time. */
const ticket = (): Plain => ({
  ...TICKET,
  materials: [{ ...MATERIAL, unitPriceCents: 15.5 }],
  inboundFlow: flow(unique()),
  outboundFlow: flow(unique()),
  customFields: { crew: 'A' },
});

const lines = (count: number) => Array.from({ length: count }, () => MATERIAL);
const custom = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`name ${i}`, 'v']));
/** At the limit in characters of one and of two UTF-16 units. */
const atMost = (max: number) => ['x'.repeat(max), TRUCK.repeat(max)];
const tooLong = (max: number) => ['x'.repeat(max + 1), `${TRUCK.repeat(max)}x`];
const TEXTS = ['ﬁne Å', ' blanks ', 'ع\u202e', '日本', '🚛🏽‍♀️', 'a\u0001\t\n', '"\\/', "'; DROP TABLE tickets; --"];
const NO_UUID = [
  ...['', '0b8f6f0e3c554b7e8f0a2f7f7a9f1c10', '{0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10}'],
  ...['0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c1', '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c100'],
  ...['0b8f6f0g-3c55-4b7e-8f0a-2f7f7a9f1c10', '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10\n'],
];
const NO_TIME = [
  ...['', 'yesterday', '2026-01-31', '2026-01-31T08:30:00', '2026-01-31 08:30:00Z', '2026-02-29T00:00:00Z'],
  ...['2026-13-01T00:00:00Z', '2026-01-31T24:00:00Z', '2026-01-31T08:30Z', '2026-01-31T08:30:00+0100'],
];
const UNITS = ['Ton', 'Gallon', 'Pound', 'Kilogram', 'Cubic Yard', 'Cubic Meter', 'Item'];

const required = { may: 'not be absent' } as const;
const optional = { may: 'be absent or null' } as const;
const FIELDS: readonly Field[] = [
  { path: 'siteId', rows: 'section 2.2 siteId; decision 6', type: 'text', ...required, good: [], bad: NO_UUID },
  {
    path: 'materials',
    rows: 'section 2.2 materials; section 8 materials array size; decision 9',
    ...{ type: 'array', ...required, good: [lines(1), lines(1000)], bad: [[], lines(1001)] },
  },
  { path: 'materials[0]', rows: 'section 2.2 materials', type: 'object', may: 'be absent', good: [], bad: [] },
  {
    path: 'materials[0].id',
    rows: 'section 2.2 MaterialItem id; decision 6',
    ...{ type: 'text', ...required, good: [], bad: NO_UUID },
  },
  {
    path: 'materials[0].name',
    rows: 'section 2.2 MaterialItem name; decision 9',
    ...{ type: 'text', ...required, good: ['', ...atMost(255), ...TEXTS], bad: tooLong(255) },
  },
  {
    path: 'materials[0].quantity',
    rows: 'section 2.2 MaterialItem quantity; decision 25',
    ...{ type: 'number', ...required, good: [0, -1, 12.5, 1e21, Number.MAX_VALUE], bad: [] },
  },
  {
    path: 'materials[0].unitPriceCents',
    rows: 'section 2.2 MaterialItem unitPriceCents; decision 25',
    ...{ type: 'number', ...optional, good: [15.5, 0, -0.1, Number.MIN_VALUE], bad: [] },
  },
  {
    path: 'materials[0].unitOfMeasure',
    rows: 'section 2.2 MaterialItem unitOfMeasure',
    ...{ type: 'text', ...required, good: UNITS, bad: ['ton', 'TON', ' Ton', 'Tons', '', 'Short Ton'] },
  },
  ...['inboundFlow', 'outboundFlow'].flatMap((path): Field[] => [
    { path, rows: `section 2.2 ${path}`, type: 'object', ...optional, good: [], bad: [] },
    {
      path: `${path}.ticketNumber`,
      rows: `section 2.2 ${path}, FlowData ticketNumber; decisions 9, 22`,
      ...{ type: 'text', ...required, good: ['x', ' x ', ...atMost(255), ...TEXTS] },
      bad: ['', ' ', '\u00a0\u3000', ...tooLong(255)],
    },
    {
      path: `${path}.updatedAt`,
      rows: `section 2.2 ${path}, FlowData updatedAt; decision 7`,
      ...{ type: 'text', ...required, good: ['2026-01-31T08:30:00Z', '2026-01-31T08:30:00.120Z'], bad: NO_TIME },
    },
  ]),
  {
    path: 'customFields',
    rows: 'section 2.2 customFields; decision 9',
    ...{ type: 'object', ...optional, good: [custom(1), custom(100)], bad: [custom(101)] },
  },
  {
    path: 'customFields.crew',
    rows: 'section 2.2 customFields; decisions 5, 9',
    ...{ type: 'text', may: 'be absent', good: ['', ...atMost(4000), ...TEXTS], bad: tooLong(4000) },
  },
];

let hauler: Hauler;
beforeAll(async () => {
  hauler = await Hauler.create({ sites: ONE_SITE });
});

const push = (body: unknown) => postAs(hauler, POST, body);
const stored = (id: unknown) => administer<Plain>('GET', `/tickets/${String(id)}`);

async function storedOf(reply: Answered): Promise<Plain> {
  expect(reply.body).toEqual({ success: true, disposalTicketId: expect.stringMatching(/^[0-9a-f-]{36}$/) });
  return stored(reply.body['disposalTicketId']);
}

describe('a field of a ticket', () => {
  // An empty list and an empty object are of the type; a flow needs its fields.
  const refused = refusedCases(FIELDS).filter(({ path, value }) => path !== 'materials[0]' || value !== undefined);

  test.each(refused)('$path that is $what is 400 ($rows; section 4.1 400; section 7 400 Scale)', async (row) => {
    const reply = await push(withValue(ticket(), row.path, row.value));
    expectError(reply, 400);
    expect(paths(reply)).toEqual([row.path]);
    expect(reply.body.error.message).toContain(row.path);
  });

  test.each(acceptedCases(FIELDS))('$path that is $what is stored as it was sent ($rows)', async (row) => {
    expect(valueAt(await storedOf(await push(withValue(ticket(), row.path, row.value))), row.path)).toEqual(row.value);
  });

  test.each(absentCases(FIELDS).filter(({ path }) => path !== 'materials[0]'))(
    '$path that is $what is not stored, and no reason to refuse ($rows; decision 5)',
    async ({ path, value }) => {
      expect(valueAt(await storedOf(await push(withValue(ticket(), path, value))), path)).toBeUndefined();
    },
  );

  test('a refused ticket is not stored (section 7 400 Scale)', async () => {
    const before = await countOf(hauler, POST);
    await push({ ...ticket(), siteId: 'x' });
    expect(await countOf(hauler, POST)).toBe(before);
  });
});

test.each(['inboundFlow', 'outboundFlow'])('%s without its fields names both (section 2.2 inboundFlow)', async (path) =>
  expect(paths(await push({ ...ticket(), [path]: {} }))).toEqual([`${path}.ticketNumber`, `${path}.updatedAt`]),
);

test.each(['\u200b\u2060', '\u00ad', '\u200e\u202e \u2069', '\ufe0f\u034f', '\u0001\t\n'])(
  'a ticket number of characters alone that are not shown, %j, is blank (decisions 22, 27)',
  async (number) => expectError(await push({ ...TICKET, inboundFlow: flow(number) }), 400),
);

test('ticket numbers are compared as they were sent: a zero width makes another one (decision 20)', async () => {
  const ids = [];
  for (const number of ['IN-77', 'IN-\u200b77', 'IN-77\u00ad']) {
    ids.push((await push({ ...TICKET, inboundFlow: flow(number) })).body.disposalTicketId);
  }
  expect(new Set(ids).size).toBe(3);
});

test('ids may have either case, and are stored and answered in lower case (decision 6)', async () => {
  const reply = await push({
    siteId: TICKET.siteId.toUpperCase(),
    materials: [{ ...MATERIAL, id: MATERIAL.id.toUpperCase() }],
  });
  expect(await storedOf(reply)).toMatchObject(TICKET);
});

test('each violation is named at once, with path, rule and a sentence (section 2.1 error.details; decision 11)', async () => {
  const reply = await push({
    siteId: 'x',
    materials: [5, { id: 1, name: '\0', quantity: 'q', unitPriceCents: 'p', unitOfMeasure: 'Tons' }, null],
    inboundFlow: { ticketNumber: 1, updatedAt: 2 },
    outboundFlow: [],
    customFields: { a: 1, 'b.c': null, d: 'fine' },
  });
  expectError(reply, 400);
  const rules = reply.body.error.details?.violations?.map(({ path, rule }) => `${path} ${rule}`);
  expect(rules?.toSorted()).toEqual(
    [
      'siteId isUuid',
      'materials[0] isObject',
      'materials[1].id isUuid',
      'materials[1].name isText',
      'materials[1].quantity isNumber',
      'materials[1].unitPriceCents isNumber',
      'materials[1].unitOfMeasure isEnum',
      'materials[2] isObject',
      'inboundFlow.ticketNumber isLength',
      'inboundFlow.updatedAt isInstant',
      'outboundFlow isObject',
      'customFields.a isTextMap',
      'customFields["b.c"] isTextMap',
    ].toSorted(),
  );
});

describe('a time', () => {
  test.each([
    ['2026-01-31t08:30:00z', '2026-01-31T08:30:00Z'],
    ['2026-01-31T08:30:00.5+02:00', '2026-01-31T06:30:00.500Z'],
    ['2026-01-31T23:30:00.123456789-05:30', '2026-02-01T05:00:00.123Z'],
    ['2024-02-29T00:00:00-00:00', '2024-02-29T00:00:00Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
  ])('%s is answered as %s (section 2.2 FlowData updatedAt; decision 7)', async (updatedAt, answered) => {
    const found = await storedOf(await push({ ...TICKET, outboundFlow: { ticketNumber: unique(), updatedAt } }));
    expect(valueAt(found, 'outboundFlow.updatedAt')).toBe(answered);
  });

  test('a + of a query that arrives as a blank is read as + (decision 7)', async () => {
    const query = (offset: string) => `/tickets?haulerId=${hauler.id}&from=2026-01-31T10:30:00${offset}`;
    expect(await administer('GET', query('+02:00'))).toEqual(await administer('GET', query('%2B02:00')));
  });
});

describe('the name of a custom field', () => {
  test('is limited by code points, and named where it is too long (section 2.2 customFields; decision 9)', async () => {
    const name = TRUCK.repeat(255);
    expect(await storedOf(await push({ ...TICKET, customFields: { [name]: 'v' } }))).toMatchObject({
      customFields: { [name]: 'v' },
    });
    expect(paths(await push({ ...TICKET, customFields: { [`${name}x`]: 'v' } }))).toEqual([`customFields["${name}x"]`]);
    const huge = await push({ ...TICKET, customFields: { ['x'.repeat(500_000)]: 'v' } });
    expect(paths(huge)).toEqual([`customFields["${'x'.repeat(511)}…"]`]);
  });

  test('may be any text, also one that objects of JavaScript have (section 2.2 customFields; decision 4)', async () => {
    const names = ['__proto__', 'constructor', 'toString', '0', 'a.b', 'a[0]', '"', '$1', ''];
    const fields = names.map((name) => `${JSON.stringify(name)}:"v"`).join(',');
    const found = await storedOf(await push(`${JSON.stringify(TICKET).slice(0, -1)},"customFields":{${fields}}}`));
    expect(Object.keys(found['customFields'] as Plain).sort()).toEqual(names.toSorted());
    expect(new Set(Object.values(found['customFields'] as Plain))).toEqual(new Set(['v']));
  });
});

describe('a number', () => {
  const raw = (text: string) =>
    JSON.stringify({ ...TICKET, materials: [{ ...MATERIAL, quantity: '@' }] }).replace('"@"', text);

  test.each(['1e309', '-1e309', `1${'0'.repeat(400)}`])('%.12s is no double: 400 (decision 25)', async (text) =>
    expect(paths(await push(raw(text)))).toEqual(['materials[0].quantity']),
  );

  test.each([
    ...['-0', '0.0', '0.1', '0.30000000000000004', '1E-7', '5e-324', '2.2250738585072014e-308', '1e-400'],
    ...['1.7976931348623157e308', '9007199254740993', '123456789012345678901234567890'],
  ])('%s is stored and answered as that double (decision 25)', async (text) => {
    const found = await storedOf(await push(raw(text)));
    expect(Object.is(valueAt(found, 'materials[0].quantity'), Number(text))).toBe(true);
  });

  test('any finite double is answered bit by bit (decision 25)', async () => {
    const doubles = fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 50, maxLength: 50 });
    const property = fc.asyncProperty(doubles, async (quantities) => {
      const numbers = quantities.map((one) => (Object.is(one, -0) ? '-0' : String(one))).values();
      const body = JSON.stringify({ ...TICKET, materials: quantities.map(() => ({ ...MATERIAL, quantity: '@' })) });
      const found = await storedOf(await push(body.replaceAll('"@"', () => numbers.next().value ?? '')));
      const kept = (found['materials'] as Plain[]).map(({ quantity }) => quantity);
      expect(kept.filter((quantity, i) => !Object.is(quantity, quantities[i]))).toEqual([]);
    });
    await fc.assert(property, { numRuns: 10, seed: 25 });
  });
});

test('an unknown field is ignored, and kept in the raw push (decisions 4, 23)', async () => {
  const sent = { ...ticket(), future: { deep: [1] }, materials: [{ ...MATERIAL, colour: 'red' }] };
  const { body } = await push(sent);
  expect(JSON.stringify(await stored(body['disposalTicketId']))).not.toMatch(/future|colour/);
  const path = `/tickets/${String(body['disposalTicketId'])}/revisions`;
  expect((await administer<{ data: { body: unknown }[] }>('GET', path)).data).toMatchObject([{ body: sent }]);
});
