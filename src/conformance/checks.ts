import { isJsonObject } from '../contracts/common/json.js';
import type { Exchange } from './exchange.js';
import { failed, notProven, passed, passedUnless, type Rule, type Verdict } from './rule.js';

/** Checks that several roles share. */

export const ownField = (value: unknown, name: string): unknown =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

/** The sentence that names the answer in place of the expected one. */
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

export const isDeclaredJson = (exchange: Exchange): Verdict =>
  passedUnless(
    exchange.isDeclaredJson
      ? undefined
      : `Content-Type is ${exchange.header('content-type') ?? 'absent'}, expected application/json`,
  );

/** A body that is not declared as JSON is the fault of another rule. */
export function isJson(exchange: Exchange): Verdict {
  if (exchange.jsonFault === undefined) return passed;
  return exchange.isDeclaredJson ? failed(exchange.jsonFault) : notProven('the body is not declared as JSON');
}

/** Checks one member of the body. */
export const member =
  (path: string, isValid: (value: unknown) => boolean, expected: string) =>
  (exchange: Exchange): Verdict => {
    const value = path.split('.').reduce<unknown>(ownField, exchange.json);
    return passedUnless(isValid(value) ? undefined : `${path} must be ${expected}, it is ${shown(value)}`);
  };

/** A short form of any value for a message. */
export function shown(value: unknown): string {
  if (value === undefined) return 'absent';
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

/** Checks the common error body (section 2.1) with one of these codes. */
export function errorBodyFault(exchange: Exchange, codes: readonly string[]): string | undefined {
  if (!exchange.isDeclaredJson)
    return `Content-Type is ${exchange.header('content-type') ?? 'absent'}, expected application/json`;
  if (exchange.jsonFault !== undefined) return exchange.jsonFault;
  const body = exchange.json;
  const error = ownField(body, 'error');
  if (ownField(body, 'success') !== false) return `success must be false, it is ${shown(ownField(body, 'success'))}`;
  if (!isJsonObject(error)) return `error must be an object, it is ${shown(error)}`;
  const { code, message, details } = error;
  if (!codes.includes(code as string)) return `error.code must be ${codes.join(' or ')}, it is ${shown(code)}`;
  if (typeof message !== 'string') return `error.message must be text, it is ${shown(message)}`;
  if (details != null && !isJsonObject(details)) return `error.details must be an object, it is ${shown(details)}`;
  return undefined;
}

/** A server with a sandbox fails on demand; any other ignores the header. */
export const FAIL_ON_DEMAND = { 'Sandbox-Scenario': 'server-error' } as const;

/** The error body of a 500 (section 7). The exchange has `FAIL_ON_DEMAND`. */
export const internalErrorRule = (
  id: string,
  on: string,
  operation: string,
  severity: Rule['severity'] = 'must',
): Rule => ({
  id,
  section: '7',
  severity,
  operation,
  on,
  title: 'the 500 for an unexpected error has the common error body with INTERNAL_ERROR',
  remedy:
    'Answer { "success": false, "error": { "code": "INTERNAL_ERROR", "message": "…" } } as application/json, and log the incident.',
  check: (exchange) => {
    if (exchange.failure !== undefined) return failed(exchange.failure);
    if (exchange.status !== 500) return notProven(`the server did not fail, the status is ${exchange.status}`);
    return passedUnless(errorBodyFault(exchange, ['INTERNAL_ERROR']));
  },
});

/** A request that the server must refuse. */
export interface Refusal {
  readonly on: string;
  /** The rule of the status and the rule of the error body. */
  readonly ids: readonly [status: string, body: string];
  readonly section: string;
  readonly severity?: 'must' | 'should';
  readonly operation: string;
  /** `a request without the API-KEY header` */
  readonly of: string;
  readonly status: number | readonly number[];
  readonly codes: readonly string[];
  readonly bodySection?: string;
  readonly bodySeverity?: 'must' | 'should';
  readonly remedy: string;
  readonly needs?: readonly string[];
}

/** The two rules of a refusal: its status, and its error body. */
export function refusalRules(refusals: readonly Refusal[]): Rule[] {
  return refusals.flatMap(({ ids, of, status, codes, remedy, severity = 'must', ...rest }): Rule[] => {
    const statuses = [status].flat();
    const { on, operation, section, needs } = rest;
    const common = { on, operation, ...(needs === undefined ? {} : { needs }) };
    return [
      {
        ...common,
        id: ids[0],
        section,
        severity,
        title: `${of} is answered with ${statuses.join(' or ')}`,
        remedy,
        check: hasStatus(...statuses),
      },
      {
        ...common,
        id: ids[1],
        section: rest.bodySection ?? '7',
        severity: rest.bodySeverity ?? severity,
        title: `the ${statuses.join(' or ')} for ${of} has the common error body with ${codes.join(' or ')}`,
        remedy: `Answer { "success": false, "error": { "code": "${codes[0]}", "message": "…" } } as application/json.`,
        check: (exchange) => passedUnless(errorBodyFault(exchange, codes)),
      },
    ];
  });
}
