import type { RefusedRecords } from '../../contracts/admin/sync-runs.routes.js';
import { type RuleName, RULES } from '../../contracts/common/rules.js';
import { siteRuleOf } from '../../conformance/site/site-rules.js';

/** A group of records as a run stores it. */
export type Refusal = Pick<RefusedRecords, 'severity' | 'kind' | 'count' | 'example'> & {
  readonly field: string;
  readonly rule: string;
};

/** The field in a `path` such as `materials[12].measureUnit`; `record` for the record as a whole. */
export const FIELD = `coalesce(nullif(regexp_replace(path, '^\\w+\\[\\d+\\]\\.?', ''), ''), 'record')`;

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

/** A fault in short. Any other is a wrong value, and its cause says why. */
const FAULTS: Readonly<Record<string, (field: string) => string>> = {
  isDefined: (field) => `no ${field}`,
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
  const name = FIELDS[field] ?? (field === 'id' || field === 'name' ? `${field} of a ${NOUNS[kind]}` : field);
  const ruleId = siteRuleOf(field === 'record' ? kind : `${kind}.${field}`, rule);
  return {
    ...group,
    rule,
    ...(ruleId === undefined ? {} : { ruleId }),
    sentence: `${count.toLocaleString('en-US')} × ${FAULTS[rule]?.(name) ?? `wrong ${name}`}`,
    ...(isRule(rule) ? RULES[rule] : { cause: 'The record is invalid.', remedy: 'Correct it.' }),
  };
}
