import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget, type ObjectLiteral } from 'typeorm';
import type { CatalogKiosk, CatalogMaterial, CatalogQuery, CatalogSite } from '../../contracts/admin/catalog.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../../contracts/common/pagination.dto.js';
import { type CatalogRecord, KioskEntity, MaterialEntity, SiteEntity } from './catalog.entity.js';
import { findCatalogPage, OF_SITE } from './catalog.repository.js';

/** The lists of the catalog for the admin API, newest first. */
@Injectable()
export class CatalogLists {
  constructor(private readonly dataSource: DataSource) {}

  sites(query: CatalogQuery): Promise<List<CatalogSite>> {
    return this.list(SiteEntity, query, OF_SITE.sites, toSiteDto);
  }

  kiosks(query: CatalogQuery): Promise<List<CatalogKiosk>> {
    return this.list(KioskEntity, query, OF_SITE.kiosks, toKioskDto);
  }

  materials(query: CatalogQuery): Promise<List<CatalogMaterial>> {
    return this.list(MaterialEntity, query, OF_SITE.materials, toMaterialDto);
  }

  private async list<Row extends CatalogRecord & ObjectLiteral, Dto>(
    entity: EntityTarget<Row>,
    query: CatalogQuery,
    ofSite: string,
    toDto: (row: Row) => Dto,
  ): Promise<List<Dto>> {
    const page = pageRequest(query);
    const [rows, total] = await findCatalogPage(this.dataSource, entity, query, ofSite, page);
    return { data: rows.map(toDto), pagination: paginationOf(page, total) };
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
    materialType: row.materialType,
    measureUnit: row.measureUnit,
    ...(row.flaggedReason === null ? {} : { flaggedReason: row.flaggedReason }),
  };
}
