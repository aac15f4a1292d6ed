import { ownField } from '../contracts/common/json.js';
import { errorBodyFault, hasStatus, rulesOf } from './checks.js';
import { type Exchanges, failed, notProven, passed, passedUnless, type RequestPlan, type Rule } from './rule.js';

/** The tables of requests that a server must refuse, and of requests that it must accept although they look odd. */

/**
 * A request with one change. `id` is that of the rule of the status, and the name of the request. `field` is a path such as
 * `materials.0.id`; an empty one stands for the whole body or query. `value` replaces the field: undefined leaves it out, and
 * a function computes it from the old one.
 */
export type RequestRow = readonly [id: string, field: string, words: string, value: unknown, remedy?: string];
export type Change = (old: unknown, run: Exchanges) => unknown;

/** How a server must refuse a request: the status, and the code of the common error body. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
}
export const INVALID_PAYLOAD: Refusal = { status: 400, code: 'INVALID_PAYLOAD' };
export const UNAUTHORIZED: Refusal = { status: 401, code: 'UNAUTHORIZED' };
export const NOT_FOUND: Refusal = { status: 404, code: 'NOT_FOUND' };

export interface RefusedGroup extends Refusal {
  readonly operation: string;
  readonly section: string;
  readonly remedy: string;
  readonly severity?: Rule['severity'];
  readonly bodySeverity?: Rule['severity'];
  readonly needs?: readonly string[];
  readonly rows: readonly RequestRow[];
}

/** The rows of an operation whose key is missing, wrong, or in the header of the other interfaces (section 5). */
export const keyRows = (
  [none, wrong, other]: readonly [none: string, wrong: string, other: string],
  request: string,
  [header, elsewhere]: readonly [header: string, elsewhere: string],
  remedies: readonly string[] = [],
): readonly RequestRow[] => [
  [none, header, `${request} without the header ${header}`, 'none', remedies[0]],
  [wrong, header, `${request} with a wrong key`, 'wrong-key', remedies[1]],
  [other, header, `${request} with the key in ${elsewhere}`, 'other-header'],
];

/** The id of the rule of the error body: it follows that of the status. */
export const bodyRuleOf = (id: string): string =>
  id.replace(/\d+$/, (n) => String(Number(n) + 1).padStart(n.length, '0'));

const errorBodyRemedy = (code: string): string =>
  `Send { "success": false, "error": { "code": "${code}", "message": "…" } } as application/json.`;

/** Two rules for each row: the status, and the error body. */
export const refusalRules = (...groups: readonly RefusedGroup[]): Rule[] =>
  groups.flatMap(
    ({ operation, section, status, code, remedy, severity = 'must', bodySeverity = severity, needs, rows }) =>
      rows.flatMap(([id, , words, , ownRemedy = remedy]) => [
        ...rulesOf({ operation, section, on: id, severity, needs }, [
          id,
          `${words} is answered with ${status}`,
          ownRemedy,
          hasStatus(status),
        ]),
        ...rulesOf({ operation, section: '7', on: id, severity: bodySeverity, needs }, [
          bodyRuleOf(id),
          `the ${status} for ${words} has the common error body with ${code}`,
          errorBodyRemedy(code),
          (exchange) => passedUnless(errorBodyFault(exchange, code)),
        ]),
      ]),
  );

/** The error body of a 500 (section 7). The request is named as its rule. */
export const internalErrorRules = (id: string, operation: string, severity: Rule['severity'] = 'must'): Rule[] =>
  rulesOf({ operation, section: '7', on: id, severity }, [
    id,
    'the 500 for an unexpected error has the common error body with INTERNAL_ERROR',
    `${errorBodyRemedy('INTERNAL_ERROR')} Log the incident.`,
    (exchange) => {
      if (exchange.failure !== undefined) return failed(exchange.failure);
      if (exchange.status !== 500) return notProven(`the server did not fail, the status is ${exchange.status}`);
      return passedUnless(errorBodyFault(exchange, 'INTERNAL_ERROR'));
    },
  ]);

type Plans = Readonly<Record<string, RequestPlan>>;

/** Before the next request on a connection, so that a server that closes it has done so. */
const CLOSING_MS = 100;

/** A request without a key, and the same again on its connection. */
export function refusedBodyPlans(operation: string): Plans {
  const plan = { operation, credentials: 'none', isKept: true } as const;
  const body = { note: 'a body that a server must read, or else close the connection' };
  return {
    refusedBody: { ...plan, draft: () => ({ body }) },
    afterRefusedBody: {
      ...plan,
      pauseMs: CLOSING_MS,
      draft: async (run) => {
        await run.exchange('refusedBody');
        // A server that serves one connection at a time waits for the end of this one.
        return { body, headers: { Connection: 'close' } };
      },
    },
  };
}

/** A server that answers before it has read a body takes the body for the next request of the connection. */
export const refusedBodyRules = (id: string, operation: string, needs: readonly string[]): Rule[] =>
  rulesOf({ operation, section: '4', on: 'afterRefusedBody', needs }, [
    id,
    'the body of a refused request is read, or the connection is closed',
    'Read the body before you answer, also with 401, or send Connection: close: what is not read is taken for the next request of the connection.',
    async (exchange, run) => {
      const first = await run.exchange('refusedBody');
      if (first.status !== UNAUTHORIZED.status) return notProven('the request without a key was not refused');
      if (exchange.status === first.status) return passed;
      const found = exchange.failure ?? `the status is ${exchange.status}`;
      return failed(
        `the body of a refused request was not read: after it, on the same connection, ${found}, expected ${first.status}`,
      );
    },
  ]);

/** A server with a sandbox fails on demand; any other ignores the header. */
export const failing = (plan: RequestPlan): RequestPlan => ({
  ...plan,
  draft: async (run, page) => ({ ...(await plan.draft(run, page)), headers: { 'Sandbox-Scenario': 'server-error' } }),
});

/** The requests of the rows: each is made from a valid one, and one without a right from a plain one, which stores nothing. */
export const refusalPlans = (
  groups: readonly RefusedGroup[],
  plain: (operation: string) => RequestPlan,
  valid: (operation: string, row: RequestRow) => RequestPlan,
): Plans =>
  Object.fromEntries(
    groups.flatMap(({ operation, status, rows }) =>
      rows.map((row) => [
        row[0],
        status === UNAUTHORIZED.status
          ? { ...plain(operation), credentials: row[3] as RequestPlan['credentials'] }
          : changedPlan(valid(operation, row), row),
      ]),
    ),
  );

/** A valid request with the change of a row. A change of the whole body needs no valid request. */
export function changedPlan(valid: RequestPlan, [, field, , value]: RequestRow): RequestPlan {
  if (field === '' && typeof value !== 'function')
    return { operation: valid.operation, draft: () => ({ body: value }) };
  return {
    ...valid,
    draft: async (run, page) => {
      const draft = await valid.draft(run, page);
      const part = draft.query === undefined ? 'body' : 'query';
      return { ...draft, [part]: await changed(draft[part], field === '' ? [] : field.split('.'), value, run) };
    },
  };
}

/** The value with one field changed. */
async function changed(old: unknown, path: readonly string[], change: unknown, run: Exchanges): Promise<unknown> {
  const [name, ...rest] = path;
  if (name === undefined) return typeof change === 'function' ? (change as Change)(old, run) : change;
  const next = await changed(ownField(old, name), rest, change, run);
  return Array.isArray(old) ? (old as unknown[]).with(Number(name), next) : { ...(old as object), [name]: next };
}
