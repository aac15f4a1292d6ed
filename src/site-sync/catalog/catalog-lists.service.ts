import { Injectable } from '@nestjs/common';
import { CatalogKiosk, CatalogMaterial, type CatalogQuery, CatalogSite } from '../../contracts/admin/catalog.routes.js';
import type { List } from '../../contracts/admin/list.dto.js';
import type { DtoClass } from '../../contracts/common/fields/field.js';
import { present } from '../../contracts/common/present.js';
import { Database } from '../../core/database/database.js';
import { listPage } from '../../core/database/list-page.js';
import { type CatalogKind, catalogList } from './catalog.repository.js';

/** The lists of the catalog for the admin API, newest first. */
@Injectable()
export class CatalogLists {
  constructor(private readonly database: Database) {}

  sites(query: CatalogQuery): Promise<List<CatalogSite>> {
    return this.list(CatalogSite, 'sites', query);
  }

  kiosks(query: CatalogQuery): Promise<List<CatalogKiosk>> {
    return this.list(CatalogKiosk, 'kiosks', query);
  }

  materials(query: CatalogQuery): Promise<List<CatalogMaterial>> {
    return this.list(CatalogMaterial, 'materials', query);
  }

  private async list<Dto extends object>(
    type: DtoClass<Dto>,
    kind: CatalogKind,
    query: CatalogQuery,
  ): Promise<List<Dto>> {
    const { rows, pagination } = await listPage<object>(this.database, catalogList(kind, query), query);
    return { data: rows.map((row) => present(type, row)), pagination };
  }
}
