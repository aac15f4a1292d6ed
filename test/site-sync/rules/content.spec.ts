import { describe, expect, test } from '@jest/globals';
import { readerOf } from '../../../src/contracts/common/reader.js';
import { Kiosk, Material, Site } from '../../../src/contracts/site/site.dto.js';
import { contentCells, contentDigest, type PartnerRecord } from '../../../src/site-sync/sync/content.js';
import type { Kind } from '../../../src/site-sync/sync/kinds.js';
import { ADDRESS, idOf, kiosk, material, type Plain, site } from '../../support/site-data.js';

const CLASSES = { sites: Site, kiosks: Kiosk, materials: Material };
const read = (kind: Kind, value: Plain) => readerOf<PartnerRecord>(CLASSES[kind])(value, '', []);
const digest = (kind: Kind, value: Plain) => contentDigest(kind, read(kind, value));

describe('the digest of a record (decision 34)', () => {
  test.each<[string, Kind, Plain, Plain]>([
    ['a new stamp', 'sites', site('a'), site('a', { updatedAt: '2027-01-01T00:00:00Z' })],
    ['a stamp that is gone', 'sites', site('a'), site('a', { updatedAt: null })],
    ['active, absent or true', 'sites', site('a'), site('a', { active: true })],
    ['null for absent', 'sites', site('a'), site('a', { address: null })],
    ['unknown fields', 'materials', material('m'), material('m', { color: 'blue' })],
    [
      'the order of fields',
      'sites',
      site('a', { address: ADDRESS }),
      { address: { ...ADDRESS, zipCode: '78744' }, ...site('a') },
    ],
    ['the case of a parent', 'kiosks', kiosk('k', 'a'), kiosk('k', 'a', { siteId: idOf('a').toUpperCase() })],
  ])('is the same for %s', (_what, kind, one, other) => {
    expect(digest(kind, other)).toBe(digest(kind, one));
  });

  test.each<[string, Kind, Plain, Plain]>([
    ['a name', 'sites', site('a'), site('a', { name: 'Site A' })],
    ['an address', 'sites', site('a'), site('a', { address: ADDRESS })],
    ...Object.keys(ADDRESS).map((field): [string, Kind, Plain, Plain] => [
      field,
      'sites',
      site('a', { address: ADDRESS }),
      site('a', { address: { ...ADDRESS, [field]: 'x' } }),
    ]),
    [
      'text moved from one field to its neighbour',
      'sites',
      site('a', { address: { ...ADDRESS, line1: 'ab', city: 'c' } }),
      site('a', { address: { ...ADDRESS, line1: 'a', city: 'bc' } }),
    ],
    ["a kiosk's site", 'kiosks', kiosk('k', 'a'), kiosk('k', 'b')],
    ["a kiosk's name", 'kiosks', kiosk('k', 'a'), kiosk('k', 'a', { name: 'K' })],
    [
      'a site in place of a kiosk',
      'materials',
      material('m', { siteId: idOf('x') }),
      material('m', { kioskId: idOf('x') }),
    ],
    ['a material type', 'materials', material('m'), material('m', { materialType: 'Type M' })],
    ['a unit', 'materials', material('m'), material('m', { measureUnit: 'Item' })],
  ])('differs by %s', (_what, kind, one, other) => {
    expect(digest(kind, other)).not.toBe(digest(kind, one));
  });

  // With another one the next run would count every record that is stored as updated.
  const ID = '0b8f6f0e-3c55-4b7e-8f0a-2f7f7a9f1c10';
  const PARENT = '1c9a7d20-4d66-4c8f-9a1b-3a8a8b0a2d21';
  test.each<[string, Kind, Plain, string]>([
    ['a site', 'sites', { id: ID, name: 'Döner & "Söhne"', address: ADDRESS }, '7c5d3c016fba911f51286cfb5c505546'],
    ['a site without an address', 'sites', { id: ID, name: 'Onion Creek' }, '90aabc0228b8d0b4475b8f45f67b7d39'],
    ['a kiosk', 'kiosks', { id: ID, siteId: PARENT, name: 'Lane 1' }, '5133dab5b231ff8225d4d817ebd8a015'],
    [
      'a material of a site',
      'materials',
      { id: ID, siteId: PARENT, materialType: 'Sand', measureUnit: 'Ton' },
      '841fb82f9e4e7e075b4d49f63b40b076',
    ],
    [
      'a material of a kiosk',
      'materials',
      { id: ID, kioskId: PARENT, materialType: 'Sand', measureUnit: 'Ton' },
      '3038d8179488d14b84a8d439d74e0e10',
    ],
  ])('of %s is the one that databases hold', (_what, kind, value, expected) => {
    expect(digest(kind, value)).toBe(expected);
  });
});

test('the cells of a record stand in the order of its columns, as many as there are', () => {
  const cells = (kind: Kind, value: Plain) => contentCells(kind, read(kind, value));
  const address = ['1 Main St', 'Austin', 'Texas', 'United States', '78744'];
  expect(cells('sites', site('a', { name: 'A', address: ADDRESS }))).toEqual(['A', ...address]);
  expect(cells('sites', site('a', { name: 'A' }))).toEqual(['A', ...address.map(() => null)]);
  expect(cells('kiosks', kiosk('k', 'a', { name: 'K' }))).toEqual([idOf('a'), 'K']);
  const sand = { materialType: 'Sand', measureUnit: 'Ton' };
  expect(cells('materials', material('m', { siteId: idOf('a'), ...sand }))).toEqual([idOf('a'), null, 'Sand', 'Ton']);
});
