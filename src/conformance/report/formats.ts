import { escapeMarkup, exitCodeOf, operationOf, type Report, type ReportedRule, withOperation } from './report.js';
import { visibleText } from '../../core/text/visible-text.js';
import type { Outcome } from '../rule.js';

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
  const { outcome, message = '', severity, remedy = '', request } = rule;
  const text = escapeMarkup([message, placeOf(rule), remedy, request?.curl ?? ''].join('\n'));
  if (outcome === 'failed') return `<failure type="${severity}" message="${escapeMarkup(message)}">${text}</failure>`;
  if (outcome === 'kit-error') return `<error message="${escapeMarkup(message)}">${text}</error>`;
  if (outcome === 'warning') return `<system-out>${text}</system-out>`;
  return isSkipped(rule) ? `<skipped message="${escapeMarkup(`${outcome}: ${message}`)}"/>` : '';
}

const MARKS: Readonly<Record<Outcome, string>> = {
  passed: 'pass',
  failed: 'FAIL',
  warning: 'warn',
  'not-applicable': 'n/a ',
  'not-proven': '?   ',
  'kit-error': 'ERR ',
};
const MAX_SHOWN_BODY = 400;

export function textReport(report: Report): string {
  const { role, url, summary, rules, baseline, changes } = report;
  const lines = [
    `${role} at ${visible(url)}, run ${report.runId}`,
    '',
    ...rules.flatMap((rule) => linesOf(rule, baseline?.known.includes(rule.id) === true)),
    '',
    `${summary.passed} passed, ${summary.failed} failed, ${summary.warning} warnings, ${summary.notApplicable} not applicable, ` +
      `${summary.notProven} not proven, ${summary.kitError} kit errors`,
    ...(baseline === undefined
      ? []
      : [`baseline: ${baseline.known.length} known failures, ${baseline.stale.length} stale entries`]),
    ...(baseline?.stale ?? []).map((id) => `stale: ${id} does not fail; remove it from the baseline`),
    ...(changes === undefined ? [] : [`${changes.length} changes`]),
    ...(changes ?? []).map(({ id, before, after }) => `${id}: ${before} -> ${after}`),
  ];
  return `${lines.join('\n')}\n`;
}

function linesOf(rule: ReportedRule, isKnown: boolean): string[] {
  const { id, operation, outcome, title, message, remedy, request, response } = rule;
  const detail = (name: string, value: string | undefined) =>
    value === undefined ? [] : [`      ${name}: ${visible(value)}`];
  const note = message === undefined || remedy !== undefined ? '' : ` (${visible(message)})`;
  return [
    `${MARKS[outcome]}  ${id}  ${withOperation(operation, title)}${note}${isKnown ? ' [known]' : ''}`,
    ...(remedy === undefined
      ? []
      : [
          ...detail('found', message),
          ...detail('change', remedy),
          ...detail('read', placeOf(rule)),
          ...detail('repeat', request?.curl),
          ...detail(
            'answer',
            response === undefined ? undefined : `${response.status} ${response.body.slice(0, MAX_SHOWN_BODY)}`,
          ),
        ]),
  ];
}

/** The page has the fields of the section, and an example. */
const placeOf = ({ section }: ReportedRule): string => `section ${section} of docs/interfaces.md`;

/** A text of a server in one line. */
const visible = (text: string): string => visibleText(text.replaceAll('\n', ' '));

const STYLE = `
:root{color-scheme:light dark;--line:#d0d7de;--muted:#59636e;--pass:#1a7f37;--fail:#cf222e;--warn:#9a6700;--back:#fff;--text:#1f2328;--soft:#f6f8fa}
@media (prefers-color-scheme:dark){:root{--line:#3d444d;--muted:#9198a1;--pass:#3fb950;--fail:#f85149;--warn:#d29922;--back:#0d1117;--text:#f0f6fc;--soft:#151b23}}
body{font:15px/1.5 system-ui,sans-serif;margin:0 auto;max-width:70rem;padding:1.5rem;background:var(--back);color:var(--text)}
h1{font-size:1.5rem;margin:0;text-wrap:balance}h2{font-size:1.15rem;margin:2rem 0 .5rem}p{margin:.25rem 0;color:var(--muted);overflow-wrap:anywhere}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(8rem,1fr));gap:.75rem;margin:1.5rem 0}dl div{border:1px solid var(--line);border-radius:.5rem;padding:.5rem .75rem}
dt{color:var(--muted);font-size:.85rem}dd{margin:0;font-size:1.4rem;font-weight:600}
details p{color:var(--text)}.verdict{font-weight:600;font-size:1.05rem;margin-top:.75rem}.label{font-weight:600;margin-top:.6rem}
details,.rule{border-bottom:1px solid var(--line);padding:.5rem 0}summary{cursor:pointer}
.id{font-family:ui-monospace,monospace;font-size:.85rem;color:var(--muted);margin:0 .6rem}.operation{color:var(--muted);margin-right:.6rem}.operation:empty{display:none}.mark{display:inline-block;min-width:7.5rem;font-weight:600;font-size:.85rem}
.passed{color:var(--pass)}.failed,.kit-error{color:var(--fail)}.warning{color:var(--warn)}.not-applicable,.not-proven{color:var(--muted)}
.note{color:var(--muted);margin-left:.5rem}pre{background:var(--soft);border-radius:.4rem;padding:.6rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere;font-size:.82rem;margin:.35rem 0}
@media (max-width:40rem){body{padding:1rem}dl{grid-template-columns:repeat(3,1fr);gap:.5rem}dl div{padding:.4rem .5rem}dt{font-size:.75rem}.mark{min-width:0}.title,.note{display:block;margin:.15rem 0 0}}
@media print{body{max-width:none;padding:0}pre{max-height:none}}
table{border-collapse:collapse}td,th{text-align:left;padding:.2rem 1rem .2rem 0}`;

