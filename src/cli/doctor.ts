import { type Attention, type CheckedKind, SEVERITIES } from '../contracts/admin/attention.dto.js';
import { visibleText } from '../core/text/visible-text.js';

type Item = Attention['data'][number];

const WIDTH = Math.max(...SEVERITIES.map(({ length }) => length));

/** One line each: what needs attention, the most urgent first, and what is not known. */
export function renderAttention({ data, total, checked }: Attention): string {
  const unknown = checked.filter(({ ok }) => !ok);
  const made = `${checked.length - unknown.length} checks were made`;
  return [
    ...data.map((item) => `${item.severity.padEnd(WIDTH)}  ${item.kind}  ${visibleText(sentenceOf(item))}`),
    ...(total > data.length ? [`and ${total - data.length} of lower rank`] : []),
    ...unknown.map(({ kind, reason = '' }) => `${'?'.padEnd(WIDTH)}  ${kind}  not known: ${visibleText(reason)}`),
    total === 0 ? `${made}, and nothing needs attention` : `${made}`,
  ]
    .map((line) => `${line}\n`)
    .join('');
}

const sentenceOf = ({ hauler, subject, sentence }: Item): string =>
  hauler === undefined ? `${subject}: ${sentence}` : `${hauler.name}, ${subject}: ${sentence}`;

/**
 * Why `doctor` ends with 1. What is over or far off (`watch`) is no reason, and neither is a check that a setting of the
 * operator rules out: it would be one for ever.
 */
export function failureOf({ data, checked }: Attention): string | undefined {
  const wrong = namesOf(data.filter(({ severity }) => severity !== 'watch'));
  const unknown = namesOf(checked.filter(({ ok, bySetting }) => !ok && bySetting !== true));
  const parts = [
    ...(wrong.length > 0 ? [`to be put right: ${wrong.join(', ')}`] : []),
    ...(unknown.length > 0 ? [`could not be checked: ${unknown.join(', ')}`] : []),
  ];
  return parts.length === 0 ? undefined : parts.join('; ');
}

const namesOf = (all: readonly Pick<CheckedKind, 'kind'>[]): string[] => [...new Set(all.map(({ kind }) => kind))];
