import { Module } from '@nestjs/common';
import { CatalogService } from './catalog.service.js';

/** The catalog, apart from the synchronisation that fills it: Scale needs nothing else of `site-sync`. */
@Module({ providers: [CatalogService], exports: [CatalogService] })
export class CatalogModule {}
