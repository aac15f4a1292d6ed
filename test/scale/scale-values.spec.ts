import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { startTestApp, type TestApp } from '../support/app.js';
import { ScaleHouse } from '../support/scale-house.js';

let service: TestApp;
let house: ScaleHouse;
beforeAll(async () => {
  service = await startTestApp();
  house = await ScaleHouse.open(service);
});
afterAll(() => service.close());

type Over = Record<string, unknown>;
const flow = (over: Over = {}) => ({ ticketNumber: 'N', updatedAt: '2026-01-31T08:30:00Z', ...over });
const material = (over: Over) => ({ materials: [house.material(), house.material(over)] });

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
      const id = await house.expectTaken({
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
