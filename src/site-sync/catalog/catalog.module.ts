import { Module } from '@nestjs/common';
import { CatalogService } from './catalog.service.js';
import { KnownMaterials } from './known-materials.js';

/** The catalog, apart from the synchronisation that fills it: Scale needs nothing else of `site-sync`. */
@Module({ providers: [CatalogService, KnownMaterials], exports: [CatalogService, KnownMaterials] })
export class CatalogModule {}
