import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget } from 'typeorm';
import { CatalogKiosk, CatalogMaterial, type CatalogQuery, CatalogSite } from '../../contracts/admin/catalog.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type { DtoClass } from '../../contracts/common/fields/field.js';
import { present } from '../../contracts/common/present.js';
import { entityPage } from '../../database/list-page.js';
import { type CatalogRecord, KioskEntity, MaterialEntity, SiteEntity } from './catalog.entity.js';
import { catalogList } from './catalog.repository.js';

/** The lists of the catalog for the admin API, newest first. */
@Injectable()
export class CatalogLists {
  constructor(private readonly dataSource: DataSource) {}

  sites(query: CatalogQuery): Promise<List<CatalogSite>> {
    return this.list(SiteEntity, 'sites', query, toSiteDto);
  }

  kiosks(query: CatalogQuery): Promise<List<CatalogKiosk>> {
    return this.list(KioskEntity, 'kiosks', query, toKioskDto);
  }

  materials(query: CatalogQuery): Promise<List<CatalogMaterial>> {
    return this.list(MaterialEntity, 'materials', query, toMaterialDto);
  }

  private async list<Row extends CatalogRecord, Dto>(
    entity: EntityTarget<Row>,
    kind: 'sites' | 'kiosks' | 'materials',
    query: CatalogQuery,
    toDto: (row: Row) => Dto,
  ): Promise<List<Dto>> {
    const { rows, pagination } = await entityPage(this.dataSource.manager, entity, catalogList(kind, query), query);
    return { data: rows.map(toDto), pagination };
  }
}

const presented = <Dto extends object>(type: DtoClass<Dto>, row: CatalogRecord, decided: object = {}): Dto =>
  present(type, { ...row, updatedAt: row.partnerUpdatedAt, ...decided });

function toSiteDto(row: SiteEntity): CatalogSite {
  const { line1, city, state, country, zipCode } = row;
  return presented(CatalogSite, row, line1 === null ? {} : { address: { line1, city, state, country, zipCode } });
}

const toKioskDto = (row: KioskEntity): CatalogKiosk => presented(CatalogKiosk, row, { siteId: row.siteExternalId });

const toMaterialDto = (row: MaterialEntity): CatalogMaterial =>
  presented(CatalogMaterial, row, {
    siteId: row.siteExternalId,
    kioskId: row.kioskExternalId,
    siteIds: row.moreSiteIds === null ? undefined : allOf(row.siteExternalId, row.moreSiteIds),
    kioskIds: row.moreKioskIds === null ? undefined : allOf(row.kioskExternalId, row.moreKioskIds),
  });

const allOf = (first: string | null, more: readonly string[]): string[] =>
  first === null ? [...more] : [first, ...more];
