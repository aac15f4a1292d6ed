import { Injectable } from '@nestjs/common';
import { DataSource, type EntityTarget, type ObjectLiteral, type SelectQueryBuilder } from 'typeorm';
import type { CatalogKiosk, CatalogMaterial, CatalogQuery, CatalogSite } from '../../contracts/admin/catalog.dto.js';
import type { List } from '../../contracts/admin/list.dto.js';
import { formatInstant } from '../../contracts/common/instant.js';
import { pageRequest, paginationOf } from '../../contracts/common/pagination.dto.js';
import { type CatalogRecord, KioskEntity, MaterialEntity, SiteEntity } from './catalog.entity.js';

/** UNION needs two index scans. One condition with OR would read the whole table. */
const MATERIALS_OF_SITE = `
  SELECT m.id FROM materials m WHERE m.site_external_id = :siteId
  UNION
  SELECT m.id FROM kiosks k JOIN materials m ON m.hauler_id = k.hauler_id AND m.kiosk_external_id = k.external_id
  WHERE k.site_external_id = :siteId`;

/** The lists of the catalog for the admin API, newest first. */
@Injectable()
export class CatalogLists {
  constructor(private readonly dataSource: DataSource) {}

  sites(query: CatalogQuery): Promise<List<CatalogSite>> {
    return this.list(SiteEntity, query, 'r.external_id = :siteId', toSiteDto);
  }

  kiosks(query: CatalogQuery): Promise<List<CatalogKiosk>> {
    return this.list(KioskEntity, query, 'r.site_external_id = :siteId', toKioskDto);
  }

  materials(query: CatalogQuery): Promise<List<CatalogMaterial>> {
    return this.list(MaterialEntity, query, `r.id IN (${MATERIALS_OF_SITE})`, toMaterialDto);
  }

  private async list<Row extends CatalogRecord & ObjectLiteral, Dto>(
    entity: EntityTarget<Row>,
    query: CatalogQuery,
    ofSite: string,
    toDto: (row: Row) => Dto,
  ): Promise<List<Dto>> {
    const page = pageRequest(query);
    const select: SelectQueryBuilder<Row> = this.dataSource.getRepository(entity).createQueryBuilder('r');
    if (query.haulerId !== undefined) select.andWhere('r.hauler_id = :haulerId', { haulerId: query.haulerId });
    if (query.active !== undefined) select.andWhere('r.active = :active', { active: query.active });
    if (query.siteId !== undefined) select.andWhere(ofSite, { siteId: query.siteId });
    const [rows, total] = await select
      .orderBy('r.id', 'DESC')
      .offset(page.offset)
      .limit(page.pageSize)
      .getManyAndCount();
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
