import { ownField } from '../../contracts/common/json.js';

/** The rule of the conformance kit that checks each field of section 2.4a. */
export const SITE_FIELD_RULES: Readonly<Record<string, string>> = {
  sites: 'SITE-006',
  kiosks: 'SITE-007',
  materials: 'SITE-008',
  'sites.id': 'SITE-010',
  'sites.name': 'SITE-011',
  'sites.address': 'SITE-012',
  'sites.address.line1': 'SITE-013',
  'sites.address.city': 'SITE-014',
  'sites.address.state': 'SITE-015',
  'sites.address.country': 'SITE-016',
  'sites.address.zipCode': 'SITE-017',
  'sites.active': 'SITE-018',
  'sites.updatedAt': 'SITE-019',
  'kiosks.id': 'SITE-020',
  'kiosks.siteId': 'SITE-021',
  'kiosks.name': 'SITE-022',
  'kiosks.active': 'SITE-023',
  'kiosks.updatedAt': 'SITE-024',
  'materials.id': 'SITE-030',
  'materials.siteId': 'SITE-031',
  'materials.kioskId': 'SITE-032',
  'materials.materialType': 'SITE-033',
  'materials.measureUnit': 'SITE-034',
  'materials.active': 'SITE-035',
  'materials.updatedAt': 'SITE-036',
};

/** Faults of a record whose fields are valid, by field and code. */
const LINK_RULES: Readonly<Record<string, string>> = {
  'materials hasParent': 'SITE-037',
  'sites.id isUnique': 'SITE-040',
  'kiosks.id isUnique': 'SITE-041',
  'materials.id isUnique': 'SITE-042',
  'kiosks.siteId isKnown': 'SITE-043',
  'materials.siteId isKnown': 'SITE-044',
  'materials.kioskId isKnown': 'SITE-045',
  'materials.kioskId kioskOfSite': 'SITE-046',
};

/** The rule that a record of a synchronisation breaks. The path is `materials[12].measureUnit`, or that without its number. */
export function siteRuleOf(path: string, rule: string | null): string | undefined {
  const field = path.replace(/\[\d+\]/g, '');
  return LINK_RULES[`${field} ${rule}`] ?? SITE_FIELD_RULES[field];
}

/** The ids of one answer. */
export class ListedIds {
  private readonly seen = new Map<string, { readonly content: string; readonly parents: Set<string> }>();

  /**
   * Whether the answer has the id of this record already. A material may be listed again under another site or kiosk, with the
   * same type and unit (decision 33).
   */
  repeats(list: string, id: string, record: unknown): boolean {
    const key = `${list} ${id.toLowerCase()}`;
    const isMaterial = list === 'data.materials';
    const text = (...names: string[]) =>
      isMaterial ? JSON.stringify(names.map((name) => ownField(record, name))) : '';
    const content = text('materialType', 'measureUnit');
    const parents = text('siteId', 'kioskId').toLowerCase();
    const earlier = this.seen.get(key);
    if (earlier === undefined) {
      this.seen.set(key, { content, parents: new Set([parents]) });
      return false;
    }
    if (!isMaterial || earlier.content !== content || earlier.parents.has(parents)) return true;
    earlier.parents.add(parents);
    return false;
  }
}
