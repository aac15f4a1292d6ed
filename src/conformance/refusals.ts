import type { Exchange } from './exchange.js';
import { errorBodyFault, hasStatus, type Assertion } from './checks.js';
import {
  failed,
  notProven,
  passed,
  passedUnless,
  type RefusedGroup,
  type RefusedRequest,
  type Refusal,
  type RequestPlan,
  type Rule,
} from './rule.js';

/** The tables of requests that a server must refuse. */

export const INVALID_PAYLOAD: Refusal = { status: 400, code: 'INVALID_PAYLOAD' };
export const UNAUTHORIZED: Refusal = { status: 401, code: 'UNAUTHORIZED' };
export const NOT_FOUND: Refusal = { status: 404, code: 'NOT_FOUND' };

const errorBodyRemedy = (code: string): string =>
  `Send { "success": false, "error": { "code": "${code}", "message": "…" } } as application/json.`;

/** Two rules for each request: the status, and the error body. */
export const refusalRules = (groups: readonly RefusedGroup[]): Rule[] =>
  groups.flatMap(({ operation, section, severity, subject, status, code, remedy, requests }) =>
    requests.flatMap(({ ids: [id, bodyId], words, remedy: ownRemedy = remedy }): Rule[] => {
      const facts = { severity, operation, on: id };
      const title = `${subject} ${words} is answered with ${status}`;
      const bodyTitle = `the ${status} for ${subject} ${words} has the common error body with ${code}`;
      const hasErrorBody = (exchange: Exchange) => passedUnless(errorBodyFault(exchange, code));
      return [
        { ...facts, id, section, title, remedy: ownRemedy, check: hasStatus(status) },
        { ...facts, id: bodyId, section: '7', title: bodyTitle, remedy: errorBodyRemedy(code), check: hasErrorBody },
      ];
    }),
  );

/** The error body of a 500 (section 7), of a request that has the id of the rule. */
export const internalErrorRule = (id: string, operation: string): Rule => ({
  id,
  operation,
  on: id,
  section: '7',
  severity: 'must',
  title: 'the 500 for an unexpected error has the common error body with INTERNAL_ERROR',
  remedy: `${errorBodyRemedy('INTERNAL_ERROR')} Log the incident.`,
  check: (exchange) => {
    if (exchange.failure !== undefined) return failed(exchange.failure);
    if (exchange.status !== 500) return notProven(`the server did not fail, the status is ${exchange.status}`);
    return passedUnless(errorBodyFault(exchange, 'INTERNAL_ERROR'));
  },
});

type Plans = Readonly<Record<string, RequestPlan>>;

/** Before the next request on a connection, so that a server that closes it has done so. */
const CLOSING_MS = 100;

/** A request without a key, and the same again on its connection. */
export function refusedBodyPlans(operation: string): Plans {
  const plan = { operation, credentials: 'none', isKept: true } as const;
  const body = { note: 'a body that a server must read, or else close the connection' };
  return {
    refusedBody: { ...plan, content: () => ({ body }) },
    afterRefusedBody: {
      ...plan,
      pauseMs: CLOSING_MS,
      content: async (run) => {
        await run.exchange('refusedBody');
        // A server that serves one connection at a time waits for the end of this one.
        return { body, headers: { Connection: 'close' } };
      },
    },
  };
}

/** A server that answers before it has read a body takes the body for the next request of the connection. */
export const READS_REFUSED_BODY: Assertion = {
  title: 'the body of a refused request is read, or the connection is closed',
  remedy:
    'Read the body before you answer, also with 401, or send Connection: close: what is not read is taken for the next request of the connection.',
  check: async (exchange, run) => {
    const first = await run.exchange('refusedBody');
    if (first.status !== UNAUTHORIZED.status) return notProven('the request without a key was not refused');
    if (exchange.status === first.status) return passed;
    const found = exchange.failure ?? `the status is ${exchange.status}`;
    return failed(
      `the body of a refused request was not read: after it, on the same connection, ${found}, expected ${first.status}`,
    );
  },
};

/** A server with a sandbox fails on demand; any other ignores the header. */
export const failing = (plan: RequestPlan): RequestPlan => ({
  ...plan,
  content: async (run, page) => ({
    ...(await plan.content(run, page)),
    headers: { 'Sandbox-Scenario': 'server-error' },
  }),
});

/** The refused requests: each is made from a valid one, and one without a right from a plain one, which stores nothing. */
export const refusalPlans = (
  groups: readonly RefusedGroup[],
  plain: (operation: string) => RequestPlan,
  valid: (operation: string, request: RefusedRequest) => RequestPlan,
): Plans =>
  Object.fromEntries(
    groups.flatMap(({ operation, status, requests }) =>
      requests.map((request) => [
        request.ids[0],
        status === UNAUTHORIZED.status
          ? { ...plain(operation), credentials: request.value as RequestPlan['credentials'] }
          : changedPlan(valid(operation, request), request),
      ]),
    ),
  );

/** A valid request with the change of a refused one. A change of the whole body needs no valid request. */
function changedPlan(valid: RequestPlan, { field, value }: RefusedRequest): RequestPlan {
  if (field === '' && typeof value !== 'function')
    return { operation: valid.operation, content: () => ({ body: value }) };
  return {
    ...valid,
    content: async (run, page) => {
      const content = await valid.content(run, page);
      const part = content.query === undefined ? 'body' : 'query';
      return { ...content, [part]: changed(content[part], field, value) };
    },
  };
}

/** The body or the query with one field changed; an empty field stands for the whole. */
function changed(old: unknown, field: string, value: unknown): unknown {
  if (field === '') return typeof value === 'function' ? (value as (old: unknown) => unknown)(old) : value;
  return { ...(old as object), [field]: value };
}
