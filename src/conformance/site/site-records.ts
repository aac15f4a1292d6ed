import { MEASURE_UNITS } from '../../contracts/site/site.dto.js';
import { type RuleGroup, rulesOf } from '../checks.js';
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

const LISTS = ['sites', 'kiosks', 'materials'] as const;

/** Rules of a record and its links; `fact` is the name under which `SiteFacts` stores the fault. */
type LinkRow = readonly [
  id: string,
  list: string,
  fact: string,
  severity: Rule['severity'],
  title: string,
  remedy: string,
];

const parentRow = (id: string, list: string, parentKind: string): LinkRow => [
  id,
  list,
  `$${parentKind}`,
  'must',
  `every ${parentKind}Id in ${list} is the id of a ${parentKind} in the answer`,
  `Send the ${parentKind} of each element of ${list} in the same answer.`,
];

const LINKS: readonly LinkRow[] = [
  [
    'SITE-037',
    'materials',
    '$parent',
    'must',
    'every material has a siteId or a kioskId',
    'Send the siteId of the material, or its kioskId where you have kiosks.',
  ],
  ...LISTS.map((list, i): LinkRow => [
    `SITE-04${i}`,
    list,
    '$repeated',
    'must',
    `no id in ${list} is repeated`,
    `Send each element of ${list} once, with an id of its own.`,
  ]),
  parentRow('SITE-043', 'kiosks', 'site'),
  parentRow('SITE-044', 'materials', 'site'),
  parentRow('SITE-045', 'materials', 'kiosk'),
  ...LISTS.map((list, i): LinkRow => [
    `SITE-04${7 + i}`,
    list,
    '$future',
    'should',
    `no updatedAt of ${list} is in the future`,
    'Send the time of the last change, with the right offset.',
  ]),
  [
    'SITE-046',
    'materials',
    '$both',
    'should',
    'a material with a siteId and a kioskId names a kiosk of that site',
    'Send the site to which the kiosk belongs.',
  ],
];

const groupOf = (list: string, severity: Rule['severity']): RuleGroup => {
  return { operation: 'getSites', section: '2.4a', on: 'list', severity, needs: [LIST_RULES[list] ?? ''] };
};

const noRecords = (list: string) =>
  list === 'kiosks' ? notApplicable('the answer has no kiosks') : notProven(`the answer has no ${list}`);

const fieldRules = ([id, field, form, optional]: Row): Rule[] => {
  const list = field.slice(0, field.indexOf('['));
  const parent = `data.${field.slice(0, field.lastIndexOf('.'))}`;
  return rulesOf(groupOf(list, 'must'), [
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

const linkRules = ([id, list, fact, severity, title, remedy]: LinkRow): Rule[] =>
  rulesOf(groupOf(list, severity), [
    id,
    title,
    remedy,
    (exchange) => {
      const facts = siteFacts(exchange);
      return facts.countOf(`data.${list}`) === 0
        ? noRecords(list)
        : passedUnless(facts.faultOf(`data.${list}[].${fact}`));
    },
  ]);

export const SITE_RECORD_RULES: readonly Rule[] = [...FIELDS.flatMap(fieldRules), ...LINKS.flatMap(linkRules)];
