import { visibleText } from '../../core/text/visible-text.js';
import type { Outcome } from '../rule.js';
import { type Report, type ReportedRule, withOperation } from './report.js';

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
  const { id, section, operation, outcome, title, message, remedy, request, response } = rule;
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
          ...detail('section', section),
          ...detail('repeat', request?.curl),
          ...detail(
            'answer',
            response === undefined ? undefined : `${response.status} ${response.body.slice(0, MAX_SHOWN_BODY)}`,
          ),
        ]),
  ];
}

/** A text of a server in one line. */
export const visible = (text: string): string => visibleText(text.replaceAll('\n', ' '));
