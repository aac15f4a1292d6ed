import { CatalogKiosk, CatalogMaterial, CatalogQuery, CatalogSite } from './catalog.dto.js';
import { type AdminRoutes, table } from './route-parts.js';

/** Sites, kiosks and materials as last synchronised. */
export const CATALOG_ROUTES = {
  listSites: {
    ...table(CatalogSite, 'sites'),
    path: '/sites',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List sites',
    description: 'As last synchronised, newest first.',
    query: CatalogQuery,
  },
  listKiosks: {
    ...table(CatalogKiosk, 'kiosks'),
    path: '/kiosks',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List kiosks',
    description: 'As last synchronised, newest first.',
    query: CatalogQuery,
  },
  listMaterials: {
    ...table(CatalogMaterial, 'materials'),
    path: '/materials',
    role: 'viewer',
    isPerHauler: true,
    summary: 'List materials',
    description: 'As last synchronised, newest first.',
    query: CatalogQuery,
  },
} as const satisfies AdminRoutes;
