import 'reflect-metadata';
import { expect, test } from '@jest/globals';
import { SITE_SERVER } from '../../src/conformance/site/site-server.js';
import { SITE_FIELD_RULES, siteRuleOf } from '../../src/contracts/site/site-rules.js';

const titleOf = (id: string) => SITE_SERVER.rules.find((rule) => rule.id === id)?.title ?? '';

test.each(Object.entries(SITE_FIELD_RULES))('a finding of %s carries the id of its rule', (field, id) => {
  const [list = '', ...names] = field.split('.');
  expect(titleOf(id)).toContain(names.length === 0 ? `data.${list} ` : `${list}[].${names.join('.')} `);
});

test.each([
  ['materials', 'materials[0]', 'materials[0] has neither a siteId nor a kioskId', 'SITE-037'],
  ['sites', 'sites[2].id', 'sites[2].id is the id of an earlier element', 'SITE-040'],
  ['materials', 'materials[1].kioskId', 'materials[1].kioskId must be the id of a known kiosk', 'SITE-045'],
  ['materials', 'materials[1].siteId', 'materials[1].siteId must be a UUID', 'SITE-031'],
  ['sites', 'sites[3]', 'sites[3] must be an object', 'SITE-006'],
  ['sites', 'sites[3].unknown', 'must be text', undefined],
])('a finding of %s at %s (%s) has the rule %s', (kind, path, reason, rule) => {
  expect(siteRuleOf({ severity: 'quarantined', kind, path, reason })).toBe(rule);
});

test('a material that is flagged names a kiosk of another site', () => {
  const finding = {
    severity: 'flagged',
    kind: 'materials',
    path: 'materials[0].siteId',
    reason: 'another site',
  } as const;
  expect(titleOf(siteRuleOf(finding) ?? '')).toContain('names a kiosk of that site');
});
