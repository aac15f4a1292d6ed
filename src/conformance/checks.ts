import { MAX_LIST_BYTES, MAX_RECORD_BYTES, MAX_WHOLE_BYTES } from '../contracts/common/answer-limits.js';
import { isJsonObject, ownField } from '../contracts/common/json.js';
import type { Exchange } from './exchange.js';
import { failed, notProven, passed, passedIf, passedUnless, type Rule, type Verdict } from './rule.js';

/** Checks, and parts of rules, that several server roles share. */

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

/** What a server says of its error. */
export const messageOf = ({ json }: Exchange): string => shown(valueAt(json, 'error.message'));

/** What a rule asserts, what to change where it does not hold, and the check. */
export type Assertion = Pick<Rule, 'title' | 'remedy' | 'check'>;

export const declaredAsJson = (answer: string): Assertion => ({
  title: `${answer} is application/json`,
  remedy: 'Send Content-Type: application/json.',
  check: (exchange) => passedUnless(contentTypeFault(exchange)),
});

export const inJson = (answer: string): Assertion => ({
  title: `${answer} is JSON in UTF-8`,
  remedy: 'Write the body with a JSON serializer, in UTF-8.',
  check: isJson,
});

type Records = readonly (readonly [list: string, records: readonly unknown[]])[];

/** The limits within which the platform reads an answer; `recordsOf` are the records of a list. */
export const smallEnough = (recordsOf: (exchange: Exchange) => Records = () => []): Assertion => ({
  title: 'the answer, and each of its records, is small enough for the platform',
  remedy: `Send smaller answers: the platform reads ${MAX_LIST_BYTES / MIB} MiB of a list, ${MAX_RECORD_BYTES / MIB} MiB of each record of it, and ${MAX_WHOLE_BYTES / MIB} MiB of an acknowledgement.`,
  check: (exchange) => {
    const { exceeds, body } = exchange.answer ?? {};
    if (exceeds !== undefined) return failed(`the answer is larger than ${exceeds / MIB} MiB`);
    if ((body?.length ?? 0) <= MAX_RECORD_BYTES) return passed;
    for (const [list, records] of recordsOf(exchange)) {
      const i = records.findIndex((each) => Buffer.byteLength(JSON.stringify(each)) > MAX_RECORD_BYTES);
      if (i >= 0) return failed(`${list}[${i}] is larger than ${MAX_RECORD_BYTES / MIB} MiB`);
    }
    return passed;
  },
});

/** The required form of a value, in words and as a check. */
export type Form = readonly [words: string, isValid: (value: unknown) => boolean];
export const TEXT: Form = ['text', (value) => typeof value === 'string' && value !== ''];
export const TRUE: Form = ['true', (value) => value === true];

/** One member of a JSON answer; `path` is `success` or `data.sites`. */
export const member = (path: string, [words, isValid]: Form): Assertion => ({
  title: `${path} is ${words}`,
  remedy: `Send ${path} as ${words.replace('or absent', 'or leave it out')}.`,
  check: ({ json }) => {
    const value = valueAt(json, path);
    const other = nameInsteadOf(json, path);
    const hint = other === undefined ? '' : `: the answer has ${other}`;
    return passedIf(isValid(value) && other === undefined, `${path} must be ${words}, it is ${shown(value)}${hint}`);
  },
});

/** The value at `data.request` or `gaps[0].startTime`. */
export const valueAt = (body: unknown, path: string): unknown => path.split(/[.[\]]+/).reduce<unknown>(ownField, body);

/** The name that an absent member has by mistake: it differs from the right one by case, `_` or `-` alone. */
export function nameInsteadOf(body: unknown, path: string): string | undefined {
  if (valueAt(body, path) != null) return undefined;
  const [, parent = '', name = ''] = /^(?:(.*)\.)?(.+)$/.exec(path) ?? [];
  const owner = parent === '' ? body : valueAt(body, parent);
  return isJsonObject(owner)
    ? Object.keys(owner).find((each) => each !== name && plain(each) === plain(name))
    : undefined;
}

const plain = (name: string): string => name.replace(/[_-]/g, '').toLowerCase();
