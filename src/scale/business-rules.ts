import type { Violation } from '../contracts/common/violation.js';
import type { CatalogFindings, CatalogLookup } from '../site-sync/catalog/catalog.service.js';

/**
 * Decision 24: the site exists, every material exists and belongs to the site. Every offending element is listed. Nothing
 * can belong to a site that is unknown, so its materials only have to exist.
 */
export function brokenRules({ haulerId, siteId, materialIds }: CatalogLookup, catalog: CatalogFindings): Violation[] {
  const knowsSite = catalog.hasSite(haulerId, siteId);
  const violations = knowsSite ? [] : [violation('siteId', 'siteExists', `must be ${known('a site')}`)];
  materialIds.forEach((materialId, i) => {
    const path = `materials[${i}].id`;
    const sites = catalog.sitesOf(haulerId, materialId);
    if (sites === undefined) {
      violations.push(violation(path, 'materialExists', `must be ${known('a material')}`));
    } else if (knowsSite && !sites.has(siteId)) {
      violations.push(violation(path, 'materialOfSite', 'must be the id of a material of the site that siteId names'));
    }
  });
  return violations;
}

/** Spelled out, because partners take our own ids for these, or those of records that were never synchronised. */
const known = (what: string) => `the id, in your own system, of ${what} that the platform has received by the Site API`;

function violation(path: string, rule: string, must: string): Violation {
  return { path, rule, message: `${path} ${must}` };
}
