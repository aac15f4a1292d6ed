import { CatalogKiosk, CatalogMaterial, CatalogQuery, CatalogSite } from './catalog.dto.js';
import { type AdminRoutes, FOR_VIEWERS, list } from './route-helpers.js';

/** Sites, kiosks and materials as last synchronised. */
export const CATALOG_ROUTES = {
  listSites: list(FOR_VIEWERS, '/sites', CatalogSite, CatalogQuery, {
    summary: 'List sites',
    description: 'As last synchronised, newest first.',
    csv: true,
  }),
  listKiosks: list(FOR_VIEWERS, '/kiosks', CatalogKiosk, CatalogQuery, {
    summary: 'List kiosks',
    description: 'As last synchronised, newest first.',
    csv: true,
  }),
  listMaterials: list(FOR_VIEWERS, '/materials', CatalogMaterial, CatalogQuery, {
    summary: 'List materials',
    description: 'As last synchronised, newest first.',
    csv: true,
  }),
} as const satisfies AdminRoutes;
