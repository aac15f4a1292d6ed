import type { RefusedRecords } from '../../contracts/admin/sync-refusal.dto.js';
import { type RuleName, RULES } from '../../contracts/common/rules.js';
import { siteRuleOf } from '../../conformance/site/site-rules.js';

/** A group of records as a run stores it. */
export type Refusal = Pick<RefusedRecords, 'severity' | 'kind' | 'count' | 'example'> & {
  readonly field: string;
  readonly rule: string;
};

/** The field in a path such as `materials[12].measureUnit`; `record` for the record as a whole. */
export const fieldSql = (path: string): string =>
  `coalesce(nullif(regexp_replace(${path}, '^\\w+\\[\\d+\\]\\.?', ''), ''), 'record')`;

const NOUNS = { sites: 'site', kiosks: 'kiosk', materials: 'material' } as const;

/** What people call a field. */
const FIELDS: Readonly<Record<string, string>> = {
  record: 'record',
  siteId: 'site',
  kioskId: 'kiosk',
  materialType: 'material type',
  measureUnit: 'unit',
  updatedAt: 'time of the change',
  active: 'state',
  'address.line1': 'street',
  'address.city': 'city',
  'address.state': 'state of the address',
  'address.country': 'country',
  'address.zipCode': 'postal code',
};

/** A fault in short. */
const FAULTS: Partial<Record<RuleName, (field: string) => string>> = {
  isDefined: (field) => `no ${field}`,
  isEnum: (field) => `wrong ${field}`,
  isUuid: (field) => `${field} that is no UUID`,
  isLength: (field) => `${field} that is blank, too short or too long`,
  isString: (field) => `${field} that is no text`,
  isText: (field) => `${field} with invalid characters`,
  isObject: (field) => `${field} that is no object`,
  isBoolean: (field) => `${field} that is neither true nor false`,
  isInstant: (field) => `${field} without an offset or a date`,
  isPast: (field) => `${field} in the future`,
  isKnown: (field) => `unknown ${field}`,
  isUnique: () => 'id of an earlier record',
  hasParent: () => 'neither site nor kiosk',
  maxSize: () => 'record that is too large',
  kioskOfSite: () => 'kiosk of another site',
  isListed: () => 'list that is absent',
};

const isRule = (rule: string): rule is RuleName => rule in RULES;

/** `43 × wrong unit`, with cause and remedy. */
export function toRefusedRecords({ rule, ...group }: Refusal): RefusedRecords {
  const { kind, field, count } = group;
  const known = isRule(rule) ? rule : undefined;
  const name = FIELDS[field] ?? (field === 'id' || field === 'name' ? `${field} of a ${NOUNS[kind]}` : field);
  const fault = (known === undefined ? undefined : FAULTS[known]) ?? ((of: string) => `invalid ${of}`);
  const ruleId = siteRuleOf(field === 'record' ? kind : `${kind}.${field}`, rule);
  return {
    ...group,
    rule,
    ...(ruleId === undefined ? {} : { ruleId }),
    sentence: `${count.toLocaleString('en-US')} × ${fault(name)}`,
    ...(known === undefined ? { cause: 'The record is invalid.', remedy: 'Correct it.' } : RULES[known]),
  };
}
