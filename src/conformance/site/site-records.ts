import { MEASURE_UNITS } from '../../contracts/site/site.dto.js';
import type { Statement } from '../checks.js';
import { notApplicable, notProven, passedUnless, type Rule } from '../rule.js';
import { siteFacts } from './site-facts.js';
import { OPERATION } from './site-table.js';

/** What the rules of the records of a list have in common: they need the rule of that list. */
const RECORDS = { operation: OPERATION, section: '2.4a', severity: 'must', on: 'list' } as const;
const SITES = { ...RECORDS, needs: ['SITE-006'] } as const;
const KIOSKS = { ...RECORDS, needs: ['SITE-007'] } as const;
const MATERIALS = { ...RECORDS, needs: ['SITE-008'] } as const;

const noRecords = (list: string) =>
  list === 'kiosks' ? notApplicable('the answer has no kiosks') : notProven(`the answer has no ${list}`);

function fieldOf(field: string, form: string, isOptional: boolean): Statement {
  const list = field.slice(0, field.indexOf('['));
  const parent = `data.${field.slice(0, field.lastIndexOf('.'))}`;
  return {
    title: `${field} is ${form}${isOptional ? ', or absent' : ''}`,
    remedy: `Send ${field} as ${form}.`,
    check: (exchange) => {
      const facts = siteFacts(exchange);
      if (facts.countOf(`data.${list}`) === 0) return noRecords(list);
      const fault = facts.faultOf(`data.${field}`);
      if (fault === undefined && isOptional && !facts.has(`data.${field}`))
        return notApplicable(`no record has ${field}`);
      if (field.includes('.address.') && !facts.has(parent)) return notApplicable('no site has an address');
      return passedUnless(fault);
    },
  };
}

const required = (field: string, form: string): Statement => fieldOf(field, form, false);
const optional = (field: string, form: string): Statement => fieldOf(field, form, true);

/** Records and their links; `fact` is the name under which `SiteFacts` stores the fault. */
const isWithout =
  (list: string, fact: string): Rule['check'] =>
  (exchange) => {
    const facts = siteFacts(exchange);
    return facts.countOf(`data.${list}`) === 0
      ? noRecords(list)
      : passedUnless(facts.faultOf(`data.${list}[].$${fact}`));
  };

