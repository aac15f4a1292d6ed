import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { readerOf } from '../../../src/contracts/common/fields/field.js';
import type { Violation } from '../../../src/contracts/common/violation.js';
import { CreateScaleTicketRequest } from '../../../src/contracts/scale/scale.dto.js';
import { ListVideosQuery } from '../../../src/contracts/vision/vision.dto.js';

const ID = '7b0a3a52-6e0d-4e0e-9d61-0d1c1f3f8a21';
const material = { id: ID, name: 'Debris', quantity: 1, unitOfMeasure: 'Ton' };
const ticket = { siteId: ID, materials: [material] };

function read<T extends object>(
  type: new () => T,
  value: unknown,
): { result: T; paths: string[]; violations: Violation[] } {
  const violations: Violation[] = [];
  const result = readerOf(type)(value, '', violations);
  return { result, paths: violations.map(({ path }) => path), violations };
}

describe('a DTO class, compiled', () => {
  it('takes no text in a map, and no name, that cannot be stored', () => {
    const customFields = { 'a\0': 'x', 'b\ud800': 'x', c: '\0', d: '\udfff', e: '😀', f: 1, ['g'.repeat(300)]: 'x' };
    const { violations } = read(CreateScaleTicketRequest, { ...ticket, customFields });
    const unicode = 'valid Unicode without U+0000 and without lone surrogates';
    expect(violations.map(({ rule, message }) => [rule, message])).toEqual([
      ['isText', `customFields["a\\u0000"] must have a name that is ${unicode}`],
      ['isText', `customFields["b\\ud800"] must have a name that is ${unicode}`],
      ['isText', `customFields.c must be ${unicode}`],
      ['isText', `customFields.d must be ${unicode}`],
      ['isTextMap', 'customFields.f must be text of at most 4000 characters'],
      ['isTextMap', `customFields.${'g'.repeat(300)} must have a name of at most 255 characters`],
    ]);
  });

  it.each([
    ['\0', 'isText', 'must be valid Unicode without U+0000 and without lone surrogates'],
    ['x\ud800', 'isText', 'must be valid Unicode without U+0000 and without lone surrogates'],
    ['\0'.repeat(256), 'isText', 'must be valid Unicode without U+0000 and without lone surrogates'],
    ['x'.repeat(256), 'isLength', 'must be text of at most 255 characters'],
    [7, 'isLength', 'must be text of at most 255 characters'],
  ])('says of a text such as %j what is wrong with it: %s', (name, rule, must) => {
    const { violations } = read(CreateScaleTicketRequest, { ...ticket, materials: [{ ...material, name }] });
    const path = 'materials[0].name';
    expect(violations).toEqual([{ path, rule, message: `${path} ${must}` }]);
  });

  it('counts the entries of a map that has too many once, and looks at none', () => {
    let counted = 0;
    const entries = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`name ${i}`, 0]));
    const customFields = new Proxy(entries, {
      ownKeys: (target) => {
        counted++;
        return Reflect.ownKeys(target);
      },
      get: () => {
        throw new Error('looked at');
      },
    });
    const { violations } = read(CreateScaleTicketRequest, { ...ticket, customFields });
    const message = 'customFields must be an object of at most 100 texts';
    expect(violations).toEqual([{ path: 'customFields', rule: 'isTextMap', message }]);
    expect(counted).toBe(1);
  });

  it.each([[null], [[]], ['x'], [7]])('refuses %j in place of the body', (value) => {
    expect(read(CreateScaleTicketRequest, value).violations).toEqual([
      { path: '', rule: 'isObject', message: 'the body must be an object' },
    ]);
  });

  it('is not taken in by names of the object prototype', () => {
    const body = JSON.parse(
      `{"siteId":"${ID}","materials":[${JSON.stringify(material)}],"constructor":{},"customFields":{"__proto__":"a","constructor":"b","toString":"c"}}`,
    ) as unknown;
    const { result, paths } = read(CreateScaleTicketRequest, body);
    expect(paths).toEqual([]);
    expect(result).toBeInstanceOf(CreateScaleTicketRequest);
    expect(Object.entries(result.customFields ?? {})).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ]);
    expect(read(CreateScaleTicketRequest, Object.create({ siteId: ID, materials: [material] })).paths).toEqual([
      'siteId',
      'materials',
    ]);
  });

  it('reads a query: whole numbers, and a + that arrived as a blank', () => {
    const { result, paths } = read(ListVideosQuery, {
      customerId: 'c',
      page: '2',
      pageSize: '100',
      startTime: '2026-01-31T10:30:00 02:00',
    });
    expect(paths).toEqual([]);
    expect(result).toMatchObject({ page: 2, pageSize: 100, startTime: '2026-01-31T08:30:00.000000Z' });
  });

  it.each(['9007199254740991', '9007199254740992', '1'.repeat(400)])('reads page=%s as a page past any end', (page) => {
    const { paths, result } = read(ListVideosQuery, { customerId: 'c', page });
    expect([paths, result]).toMatchObject([[], { page: Number.MAX_SAFE_INTEGER }]);
  });

  it.each(['0', '-1', `-${'1'.repeat(400)}`, '1.0', '1e2', '', 'x'])('refuses page=%s', (page) => {
    expect(read(ListVideosQuery, { customerId: 'c', page }).paths).toEqual(['page']);
  });

  it.each(['0', '-1', '1.0', '1e2', '', 'x', '101', ' 1', '0x10', '1'.repeat(400)])(
    'refuses pageSize=%s',
    (pageSize) => {
      expect(read(ListVideosQuery, { customerId: 'c', pageSize }).paths).toEqual(['pageSize']);
    },
  );

  it('refuses a parameter that is given twice', () => {
    expect(read(ListVideosQuery, { customerId: ['a', 'b'] }).paths).toEqual(['customerId']);
  });
});
