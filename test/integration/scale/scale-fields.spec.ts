import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SCALE_API } from '../../../src/contracts/scale/scale.api.js';
import { UNITS_OF_MEASURE } from '../../../src/contracts/scale/scale.dto.js';
import { describeIdempotency } from '../../shared/idempotency.battery.js';
import { describeJsonBody } from '../../shared/json-body.battery.js';
import type { PostEndpoint } from '../../shared/post-endpoint.js';
import { startTestApp, type TestApp } from '../../support/app.js';
import { CatalogFixture } from '../../support/catalog.js';
import { ScaleHouse, TICKETS } from '../../support/scale-house.js';

const TRUCK = '🚛';

let service: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  service = await startTestApp();
  house = await ScaleHouse.open(service);
});
afterAll(() => service.close());

type Over = Record<string, unknown>;
const NOT_TEXT = [null, 5, true, {}, [], ['x']];
const flow = (over: Over = {}) => ({ ticketNumber: 'N', updatedAt: '2026-01-31T08:30:00Z', ...over });
const material = (over: Over) => ({ materials: [house.material(), house.material(over)] });
const fields = (count: number, name = (i: number) => `name ${i}`) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [name(i), 'v']));

describe('required fields (section 2.2)', () => {
  test.each<[string, Over, string[]]>([
    ['siteId', { siteId: undefined }, ['siteId']],
    ['materials', { materials: undefined }, ['materials']],
    ['at least one material', { materials: [] }, ['materials']],
    ['both at once', { siteId: null, materials: null }, ['siteId', 'materials']],
  ])('%s', async (_what, over, expected) => house.expectRefused(house.ticket(over), expected));

  test.each(['id', 'name', 'quantity', 'unitOfMeasure'])('materials[].%s', async (name) => {
    for (const absent of [undefined, null])
      await house.expectRefused(house.ticket(material({ [name]: absent })), [`materials[1].${name}`]);
  });

  test.each(['inboundFlow', 'outboundFlow'])('%s.ticketNumber and .updatedAt', async (direction) => {
    await house.expectRefused(house.ticket({ [direction]: {} }), [
      `${direction}.ticketNumber`,
      `${direction}.updatedAt`,
    ]);
    await house.expectRefused(house.ticket({ [direction]: flow({ updatedAt: null }) }), [`${direction}.updatedAt`]);
  });

  test('no other field; null is the same as absent (decision 5)', async () => {
    const id = await house.expectAccepted({ inboundFlow: null, outboundFlow: null, customFields: null, x: null });
    const stored = await house.stored(id);
    expect(Object.keys(stored).sort()).toEqual(['createdAt', 'haulerId', 'id', 'materials', 'siteId', 'updatedAt']);
    const priced = await house.expectAccepted(material({ unitPriceCents: null }));
    expect((await house.stored(priced)).materials[1]).not.toHaveProperty('unitPriceCents');
  });

  test('every violation is reported, with its path, rule and sentence (decision 11)', async () => {
    await house.expectRefused(
      {
        siteId: 'x',
        materials: [
          5,
          house.material({ id: 1, name: 2, quantity: 'q', unitPriceCents: 'p', unitOfMeasure: 'Tons' }),
          null,
        ],
        inboundFlow: { ticketNumber: 1, updatedAt: 2 },
        outboundFlow: [],
        customFields: { a: 1, 'b.c': null, d: 'fine' },
      },
      [
        'siteId',
        'materials[0]',
        'materials[1].id',
        'materials[1].name',
        'materials[1].quantity',
        'materials[1].unitPriceCents',
        'materials[1].unitOfMeasure',
        'materials[2]',
        'inboundFlow.ticketNumber',
        'inboundFlow.updatedAt',
        'outboundFlow',
        'customFields.a',
        'customFields["b.c"]',
      ],
    );
  });
});

