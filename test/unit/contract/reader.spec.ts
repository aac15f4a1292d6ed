import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { readerOf } from '../../../src/contracts/common/fields/field.js';
import type { Violation } from '../../../src/contracts/common/violation.js';
import { CreateScaleTicketRequest } from '../../../src/contracts/scale/scale.api.js';
import { ListVideosQuery } from '../../../src/contracts/vision/vision.api.js';

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

  it.each([[null], [[]], ['x'], [7]])('refuses %j in place of the body', (value) => {
    expect(read(CreateScaleTicketRequest, value).violations).toEqual([
      { path: '', rule: 'isObject', message: 'the body must be an object' },
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
