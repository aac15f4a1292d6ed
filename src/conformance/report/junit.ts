import { escapeMarkup, type Report, type ReportedRule, withOperation } from './report.js';

/** The report as JUnit XML: one test case per rule. A warning passes, with its message in `system-out`. */
export function junitReport({ role, url, startedAt, summary, rules, baseline }: Report): string {
  const known = new Set(baseline?.known);
  const stale = baseline?.stale ?? [];
  const failures = rules.filter(({ id, outcome }) => outcome === 'failed' && !known.has(id)).length + stale.length;
  const skipped = rules.filter(isSkipped).length + known.size;
  const attributes = [
    ['name', role],
    ['tests', rules.length + stale.length],
    ['failures', failures],
    ['errors', summary.kitError],
    ['skipped', skipped],
    ['timestamp', startedAt.slice(0, 19)],
  ] as const;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites><testsuite ${attributes.map(([name, value]) => `${name}="${escapeMarkup(String(value))}"`).join(' ')}>`,
    `<properties><property name="url" value="${escapeMarkup(url)}"/></properties>`,
    ...rules.map((rule) => testCase(rule, role, known.has(rule.id))),
    ...stale.map(
      (id) =>
        `<testcase classname="${role}" name="baseline ${escapeMarkup(id)}"><failure message="the entry is stale: the rule does not fail"/></testcase>`,
    ),
    '</testsuite></testsuites>',
    '',
  ].join('\n');
}

const isSkipped = ({ outcome }: ReportedRule): boolean => outcome === 'not-applicable' || outcome === 'not-proven';

function testCase(rule: ReportedRule, role: string, isKnown: boolean): string {
  const open = `<testcase classname="${role}" name="${escapeMarkup(`${rule.id} ${withOperation(rule.operation, rule.title)}`)}"`;
  const inner = isKnown ? `<skipped message="known failure: ${escapeMarkup(rule.message ?? '')}"/>` : resultOf(rule);
  return inner === '' ? `${open}/>` : `${open}>${inner}</testcase>`;
}

function resultOf(rule: ReportedRule): string {
  const { outcome, message = '', severity, section, remedy = '', request } = rule;
  const text = escapeMarkup([message, `section ${section}`, remedy, request?.curl ?? ''].join('\n'));
  if (outcome === 'failed') return `<failure type="${severity}" message="${escapeMarkup(message)}">${text}</failure>`;
  if (outcome === 'kit-error') return `<error message="${escapeMarkup(message)}">${text}</error>`;
  if (outcome === 'warning') return `<system-out>${text}</system-out>`;
  return isSkipped(rule) ? `<skipped message="${escapeMarkup(`${outcome}: ${message}`)}"/>` : '';
}
