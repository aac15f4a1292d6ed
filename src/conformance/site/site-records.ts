import { MEASURE_UNITS } from '../../contracts/site/site.api.js';
import { notApplicable, notProven, passedUnless, type Rule } from '../rule.js';
import { siteFacts } from './site-facts.js';
import { OPERATION } from './site-table.js';

/** The rule of each list, which the rules of its records need. */
const LIST_RULES = { sites: 'SITE-006', kiosks: 'SITE-007', materials: 'SITE-008' } as const;
type List = keyof typeof LIST_RULES;

/** A rule without its id. */
type RecordRule = Omit<Rule, 'id'>;

const ruleOf = (list: List, statement: Pick<Rule, 'title' | 'remedy' | 'check'>): RecordRule => ({
  operation: OPERATION,
  section: '2.4a',
  severity: 'must',
  on: 'list',
  needs: [LIST_RULES[list]],
  ...statement,
});

const noRecords = (list: List) =>
  list === 'kiosks' ? notApplicable('the answer has no kiosks') : notProven(`the answer has no ${list}`);

type Field = `${List}[].${string}`;

function fieldOf(field: Field, form: string, isOptional: boolean): RecordRule {
  const list = field.slice(0, field.indexOf('[')) as List;
  const parent = `data.${field.slice(0, field.lastIndexOf('.'))}`;
  return ruleOf(list, {
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
  });
}

const required = (field: Field, form: string): RecordRule => fieldOf(field, form, false);
const optional = (field: Field, form: string): RecordRule => fieldOf(field, form, true);

/** Records and their links; `fact` is the name under which `SiteFacts` stores the fault. */
const without = (list: List, fact: string, title: string, remedy: string): RecordRule =>
  ruleOf(list, {
    title,
    remedy,
    check: (exchange) => {
      const facts = siteFacts(exchange);
      return facts.countOf(`data.${list}`) === 0
        ? noRecords(list)
        : passedUnless(facts.faultOf(`data.${list}[].$${fact}`));
    },
  });

const notRepeated = (list: List): RecordRule =>
  without(
    list,
    'repeated',
    `no id in ${list} is repeated`,
    `Send each element of ${list} once, with an id of its own.`,
  );

const notInFuture = (list: List): RecordRule => ({
  ...without(
    list,
    'future',
    `no updatedAt of ${list} is in the future`,
    'Send the time of the last change, with the right offset.',
  ),
  severity: 'should',
});

/** The parent `fact` of each record of a list is a record of the answer. */
const withParent = (list: List, fact: 'site' | 'kiosk'): RecordRule =>
  without(
    list,
    fact,
    `every ${fact}Id in ${list} is the id of a ${fact} in the answer`,
    `Send the ${fact} of each element of ${list} in the same answer.`,
  );

const INSTANT = 'an RFC 3339 date-time with an offset';

/** The fields of section 2.4a, and the links between the records. */
export const SITE_RECORD_RULES: readonly Rule[] = [
  { id: 'SITE-010', ...required('sites[].id', 'a UUID') },
  { id: 'SITE-011', ...required('sites[].name', 'text of at most 255 characters') },
  { id: 'SITE-012', ...optional('sites[].address', 'an object') },
  { id: 'SITE-013', ...required('sites[].address.line1', 'text of at most 255 characters in every address') },
  { id: 'SITE-014', ...required('sites[].address.city', 'text of at most 100 characters in every address') },
  { id: 'SITE-015', ...required('sites[].address.state', 'text of at most 100 characters in every address') },
  { id: 'SITE-016', ...required('sites[].address.country', 'text of at most 100 characters in every address') },
  { id: 'SITE-017', ...required('sites[].address.zipCode', 'text of at most 20 characters in every address') },
  { id: 'SITE-018', ...optional('sites[].active', 'a boolean') },
  { id: 'SITE-019', ...optional('sites[].updatedAt', INSTANT) },
  { id: 'SITE-020', ...required('kiosks[].id', 'a UUID') },
  { id: 'SITE-021', ...required('kiosks[].siteId', 'a UUID') },
  { id: 'SITE-022', ...required('kiosks[].name', 'text of at most 255 characters') },
  { id: 'SITE-023', ...optional('kiosks[].active', 'a boolean') },
  { id: 'SITE-024', ...optional('kiosks[].updatedAt', INSTANT) },
  { id: 'SITE-030', ...required('materials[].id', 'a UUID') },
  { id: 'SITE-031', ...optional('materials[].siteId', 'a UUID') },
  { id: 'SITE-032', ...optional('materials[].kioskId', 'a UUID') },
  { id: 'SITE-033', ...required('materials[].materialType', 'text of at most 100 characters') },
  { id: 'SITE-034', ...required('materials[].measureUnit', `one of ${MEASURE_UNITS.join(', ')}`) },
  { id: 'SITE-035', ...optional('materials[].active', 'a boolean') },
  { id: 'SITE-036', ...optional('materials[].updatedAt', INSTANT) },
  {
    id: 'SITE-037',
    ...without(
      'materials',
      'parent',
      'every material has a siteId or a kioskId',
      'Send the siteId of the material, or its kioskId where you have kiosks.',
    ),
  },
  { id: 'SITE-040', ...notRepeated('sites') },
  { id: 'SITE-041', ...notRepeated('kiosks') },
  {
    id: 'SITE-042',
    ...without(
      'materials',
      'repeated',
      'an id in materials is repeated only under another site or kiosk',
      'Send each material once for each of its sites or kiosks, with the same materialType and measureUnit.',
    ),
  },
  { id: 'SITE-043', ...withParent('kiosks', 'site') },
  { id: 'SITE-044', ...withParent('materials', 'site') },
  { id: 'SITE-045', ...withParent('materials', 'kiosk') },
  {
    id: 'SITE-046',
    ...without(
      'materials',
      'both',
      'a material with a siteId and a kioskId names a kiosk of that site',
      'Send the site to which the kiosk belongs.',
    ),
    severity: 'should',
  },
  { id: 'SITE-047', ...notInFuture('sites') },
  { id: 'SITE-048', ...notInFuture('kiosks') },
  { id: 'SITE-049', ...notInFuture('materials') },
];
