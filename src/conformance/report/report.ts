import type { Exchange } from '../exchange.js';
import type { Outcome, RuleFacts } from '../rule.js';
import type { RuleResult } from '../run.js';

/** The JSON report, from which the other formats are derived. */

export const KIT_VERSION = '1.0.0';
export const RULE_ID = /^[A-Z]+-\d{3}$/;
const MAX_BODY_CHARACTERS = 2_000;

export interface Report {
  readonly role: string;
  readonly url: string;
  readonly startedAt: string;
  readonly kitVersion: string;
  readonly runId: string;
  readonly summary: Summary;
  readonly rules: readonly ReportedRule[];
  /** The failures that the baseline names, and its entries that do not fail. */
  readonly baseline?: { readonly known: readonly string[]; readonly stale: readonly string[] };
  readonly changes?: readonly { readonly id: string; readonly before: string; readonly after: string }[];
}

export interface Summary {
  readonly passed: number;
  readonly failed: number;
  readonly warning: number;
  readonly notApplicable: number;
  readonly notProven: number;
  readonly kitError: number;
}

export interface ReportedRule extends Omit<RuleFacts, 'remedy'> {
  readonly outcome: Outcome;
  readonly message?: string;
  readonly remedy?: string;
  readonly request?: {
    readonly method: string;
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string;
    readonly curl: string;
  };
  readonly response?: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly sizeBytes: number;
  };
}

export interface ReportInput {
  readonly role: string;
  readonly url: string;
  readonly runId: string;
  readonly startedAt: Date;
  readonly results: readonly RuleResult[];
  /** Replaced by `[redacted]`. */
  readonly apiKey: string;
  readonly baseline?: readonly string[];
  readonly compare?: Report;
}

export function reportOf(input: ReportInput): Report {
  const rules = input.results.map((result) => reportedRule(result, input.apiKey));
  const outcomes = new Map(rules.map(({ id, outcome }) => [id, outcome]));
  const count = (outcome: Outcome) => rules.filter((rule) => rule.outcome === outcome).length;
  return {
    role: input.role,
    url: input.url,
    startedAt: input.startedAt.toISOString(),
    kitVersion: KIT_VERSION,
    runId: input.runId,
    summary: {
      passed: count('passed'),
      failed: count('failed'),
      warning: count('warning'),
      notApplicable: count('not-applicable'),
      notProven: count('not-proven'),
      kitError: count('kit-error'),
    },
    rules,
    baseline: input.baseline && againstBaseline(input.baseline, outcomes),
    changes: input.compare && changesSince(input.compare, outcomes),
  };
}

/** An entry whose rule was not proven in this run is neither known nor stale. */
function againstBaseline(ids: readonly string[], outcomes: ReadonlyMap<string, Outcome>) {
  const unproven: readonly (Outcome | undefined)[] = ['failed', 'not-proven', 'kit-error'];
  const unique = [...new Set(ids)];
  return {
    known: unique.filter((id) => outcomes.get(id) === 'failed'),
    stale: unique.filter((id) => !unproven.includes(outcomes.get(id))),
  };
}

function changesSince({ rules }: Report, outcomes: ReadonlyMap<string, Outcome>) {
  const before = new Map(rules.map(({ id, outcome }) => [id, outcome]));
  const ids = [...new Set([...before.keys(), ...outcomes.keys()])];
  return ids
    .map((id) => ({ id, before: before.get(id) ?? 'absent', after: outcomes.get(id) ?? 'absent' }))
    .filter((change) => change.before !== change.after);
}

/** 0 if only rules of the baseline failed, and all of them did. */
export function exitCodeOf({ rules, baseline }: Report): 0 | 1 {
  const isUnknown = ({ id, outcome }: ReportedRule) =>
    outcome === 'kit-error' || (outcome === 'failed' && baseline?.known.includes(id) !== true);
  return rules.some(isUnknown) || (baseline?.stale.length ?? 0) > 0 ? 1 : 0;
}

function reportedRule({ rule, outcome, message, exchange }: RuleResult, apiKey: string): ReportedRule {
  const { id, section, severity, operation, title, remedy } = rule;
  const clean = (text: string) => text.replaceAll(apiKey, '[redacted]');
  const facts = { id, section, severity, operation, title, outcome, message: message && clean(message) };
  if (!['failed', 'warning', 'kit-error'].includes(outcome)) return facts;
  return { ...facts, remedy, ...(exchange && shownExchange(exchange, clean, apiKey)) };
}

function shownExchange({ request, answer }: Exchange, clean: (text: string) => string, apiKey: string) {
  const { method, url, headers, body } = request;
  const cleanAll = (all: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(all).map(([name, value]) => [name, clean(value)]));
  const text =
    answer?.body
      .subarray(0, MAX_BODY_CHARACTERS * 4)
      .toString('utf8')
      .slice(0, MAX_BODY_CHARACTERS) ?? '';
  return {
    request: {
      method,
      url: clean(url),
      headers: cleanAll(headers),
      body: body && clean(body),
      curl: clean(curlOf(request, apiKey)),
    },
    response: answer && {
      status: answer.status,
      headers: cleanAll(answer.headers),
      body: text.includes('\0') ? `${answer.body.length} bytes that are no text` : clean(text),
      sizeBytes: answer.body.length,
    },
  };
}

/** A command that repeats the request; the key is read from the variable `API_KEY`. */
function curlOf({ method, url, headers, body }: Exchange['request'], apiKey: string): string {
  const header = ([name, value]: [string, string]) =>
    value === apiKey ? `-H "${name}: $API_KEY"` : `-H ${inQuotes(`${name}: ${value}`)}`;
  return [
    'curl -i',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    inQuotes(url),
    ...Object.entries(headers).map(header),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `--data-binary ${inQuotes(body)}`]),
  ].join(' ');
}

/** The operation of a rule for a reader; empty for a rule of all operations. */
export const operationOf = (operation: string): string => (operation === 'every' ? '' : operation);

/** Two operations may have rules with the same title. */
export const withOperation = (operation: string, title: string): string =>
  operationOf(operation) === '' ? title : `${operation}: ${title}`;

const inQuotes = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for XML and HTML. Characters that XML does not permit are replaced. */
export const escapeMarkup = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