describe('wrong types at any depth', () => {
  const cases: [string, (value: unknown) => Over, unknown[]][] = [
    ['siteId', (value) => ({ siteId: value }), NOT_TEXT],
    ['materials', (value) => ({ materials: value }), [null, 5, 'x', true, {}]],
    ['materials[1]', (value) => ({ materials: [house.material(), value] }), [null, 5, 'x', true, [], [[]]]],
    ['materials[1].id', (value) => material({ id: value }), NOT_TEXT],
    ['materials[1].name', (value) => material({ name: value }), NOT_TEXT],
    ['materials[1].quantity', (value) => material({ quantity: value }), [null, '5', true, {}, [], [5]]],
    ['materials[1].unitPriceCents', (value) => material({ unitPriceCents: value }), ['5', false, {}, [5]]],
    [
      'materials[1].unitOfMeasure',
      (value) => material({ unitOfMeasure: value }),
      [...NOT_TEXT, 'ton', 'TON', ' Ton', '', ['Ton']],
    ],
    ['inboundFlow', (value) => ({ inboundFlow: value }), [5, 'x', true, [], [flow()]]],
    ['outboundFlow', (value) => ({ outboundFlow: value }), [0, '', false, []]],
    ['inboundFlow.ticketNumber', (value) => ({ inboundFlow: flow({ ticketNumber: value }) }), NOT_TEXT],
    ['outboundFlow.updatedAt', (value) => ({ outboundFlow: flow({ updatedAt: value }) }), [...NOT_TEXT, 1_700_000_000]],
    ['customFields', (value) => ({ customFields: value }), [5, 'x', true, [], ['x']]],
    ['customFields.a', (value) => ({ customFields: { a: value } }), [null, 5, true, {}, []]],
  ];
  test.each(cases)('%s', async (path, over, values) => {
    for (const value of values) await house.expectRefused(house.ticket(over(value)), [path]);
  });
});

describe('identifiers (decision 6)', () => {
  test.each([
    ['', 'empty'],
    ['0b8f6f0e3c554b7e8f0a2f7f7a9f1c10', 'without hyphens'],
    ['{0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10}', 'in braces'],
    ['0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c1', 'too short'],
    ['0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c100', 'too long'],
    ['0b8f6f0g-3c55-4b7e-8f0a-2f7f7a9f1c10', 'no hexadecimal'],
    ['0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10\n', 'with a line break'],
  ])('%j: %s', async (id) => {
    await house.expectRefused(house.ticket({ siteId: id }), ['siteId']);
    await house.expectRefused(house.ticket(material({ id })), ['materials[1].id']);
  });

  test('either case is accepted; lower case is stored and returned', async () => {
    const id = await house.expectAccepted({
      siteId: house.siteId.toUpperCase(),
      ...material({ id: house.materialId.toUpperCase() }),
    });
    expect(id).toBe(id.toLowerCase());
    expect(await house.stored(id)).toMatchObject({
      siteId: house.siteId,
      materials: [{ id: house.materialId }, { id: house.materialId }],
    });
  });
});

