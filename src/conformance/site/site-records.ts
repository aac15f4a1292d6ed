import { MEASURE_UNITS } from '../../contracts/site/site.dto.js';
import { rulesOf, serverRules } from '../checks.js';
import { notApplicable, notProven, passedUnless, type Rule } from '../rule.js';
import { siteFacts } from './site-facts.js';

const LIST_RULES: Readonly<Record<string, string>> = { sites: 'SITE-006', kiosks: 'SITE-007', materials: 'SITE-008' };

type Row = readonly [id: string, field: string, form: string, isOptional?: 'optional'];

/** The fields of section 2.4a. */
const FIELDS: readonly Row[] = [
  ['SITE-010', 'sites[].id', 'a UUID'],
  ['SITE-011', 'sites[].name', 'text of at most 255 characters'],
  ['SITE-012', 'sites[].address', 'an object', 'optional'],
  ['SITE-013', 'sites[].address.line1', 'text of at most 255 characters in every address'],
  ['SITE-014', 'sites[].address.city', 'text of at most 100 characters in every address'],
  ['SITE-015', 'sites[].address.state', 'text of at most 100 characters in every address'],
  ['SITE-016', 'sites[].address.country', 'text of at most 100 characters in every address'],
  ['SITE-017', 'sites[].address.zipCode', 'text of at most 20 characters in every address'],
  ['SITE-018', 'sites[].active', 'a boolean', 'optional'],
  ['SITE-019', 'sites[].updatedAt', 'an ISO 8601 date-time with an offset', 'optional'],
  ['SITE-020', 'kiosks[].id', 'a UUID'],
  ['SITE-021', 'kiosks[].siteId', 'a UUID'],
  ['SITE-022', 'kiosks[].name', 'text of at most 255 characters'],
  ['SITE-023', 'kiosks[].active', 'a boolean', 'optional'],
  ['SITE-024', 'kiosks[].updatedAt', 'an ISO 8601 date-time with an offset', 'optional'],
  ['SITE-030', 'materials[].id', 'a UUID'],
  ['SITE-031', 'materials[].siteId', 'a UUID', 'optional'],
  ['SITE-032', 'materials[].kioskId', 'a UUID', 'optional'],
  ['SITE-033', 'materials[].materialType', 'text of at most 100 characters'],
  ['SITE-034', 'materials[].measureUnit', `one of ${MEASURE_UNITS.join(', ')}`],
  ['SITE-035', 'materials[].active', 'a boolean', 'optional'],
  ['SITE-036', 'materials[].updatedAt', 'an ISO 8601 date-time with an offset', 'optional'],
];

const noRecords = (list: string) =>
  list === 'kiosks' ? notApplicable('the answer has no kiosks') : notProven(`the answer has no ${list}`);

const fieldRules = ([id, field, form, optional]: Row): Rule[] => {
  const list = field.slice(0, field.indexOf('['));
  const parent = `data.${field.slice(0, field.lastIndexOf('.'))}`;
  return rulesOf({ operation: 'getSites', section: '2.4a', on: 'list', needs: [LIST_RULES[list] ?? ''] }, [
    id,
    `${field} is ${form}${optional === undefined ? '' : ', or absent'}`,
    `Send ${field} as ${form}.`,
    (exchange) => {
      const facts = siteFacts(exchange);
      if (facts.countOf(`data.${list}`) === 0) return noRecords(list);
      const fault = facts.faultOf(`data.${field}`);
      if (fault === undefined && optional !== undefined && !facts.has(`data.${field}`))
        return notApplicable(`no record has ${field}`);
      if (field.includes('.address.') && !facts.has(parent)) return notApplicable('no site has an address');
      return passedUnless(fault);
    },
  ]);
};

/** Records and their links; `fact` is the name under which `SiteFacts` stores the fault. */
const isWithout =
  (list: string, fact: string): Rule['check'] =>
  (exchange) => {
    const facts = siteFacts(exchange);
    return facts.countOf(`data.${list}`) === 0
      ? noRecords(list)
      : passedUnless(facts.faultOf(`data.${list}[].$${fact}`));
  };

const links = serverRules(
  `
SITE-037 | must | 2.4a | getSites | list | SITE-008 | every material has a siteId or a kioskId | Send the siteId of the material, or its kioskId where you have kiosks.
SITE-040 | must | 2.4a | getSites | list | SITE-006 | no id in sites is repeated | Send each element of sites once, with an id of its own.
SITE-041 | must | 2.4a | getSites | list | SITE-007 | no id in kiosks is repeated | Send each element of kiosks once, with an id of its own.
SITE-042 | must | 2.4a | getSites | list | SITE-008 | an id in materials is repeated only under another site or kiosk | Send each material once for each of its sites or kiosks, with the same materialType and measureUnit.
SITE-043 | must | 2.4a | getSites | list | SITE-007 | every siteId in kiosks is the id of a site in the answer | Send the site of each element of kiosks in the same answer.
SITE-044 | must | 2.4a | getSites | list | SITE-008 | every siteId in materials is the id of a site in the answer | Send the site of each element of materials in the same answer.
SITE-045 | must | 2.4a | getSites | list | SITE-008 | every kioskId in materials is the id of a kiosk in the answer | Send the kiosk of each element of materials in the same answer.
SITE-046 | should | 2.4a | getSites | list | SITE-008 | a material with a siteId and a kioskId names a kiosk of that site | Send the site to which the kiosk belongs.
SITE-047 | should | 2.4a | getSites | list | SITE-006 | no updatedAt of sites is in the future | Send the time of the last change, with the right offset.
SITE-048 | should | 2.4a | getSites | list | SITE-007 | no updatedAt of kiosks is in the future | Send the time of the last change, with the right offset.
SITE-049 | should | 2.4a | getSites | list | SITE-008 | no updatedAt of materials is in the future | Send the time of the last change, with the right offset.
`,
  {
    'SITE-037': isWithout('materials', 'parent'),
    'SITE-040': isWithout('sites', 'repeated'),
    'SITE-041': isWithout('kiosks', 'repeated'),
    'SITE-042': isWithout('materials', 'repeated'),
    'SITE-043': isWithout('kiosks', 'site'),
    'SITE-044': isWithout('materials', 'site'),
    'SITE-045': isWithout('materials', 'kiosk'),
    'SITE-046': isWithout('materials', 'both'),
    'SITE-047': isWithout('sites', 'future'),
    'SITE-048': isWithout('kiosks', 'future'),
    'SITE-049': isWithout('materials', 'future'),
  },
);

export const SITE_RECORD_RULES: readonly Rule[] = [...FIELDS.flatMap(fieldRules), ...links()];
