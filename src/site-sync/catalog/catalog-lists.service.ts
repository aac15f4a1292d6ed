import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget } from 'typeorm';
import type { CatalogKiosk, CatalogMaterial, CatalogQuery, CatalogSite } from '../../contracts/admin/catalog.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
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

function toRecordDto(row: CatalogRecord) {
  return {
    id: row.id,
    externalId: row.externalId,
    haulerId: row.haulerId,
    connectionId: row.connectionId,
    active: row.active,
    ...(row.deactivatedAt === null ? {} : { deactivatedAt: formatInstant(row.deactivatedAt) }),
    ...(row.partnerUpdatedAt === null ? {} : { updatedAt: formatInstant(row.partnerUpdatedAt) }),
  };
}

function toSiteDto({ name, line1, city, state, country, zipCode, ...record }: SiteEntity): CatalogSite {
  const address = line1 === null ? {} : { address: { line1, city, state, country, zipCode } as CatalogSite['address'] };
  return { ...toRecordDto(record), name, ...address };
}

function toKioskDto(row: KioskEntity): CatalogKiosk {
  return { ...toRecordDto(row), siteId: row.siteExternalId, name: row.name };
}

function toMaterialDto(row: MaterialEntity): CatalogMaterial {
  return {
    ...toRecordDto(row),
    ...(row.siteExternalId === null ? {} : { siteId: row.siteExternalId }),
    ...(row.kioskExternalId === null ? {} : { kioskId: row.kioskExternalId }),
    ...(row.moreSiteIds === null ? {} : { siteIds: allOf(row.siteExternalId, row.moreSiteIds) }),
    ...(row.moreKioskIds === null ? {} : { kioskIds: allOf(row.kioskExternalId, row.moreKioskIds) }),
    materialType: row.materialType,
    measureUnit: row.measureUnit,
    ...(row.flaggedReason === null ? {} : { flaggedReason: row.flaggedReason }),
  };
}

const allOf = (first: string | null, more: readonly string[]): string[] =>
  first === null ? [...more] : [first, ...more];