describe('times (decision 7)', () => {
  test.each([
    '2026-01-31',
    '2026-01-31T08:30:00',
    '2026-01-31 08:30:00Z',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T08:30Z',
    '2026-01-31T08:30:00.Z',
    '2026-01-31T08:30:00+0100',
    'yesterday',
    '',
  ])('%j: 400', async (updatedAt) =>
    house.expectRefused(house.ticket({ inboundFlow: flow({ updatedAt }) }), ['inboundFlow.updatedAt']),
  );

  test.each([
    ['2026-01-31T08:30:00Z', '2026-01-31T08:30:00Z'],
    ['2026-01-31t08:30:00z', '2026-01-31T08:30:00Z'],
    ['2026-01-31T08:30:00.5+02:00', '2026-01-31T06:30:00.500Z'],
    ['2026-01-31T23:30:00.123456789-05:30', '2026-02-01T05:00:00.123Z'],
    ['2024-02-29T00:00:00-00:00', '2024-02-29T00:00:00Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00Z'],
    ['2025-12-31T23:59:59.999999Z', '2025-12-31T23:59:59.999Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
  ])('%s is returned as %s', async (updatedAt, answered) => {
    const id = await house.expectAccepted({ outboundFlow: flow({ ticketNumber: `T ${updatedAt}`, updatedAt }) });
    expect((await house.stored(id)).outboundFlow).toEqual({ ticketNumber: `T ${updatedAt}`, updatedAt: answered });
  });
});

describe('the limits of decision 9', () => {
  test('1,000 materials are accepted, 1,001 and 10,000 are not', async () => {
    const many = (count: number) => ({ materials: Array.from({ length: count }, () => house.material()) });
    const id = await house.expectAccepted(many(1000));
    expect((await house.stored(id)).materials).toHaveLength(1000);
    await house.expectRefused(house.ticket(many(1001)), ['materials']);
    const lean = { materials: Array.from({ length: 10_000 }, () => ({ id: house.materialId, name: '', quantity: 1 })) };
    await house.expectRefused(house.ticket(lean), ['materials']);
  });

  test('100 custom fields are accepted, 101 are not', async () => {
    const id = await house.expectAccepted({ customFields: fields(100) });
    expect((await house.stored(id)).customFields).toEqual(fields(100));
    await house.expectRefused(house.ticket({ customFields: fields(101) }), ['customFields']);
  });

  test.each<[string, (text: string) => Over, number, string]>([
    ['a ticket number', (text) => ({ inboundFlow: flow({ ticketNumber: text }) }), 255, 'inboundFlow.ticketNumber'],
    ['a material name', (text) => material({ name: text }), 255, 'materials[1].name'],
    ['a custom value', (text) => ({ customFields: { a: text } }), 4000, 'customFields.a'],
  ])('%s is limited by code points', async (_what, over, max, path) => {
    await house.expectAccepted(over('x'.repeat(max)));
    await house.expectAccepted(over(TRUCK.repeat(max)));
    await house.expectRefused(house.ticket(over('x'.repeat(max + 1))), [path]);
    await house.expectRefused(house.ticket(over(TRUCK.repeat(max) + 'x')), [path]);
  });

  test('the name of a custom field is limited by code points', async () => {
    const name = TRUCK.repeat(255);
    const id = await house.expectAccepted({ customFields: { [name]: 'v' } });
    expect((await house.stored(id)).customFields).toEqual({ [name]: 'v' });
    await house.expectRefused(house.ticket({ customFields: { [`${name}x`]: 'v' } }), [`customFields["${name}x"]`]);
  });

  test('a name that is far too long is shortened in the message', async () => {
    const path = `customFields["${'x'.repeat(511)}…"]`;
    await house.expectRefused(house.ticket({ customFields: { ['x'.repeat(500_000)]: 'v' } }), [path]);
  });

  test('an empty ticket number is refused; an empty material name, custom name and value are accepted', async () => {
    await house.expectRefused(house.ticket({ inboundFlow: flow({ ticketNumber: '' }) }), ['inboundFlow.ticketNumber']);
    const id = await house.expectAccepted({ ...material({ name: '' }), customFields: { '': '' } });
    expect(await house.stored(id)).toMatchObject({ materials: [{}, { name: '' }], customFields: { '': '' } });
  });
});

test.each(UNITS_OF_MEASURE.map((unit) => [unit]))('unitOfMeasure %s', async (unitOfMeasure) => {
  const id = await house.expectAccepted(material({ unitOfMeasure }));
  expect((await house.stored(id)).materials[1]).toMatchObject({ unitOfMeasure });
});

describe('text (decision 8)', () => {
  const places: [string, (text: string) => string, string][] = [
    [
      'a material name',
      (text) => JSON.stringify(house.ticket(material({ name: '@' }))).replace('@', text),
      'materials[1].name',
    ],
    [
      'a ticket number',
      (text) => JSON.stringify(house.ticket({ inboundFlow: flow({ ticketNumber: '@' }) })).replace('@', text),
      'inboundFlow.ticketNumber',
    ],
    [
      'a custom value',
      (text) => JSON.stringify(house.ticket({ customFields: { a: '@' } })).replace('@', text),
      'customFields.a',
    ],
  ];
  test.each(places)('U+0000 and lone surrogates in %s are refused', async (_what, body, path) => {
    for (const escape of ['\\u0000', '\\ud800', '\\udfffx', 'x\\uD83D\\u0041', '\\ude00\\ud83d'])
      await house.expectRefused(body(escape), [path]);
  });

  test('every violation is reported, each path once', async () => {
    const body =
      '{"siteId":"a\\u0000","materials":[{"name":"\\ud800"}],"inboundFlow":{"ticketNumber":"\\u0000"},"customFields":{"a":"\\u0000"}}';
    await house.expectRefused(body, [
      'siteId',
      'materials[0].name',
      'inboundFlow.ticketNumber',
      'customFields.a',
      'materials[0].id',
      'materials[0].quantity',
      'materials[0].unitOfMeasure',
      'inboundFlow.updatedAt',
    ]);
  });

  test('text in other scripts is returned as it was sent, not normalised and not trimmed', async () => {
    const texts = [
      'ﬁne Å',
      'Å',
      ' blanks ',
      'ع\u202e',
      '日本',
      '🚛🏽‍♀️',
      '\u0001\t\n',
      '"\\/',
      '%00',
      "'; DROP TABLE tickets; --",
    ];
    for (const text of texts) {
      const id = await house.expectAccepted({
        ...material({ name: text }),
        customFields: { [text]: text },
        inboundFlow: flow({ ticketNumber: text }),
      });
      expect(await house.stored(id)).toMatchObject({
        materials: [{}, { name: text }],
        customFields: { [text]: text },
        inboundFlow: { ticketNumber: text },
      });
    }
  });
});

describe('custom fields of any name', () => {
  const names = [
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    '__defineGetter__',
    'valueOf',
    '0',
    'a.b',
    'a[0]',
    '"',
    '$1',
    '',
  ];

  test('are stored as data', async () => {
    const body = `${JSON.stringify(house.ticket()).slice(0, -1)},"customFields":{${names.map((name) => `${JSON.stringify(name)}:"v"`).join(',')}}}`;
    const reply = await house.push(body);
    expect(reply.status).toBe(200);
    const stored = (await house.stored(reply.body.disposalTicketId)).customFields ?? {};
    expect(Object.keys(stored).sort()).toEqual([...names].sort());
    expect(Object.values(stored)).toEqual(names.map(() => 'v'));
    expect(({} as Record<string, unknown>)['v']).toBeUndefined();
    const [revision] = await house.revisions(reply.body.disposalTicketId);
    expect(Object.keys(revision?.body['customFields'] as object).sort()).toEqual([...names].sort());
  });

  test('have text values', async () => {
    const body = `${JSON.stringify(house.ticket()).slice(0, -1)},"customFields":{"__proto__":{"x":1},"constructor":1}}`;
    await house.expectRefused(body, ['customFields.__proto__', 'customFields.constructor']);
  });
});

describe('numbers (decision 25)', () => {
  const raw = (text: string) =>
    JSON.stringify(house.ticket(material({ quantity: '@', unitPriceCents: '@' }))).replaceAll('"@"', text);

  test.each(['1e309', '-1e309', '1e400', `1${'0'.repeat(400)}`])('%.12s is not a double: 400', async (text) =>
    house.expectRefused(raw(text), ['materials[1].quantity', 'materials[1].unitPriceCents']),
  );

  test.each([
    '0',
    '-0',
    '0.0',
    '-1',
    '15.5',
    '0.1',
    '0.30000000000000004',
    '1e21',
    '1E-7',
    '5e-324',
    '2.2250738585072014e-308',
    '1.7976931348623157e308',
    '-1.7976931348623157e+308',
    '9007199254740993',
    '123456789012345678901234567890',
    '1e-400',
  ])('%s is stored and returned as that double', async (text) => {
    const { body } = await house.push(raw(text));
    const [, stored] = (await house.stored(body.disposalTicketId)).materials;
    expect(stored).toEqual({ ...house.material(), quantity: Number(text), unitPriceCents: Number(text) });
  });

  test('any finite double is returned bit by bit', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 20, maxLength: 20 }),
        async (quantities) => {
          const body = JSON.stringify(
            house.ticket({ materials: quantities.map(() => house.material({ quantity: '@' })) }),
          );
          const numbers = quantities.values();
          const exact = body.replaceAll('"@"', () => {
            const number = numbers.next().value ?? 0;
            return Object.is(number, -0) ? '-0' : String(number);
          });
          const reply = await house.push(exact);
          const { materials } = await house.stored(reply.body.disposalTicketId);
          materials.forEach(({ quantity }, i) => expect(Object.is(quantity, quantities[i])).toBe(true));
        },
      ),
      { numRuns: 20 },
    );
  });
});

const SITE = '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10';
const MATERIAL = '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21';

let count = 0;
const ticket = (materialId = MATERIAL) => ({
  siteId: SITE,
  materials: [{ id: materialId, name: 'Debris', quantity: ++count, unitOfMeasure: 'Ton' }],
  inboundFlow: { ticketNumber: `IN-${count}`, updatedAt: '2026-01-31T08:30:00Z' },
});

const endpoint: PostEndpoint = {
  api: SCALE_API,
  path: TICKETS,
  body: () => ticket(),
  prepare: async ({ dataSource }, haulerId) => {
    const catalog = new CatalogFixture(dataSource);
    await catalog.site(haulerId, { id: SITE });
    await catalog.material(haulerId, { siteId: SITE }, { id: MATERIAL });
  },
};

// The keys of this battery belong to haulers without sites, so a ticket with a valid key is refused by a rule.
describeJsonBody(endpoint, () => service);

describeIdempotency(
  {
    ...endpoint,
    table: 'tickets',
    reused: { status: 422, code: 'VALIDATION_ERROR' },
    refused: async () => ticket('00000000-0000-4000-8000-000000000000'),
  },
  () => service,
);
