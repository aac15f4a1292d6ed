import 'reflect-metadata';
import { expect, test } from '@jest/globals';
import { SITE_SERVER } from '../../../src/conformance/site/site-server.js';
import { SITE_FIELD_RULES, siteRuleOf } from '../../../src/conformance/site/site-rules.js';

const titleOf = (id: string) => SITE_SERVER.rules.find((rule) => rule.id === id)?.title ?? '';

test.each(Object.entries(SITE_FIELD_RULES))('a finding of %s carries the id of its rule', (field, id) => {
  const [list = '', ...names] = field.split('.');
  expect(titleOf(id)).toContain(names.length === 0 ? `data.${list} ` : `${list}[].${names.join('.')} `);
});

test.each([
  ['materials[0]', 'hasParent', 'SITE-037'],
  ['sites[2].id', 'isUnique', 'SITE-040'],
  ['materials[1].kioskId', 'isKnown', 'SITE-045'],
  ['materials[1].siteId', 'isUuid', 'SITE-031'],
  ['sites[3]', 'isObject', 'SITE-006'],
  ['sites[3].unknown', 'isString', undefined],
])('a finding at %s with the code %s has the rule %s', (path, code, rule) => {
  expect(siteRuleOf(path, code)).toBe(rule);
});

test('a material that is flagged names a kiosk of another site', () => {
  expect(titleOf(siteRuleOf('materials[0].kioskId', 'kioskOfSite') ?? '')).toContain('names a kiosk of that site');
});
