import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { findReferences } from '../../src/site-sync/catalog/catalog.repository.js';
import { CatalogFixture } from '../support/catalog.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

describe('findReferences', () => {
  let database: TestDatabase;
  let dataSource: DataSource;
  let catalog: CatalogFixture;
  let hauler: string;
  let site: string;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await database.connect();
    catalog = new CatalogFixture(dataSource);
    hauler = await catalog.hauler();
    site = await catalog.site(hauler);
  });
  afterAll(() => database.drop());

  const sitesOf = async (materialId: string) => {
    const findings = await findReferences(dataSource, [{ haulerId: hauler, siteId: site, materialIds: [materialId] }]);
    const sites = findings.sitesOf(hauler, materialId);
    return sites === undefined ? undefined : [...sites].sort();
  };

  test('finds a site, and not an unknown one', async () => {
    const unknown = randomUUID();
    const findings = await findReferences(dataSource, [
      { haulerId: hauler, siteId: site, materialIds: [] },
      { haulerId: hauler, siteId: unknown, materialIds: [] },
    ]);
    expect(findings.hasSite(hauler, site)).toBe(true);
    expect(findings.hasSite(hauler, unknown)).toBe(false);
  });

  test("does not find another hauler's sites and materials (decision 1)", async () => {
    const other = await catalog.hauler();
    const material = await catalog.material(hauler, { siteId: site });
    const findings = await findReferences(dataSource, [{ haulerId: other, siteId: site, materialIds: [material] }]);
    expect(findings.hasSite(other, site)).toBe(false);
    expect(findings.sitesOf(other, material)).toBeUndefined();
  });

  test('distinguishes equal ids of two haulers', async () => {
    const other = await catalog.hauler();
    const otherSite = await catalog.site(other);
    const id = await catalog.material(hauler, { siteId: site });
    await catalog.material(other, { siteId: otherSite }, { id });
    const findings = await findReferences(dataSource, [
      { haulerId: hauler, siteId: site, materialIds: [id] },
      { haulerId: other, siteId: otherSite, materialIds: [id] },
    ]);
    expect([...findings.sitesOf(hauler, id)!]).toEqual([site]);
    expect([...findings.sitesOf(other, id)!]).toEqual([otherSite]);
  });

  test('returns the site of a material with a site, with a kiosk, and with both (decision 32)', async () => {
    const second = await catalog.site(hauler);
    const kiosk = await catalog.kiosk(hauler, second);
    expect(await sitesOf(await catalog.material(hauler, { siteId: site }))).toEqual([site]);
    expect(await sitesOf(await catalog.material(hauler, { kioskId: kiosk }))).toEqual([second]);
    expect(await sitesOf(await catalog.material(hauler, { siteId: site, kioskId: kiosk }))).toEqual(
      [site, second].sort(),
    );
  });

  test('distinguishes an unknown material from one with an unknown kiosk', async () => {
    expect(await sitesOf(randomUUID())).toBeUndefined();
    expect(await sitesOf(await catalog.material(hauler, { kioskId: randomUUID() }))).toEqual([]);
  });

  test('accepts inactive sites and materials (decision 24)', async () => {
    const closed = await catalog.site(hauler, { active: false });
    const retired = await catalog.material(hauler, { siteId: closed }, { active: false });
    const findings = await findReferences(dataSource, [{ haulerId: hauler, siteId: closed, materialIds: [retired] }]);
    expect(findings.hasSite(hauler, closed)).toBe(true);
    expect(findings.sitesOf(hauler, retired)?.has(closed)).toBe(true);
  });

  test('finds a record at once after it was stored', async () => {
    const id = randomUUID();
    expect(await sitesOf(id)).toBeUndefined();
    await catalog.material(hauler, { siteId: site }, { id });
    expect(await sitesOf(id)).toEqual([site]);
  });
});
