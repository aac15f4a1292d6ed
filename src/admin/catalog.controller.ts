import { Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { AdminApi } from '../auth/admin-api.js';
import { CatalogKiosk, CatalogMaterial, CatalogQuery, CatalogSite } from '../contracts/admin/catalog.dto.js';
import { List, listOf } from '../contracts/admin/list.dto.js';
import { CatalogLists } from '../site-sync/catalog/catalog-lists.service.js';

@AdminApi('sites')
export class SitesController {
  constructor(private readonly catalog: CatalogLists) {}

  @Get()
  @ApiOperation({ summary: 'List sites', description: 'As partners have told of them, newest first.' })
  @ApiOkResponse({ description: 'A page of sites', type: listOf(CatalogSite) })
  list(@Query() query: CatalogQuery): Promise<List<CatalogSite>> {
    return this.catalog.sites(query);
  }
}

@AdminApi('kiosks')
export class KiosksController {
  constructor(private readonly catalog: CatalogLists) {}

  @Get()
  @ApiOperation({ summary: 'List kiosks', description: 'As partners have told of them, newest first.' })
  @ApiOkResponse({ description: 'A page of kiosks', type: listOf(CatalogKiosk) })
  list(@Query() query: CatalogQuery): Promise<List<CatalogKiosk>> {
    return this.catalog.kiosks(query);
  }
}

@AdminApi('materials')
export class MaterialsController {
  constructor(private readonly catalog: CatalogLists) {}

  @Get()
  @ApiOperation({ summary: 'List materials', description: 'As partners have told of them, newest first.' })
  @ApiOkResponse({ description: 'A page of materials', type: listOf(CatalogMaterial) })
  list(@Query() query: CatalogQuery): Promise<List<CatalogMaterial>> {
    return this.catalog.materials(query);
  }
}