/** The fields of section 2.4a, and the links between the records. */
export const SITE_RECORD_RULES: readonly Rule[] = [
  { id: 'SITE-010', ...SITES, ...required('sites[].id', 'a UUID') },
  { id: 'SITE-011', ...SITES, ...required('sites[].name', 'text of at most 255 characters') },
  { id: 'SITE-012', ...SITES, ...optional('sites[].address', 'an object') },
  { id: 'SITE-013', ...SITES, ...required('sites[].address.line1', 'text of at most 255 characters in every address') },
  { id: 'SITE-014', ...SITES, ...required('sites[].address.city', 'text of at most 100 characters in every address') },
  { id: 'SITE-015', ...SITES, ...required('sites[].address.state', 'text of at most 100 characters in every address') },
  {
    id: 'SITE-016',
    ...SITES,
    ...required('sites[].address.country', 'text of at most 100 characters in every address'),
  },
  {
    id: 'SITE-017',
    ...SITES,
    ...required('sites[].address.zipCode', 'text of at most 20 characters in every address'),
  },
  { id: 'SITE-018', ...SITES, ...optional('sites[].active', 'a boolean') },
  { id: 'SITE-019', ...SITES, ...optional('sites[].updatedAt', 'an ISO 8601 date-time with an offset') },
  { id: 'SITE-020', ...KIOSKS, ...required('kiosks[].id', 'a UUID') },
  { id: 'SITE-021', ...KIOSKS, ...required('kiosks[].siteId', 'a UUID') },
  { id: 'SITE-022', ...KIOSKS, ...required('kiosks[].name', 'text of at most 255 characters') },
  { id: 'SITE-023', ...KIOSKS, ...optional('kiosks[].active', 'a boolean') },
  { id: 'SITE-024', ...KIOSKS, ...optional('kiosks[].updatedAt', 'an ISO 8601 date-time with an offset') },
  { id: 'SITE-030', ...MATERIALS, ...required('materials[].id', 'a UUID') },
  { id: 'SITE-031', ...MATERIALS, ...optional('materials[].siteId', 'a UUID') },
  { id: 'SITE-032', ...MATERIALS, ...optional('materials[].kioskId', 'a UUID') },
  { id: 'SITE-033', ...MATERIALS, ...required('materials[].materialType', 'text of at most 100 characters') },
  { id: 'SITE-034', ...MATERIALS, ...required('materials[].measureUnit', `one of ${MEASURE_UNITS.join(', ')}`) },
  { id: 'SITE-035', ...MATERIALS, ...optional('materials[].active', 'a boolean') },
  { id: 'SITE-036', ...MATERIALS, ...optional('materials[].updatedAt', 'an ISO 8601 date-time with an offset') },
  {
    id: 'SITE-037',
    ...MATERIALS,
    title: 'every material has a siteId or a kioskId',
    remedy: 'Send the siteId of the material, or its kioskId where you have kiosks.',
    check: isWithout('materials', 'parent'),
  },
  {
    id: 'SITE-040',
    ...SITES,
    title: 'no id in sites is repeated',
    remedy: 'Send each element of sites once, with an id of its own.',
    check: isWithout('sites', 'repeated'),
  },
  {
    id: 'SITE-041',
    ...KIOSKS,
    title: 'no id in kiosks is repeated',
    remedy: 'Send each element of kiosks once, with an id of its own.',
    check: isWithout('kiosks', 'repeated'),
  },
  {
    id: 'SITE-042',
    ...MATERIALS,
    title: 'an id in materials is repeated only under another site or kiosk',
    remedy: 'Send each material once for each of its sites or kiosks, with the same materialType and measureUnit.',
    check: isWithout('materials', 'repeated'),
  },
  {
    id: 'SITE-043',
    ...KIOSKS,
    title: 'every siteId in kiosks is the id of a site in the answer',
    remedy: 'Send the site of each element of kiosks in the same answer.',
    check: isWithout('kiosks', 'site'),
  },
  {
    id: 'SITE-044',
    ...MATERIALS,
    title: 'every siteId in materials is the id of a site in the answer',
    remedy: 'Send the site of each element of materials in the same answer.',
    check: isWithout('materials', 'site'),
  },
  {
    id: 'SITE-045',
    ...MATERIALS,
    title: 'every kioskId in materials is the id of a kiosk in the answer',
    remedy: 'Send the kiosk of each element of materials in the same answer.',
    check: isWithout('materials', 'kiosk'),
  },
  {
    id: 'SITE-046',
    ...MATERIALS,
    severity: 'should',
    title: 'a material with a siteId and a kioskId names a kiosk of that site',
    remedy: 'Send the site to which the kiosk belongs.',
    check: isWithout('materials', 'both'),
  },
  {
    id: 'SITE-047',
    ...SITES,
    severity: 'should',
    title: 'no updatedAt of sites is in the future',
    remedy: 'Send the time of the last change, with the right offset.',
    check: isWithout('sites', 'future'),
  },
  {
    id: 'SITE-048',
    ...KIOSKS,
    severity: 'should',
    title: 'no updatedAt of kiosks is in the future',
    remedy: 'Send the time of the last change, with the right offset.',
    check: isWithout('kiosks', 'future'),
  },
  {
    id: 'SITE-049',
    ...MATERIALS,
    severity: 'should',
    title: 'no updatedAt of materials is in the future',
    remedy: 'Send the time of the last change, with the right offset.',
    check: isWithout('materials', 'future'),
  },
];
