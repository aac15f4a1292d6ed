import { describe, expect, test } from '@jest/globals';
import { readerOf } from '../../../src/contracts/common/reader.js';
import { Kiosk, Material, Site } from '../../../src/contracts/site/site.dto.js';
import { contentDigest, type PartnerRecord } from '../../../src/site-sync/sync/content-digest.js';
import type { Kind } from '../../../src/site-sync/sync/kinds.js';
import { ADDRESS, idOf, kiosk, material, type Plain, site } from '../../support/site-data.js';

const CLASSES = { sites: Site, kiosks: Kiosk, materials: Material };
const digest = (kind: Kind, value: Plain) => contentDigest(kind, readerOf<PartnerRecord>(CLASSES[kind])(value, '', []));

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
});
