import { MAX_LIST_BYTES, MAX_RECORD_BYTES, MAX_WHOLE_BYTES } from '../contracts/common/answer-limits.js';
import { isJsonObject, ownField } from '../contracts/common/json.js';
import type { Exchange } from './exchange.js';
import { checkOf, ruleTable } from './rule-table.js';
import { failed, notProven, passed, passedIf, passedUnless, type Rule, type Verdict } from './rule.js';

/** Checks and rules that several server roles share. */

const MIB = 1_048_576;

/** Why the status is not one of the expected ones. */
export function statusFault(exchange: Exchange, ...expected: readonly number[]): string | undefined {
  if (exchange.failure !== undefined) return exchange.failure;
  if (expected.includes(exchange.status)) return undefined;
  return `the status is ${exchange.status}, expected ${expected.join(' or ')}${hintOf(exchange)}`;
}

function hintOf({ status }: Exchange): string {
  if (status >= 300 && status < 400) return ': API calls follow no redirect';
  return status === 401 ? ': is the key right?' : '';
}

export const hasStatus =
  (...expected: readonly number[]) =>
  (exchange: Exchange): Verdict =>
    passedUnless(statusFault(exchange, ...expected));

const contentTypeFault = (exchange: Exchange): string | undefined =>
  exchange.isDeclaredJson
    ? undefined
    : `Content-Type is ${exchange.header('content-type') ?? 'absent'}, expected application/json`;

/** A body that is not declared as JSON is the fault of another rule. */
export function isJson(exchange: Exchange): Verdict {
  if (exchange.answer?.exceeds !== undefined) return notProven('the answer was not read to its end');
  if (exchange.jsonFault === undefined) return passed;
  return exchange.isDeclaredJson ? failed(exchange.jsonFault) : notProven('the body is not declared as JSON');
}

/** A short form of any value for a message. */
export function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** The fault of the common error body (section 2.1) with this code. */
export function errorBodyFault(exchange: Exchange, code: string): string | undefined {
  const fault = contentTypeFault(exchange) ?? exchange.jsonFault;
  if (fault !== undefined) return fault;
  const success = ownField(exchange.json, 'success');
  const error = ownField(exchange.json, 'error');
  if (success !== false) return `success must be false, it is ${shown(success)}`;
  if (!isJsonObject(error)) return `error must be an object, it is ${shown(error)}`;
  const { message, details } = error;
  if (error['code'] !== code) return `error.code must be ${code}, it is ${shown(error['code'])}`;
  if (typeof message !== 'string') return `error.message must be text, it is ${shown(message)}`;
  if (details != null && !isJsonObject(details)) return `error.details must be an object, it is ${shown(details)}`;
  return undefined;
}

/** The properties that the rules of a group share. */
export interface RuleGroup {
  readonly operation: string;
  readonly section: string;
  readonly on: string;
  readonly severity?: Rule['severity'];
  readonly needs?: readonly string[];
}

export type RuleRow = readonly [id: string, title: string, remedy: string, check: Rule['check']];

export const rulesOf = (
  { operation, section, on, severity = 'must', needs = [] }: RuleGroup,
  ...rows: readonly RuleRow[]
): Rule[] =>
  rows.map(([id, title, remedy, check]) => ({ id, operation, section, on, severity, needs, title, remedy, check }));

/**
 * Rules as text (`ruleTable`), with the name of the request and the needed rules, or -, after the operation. The result picks
 * rules by their ids, or all: a rule stands after those that it needs.
 */
export function serverRules(text: string, checks: Readonly<Record<string, Rule['check']>>) {
  const rules = ruleTable(text).map(([facts, [on = '', needs = '']]): Rule => ({
    ...facts,
    on,
    needs: needs === '-' ? [] : needs.split(' '),
    check: checkOf(checks, facts.id),
  }));
  return (...ids: readonly string[]): Rule[] => rules.filter(({ id }) => ids.length === 0 || ids.includes(id));
}

/** How an answer is declared, and its form. */
export const jsonRules = (
  [typeId, formId]: readonly [typeId: string, formId: string],
  operation: string,
  on: string,
  answer: string,
): Rule[] =>
  rulesOf(
    { operation, section: '4', on },
    [
      typeId,
      `${answer} is application/json`,
      'Send Content-Type: application/json.',
      (exchange) => passedUnless(contentTypeFault(exchange)),
    ],
    [formId, `${answer} is JSON in UTF-8`, 'Write the body with a JSON serializer, in UTF-8.', isJson],
  );

/** The limits within which the platform reads an answer; `recordsOf` are the records of a list. */
export const sizeRules = (
  id: string,
  { operation, on }: Pick<RuleGroup, 'operation' | 'on'>,
  recordsOf: (exchange: Exchange) => readonly (readonly [list: string, records: readonly unknown[]])[] = () => [],
): Rule[] =>
  rulesOf({ operation, on, section: '8' }, [
    id,
    'the answer, and each of its records, is small enough for the platform',
    `Send smaller answers: the platform reads ${MAX_LIST_BYTES / MIB} MiB of a list, ${MAX_RECORD_BYTES / MIB} MiB of each record of it, and ${MAX_WHOLE_BYTES / MIB} MiB of an acknowledgement.`,
    (exchange) => {
      const { exceeds, body } = exchange.answer ?? {};
      if (exceeds !== undefined) return failed(`the answer is larger than ${exceeds / MIB} MiB`);
      if ((body?.length ?? 0) <= MAX_RECORD_BYTES) return passed;
      for (const [list, records] of recordsOf(exchange)) {
        const i = records.findIndex((each) => Buffer.byteLength(JSON.stringify(each)) > MAX_RECORD_BYTES);
        if (i >= 0) return failed(`${list}[${i}] is larger than ${MAX_RECORD_BYTES / MIB} MiB`);
      }
      return passed;
    },
  ]);

/** The required form of a value, in words and as a check. */
export type Form = readonly [words: string, isValid: (value: unknown) => boolean];
export const TEXT: Form = ['text', (value) => typeof value === 'string' && value !== ''];
export const TRUE: Form = ['true', (value) => value === true];

/** A rule of one member of a JSON answer; `path` is `success` or `data.sites`. */
export const memberRow = (
  id: string,
  path: string,
  [words, isValid]: Form,
  remedy = `Send ${path} as ${words.replace('or absent', 'or leave it out')}.`,
): RuleRow => [
  id,
  `${path} is ${words}`,
  remedy,
  ({ json }) => {
    const value = valueAt(json, path);
    return passedIf(isValid(value), `${path} must be ${words}, it is ${shown(value)}`);
  },
];

export const valueAt = (body: unknown, path: string): unknown => path.split('.').reduce<unknown>(ownField, body);