/** The report as one page that needs nothing else. */
export function htmlReport(report: Report): string {
  const { role, url, runId, startedAt, kitVersion, summary, rules, baseline, changes } = report;
  const shown: readonly (readonly [name: string, count: number, mark: string])[] = [
    ['passed', summary.passed, 'passed'],
    ['failed', summary.failed, 'failed'],
    ['warnings', summary.warning, 'warning'],
    ['not applicable', summary.notApplicable, 'not-applicable'],
    ['not proven', summary.notProven, 'not-proven'],
    ['kit errors', summary.kitError, 'kit-error'],
  ];
  const isProblem = ({ remedy }: ReportedRule) => remedy !== undefined;
  const problems = rules.filter(isProblem);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Conformance of ${escapeMarkup(role)}</title><style>${STYLE}</style></head><body>
<h1>Conformance of ${escapeMarkup(role)}</h1>
<p>${escapeMarkup(url)}</p><p>Run ${escapeMarkup(runId)}, started ${escapeMarkup(startedAt)}, kit ${escapeMarkup(kitVersion)}</p>
${verdictOf(report)}
<dl>${shown.map(([name, count, mark]) => `<div><dt>${name}</dt><dd${count === 0 ? '' : ` class="${mark}"`}>${count}</dd></div>`).join('')}</dl>
${problems.length === 0 ? '' : `<h2>To change</h2>${problems.map((rule) => problem(rule, baseline?.known.includes(rule.id) === true)).join('')}`}
${baseline === undefined ? '' : `<h2>Baseline</h2><p>${baseline.known.length} known failures, ${baseline.stale.length} stale entries${baseline.stale.length === 0 ? '' : `: ${escapeMarkup(baseline.stale.join(', '))}`}</p>`}
${changes === undefined ? '' : `<h2>Changes</h2>${changesTable(changes)}`}
<h2>All rules</h2>
${rules.map((rule) => `<div class="rule">${headOf(rule)}<span class="note">${escapeMarkup(rule.message ?? '')}</span></div>`).join('\n')}
</body></html>
`;
}

const headOf = ({ id, operation, outcome, title }: ReportedRule): string =>
  `<span class="mark ${outcome}">${outcome.replace('-', ' ')}</span><span class="id">${id}</span><span class="operation">${operationOf(operation)}</span><span class="title">${escapeMarkup(title)}</span>`;

/** Passed if the exit code is 0. */
function verdictOf(report: Report): string {
  const isPassed = exitCodeOf(report) === 0;
  return `<p class="verdict ${isPassed ? 'passed' : 'failed'}">${isPassed ? 'Passed' : 'Not passed'}</p>`;
}

function problem(rule: ReportedRule, isKnown: boolean): string {
  const { message = '', remedy = '', severity, request, response } = rule;
  const block = (name: string, text: string | undefined) =>
    text === undefined ? '' : `<p class="label">${name}</p><pre>${escapeMarkup(text)}</pre>`;
  const answer = response === undefined ? undefined : `${response.status}\n${response.body}`;
  return `<details open><summary>${headOf(rule)}${isKnown ? '<span class="note">known</span>' : ''}</summary>
<p>${escapeMarkup(message)}</p><p><strong>Change:</strong> ${escapeMarkup(remedy)} (${escapeMarkup(placeOf(rule))}, ${severity})</p>
${block('Repeat', request?.curl)}${block('Answer', answer)}</details>`;
}

const changesTable = (changes: NonNullable<Report['changes']>): string =>
  changes.length === 0
    ? '<p>none</p>'
    : `<table><tr><th>rule</th><th>before</th><th>after</th></tr>${changes
        .map(({ id, before, after }) => `<tr><td>${[id, before, after].map(escapeMarkup).join('</td><td>')}</td></tr>`)
        .join('')}</table>`;
