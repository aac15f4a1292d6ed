import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { UNITS_OF_MEASURE } from '../../src/contracts/scale/scale.dto.js';
import { startTestApp, type TestApp } from '../support/app.js';
import { ScaleHouse } from '../support/scale-house.js';

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
    const id = await house.expectTaken({ inboundFlow: null, outboundFlow: null, customFields: null, x: null });
    const stored = await house.stored(id);
    expect(Object.keys(stored).sort()).toEqual(['createdAt', 'haulerId', 'id', 'materials', 'siteId', 'updatedAt']);
    const priced = await house.expectTaken(material({ unitPriceCents: null }));
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
    const id = await house.expectTaken({
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
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999Z'],
    ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00Z'],
  ])('%s is returned as %s', async (updatedAt, answered) => {
    const id = await house.expectTaken({ outboundFlow: flow({ ticketNumber: `T ${updatedAt}`, updatedAt }) });
    expect((await house.stored(id)).outboundFlow).toEqual({ ticketNumber: `T ${updatedAt}`, updatedAt: answered });
  });
});

describe('the limits of decision 9', () => {
  test('1,000 materials are accepted, 1,001 and 10,000 are not', async () => {
    const many = (count: number) => ({ materials: Array.from({ length: count }, () => house.material()) });
    const id = await house.expectTaken(many(1000));
    expect((await house.stored(id)).materials).toHaveLength(1000);
    await house.expectRefused(house.ticket(many(1001)), ['materials']);
    const lean = { materials: Array.from({ length: 10_000 }, () => ({ id: house.materialId, name: '', quantity: 1 })) };
    await house.expectRefused(house.ticket(lean), ['materials']);
  });

  test('100 custom fields are accepted, 101 are not', async () => {
    const id = await house.expectTaken({ customFields: fields(100) });
    expect((await house.stored(id)).customFields).toEqual(fields(100));
    await house.expectRefused(house.ticket({ customFields: fields(101) }), ['customFields']);
  });

  test.each<[string, (text: string) => Over, number, string]>([
    ['a ticket number', (text) => ({ inboundFlow: flow({ ticketNumber: text }) }), 255, 'inboundFlow.ticketNumber'],
    ['a material name', (text) => material({ name: text }), 255, 'materials[1].name'],
    ['a custom value', (text) => ({ customFields: { a: text } }), 4000, 'customFields.a'],
  ])('%s is limited by code points', async (_what, over, max, path) => {
    await house.expectTaken(over('x'.repeat(max)));
    await house.expectTaken(over(TRUCK.repeat(max)));
    await house.expectRefused(house.ticket(over('x'.repeat(max + 1))), [path]);
    await house.expectRefused(house.ticket(over(TRUCK.repeat(max) + 'x')), [path]);
  });

  test('the name of a custom field is limited by code points', async () => {
    const name = TRUCK.repeat(255);
    const id = await house.expectTaken({ customFields: { [name]: 'v' } });
    expect((await house.stored(id)).customFields).toEqual({ [name]: 'v' });
    await house.expectRefused(house.ticket({ customFields: { [`${name}x`]: 'v' } }), [`customFields["${name}x"]`]);
  });

  test('a name that is far too long is shortened in the message', async () => {
    const path = `customFields["${'x'.repeat(511)}…"]`;
    await house.expectRefused(house.ticket({ customFields: { ['x'.repeat(500_000)]: 'v' } }), [path]);
  });

  test('an empty ticket number is refused; an empty material name, custom name and value are accepted', async () => {
    await house.expectRefused(house.ticket({ inboundFlow: flow({ ticketNumber: '' }) }), ['inboundFlow.ticketNumber']);
    const id = await house.expectTaken({ ...material({ name: '' }), customFields: { '': '' } });
    expect(await house.stored(id)).toMatchObject({ materials: [{}, { name: '' }], customFields: { '': '' } });
  });
});

test.each(UNITS_OF_MEASURE.map((unit) => [unit]))('unitOfMeasure %s', async (unitOfMeasure) => {
  const id = await house.expectTaken(material({ unitOfMeasure }));
  expect((await house.stored(id)).materials[1]).toMatchObject({ unitOfMeasure });
});
