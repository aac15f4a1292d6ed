import type { Exchange } from './exchange.js';

/** The result of a check. */
export interface Verdict {
  readonly outcome: 'passed' | 'failed' | 'not-applicable' | 'not-proven';
  readonly message?: string;
}

/** The result of a rule. A failed `should` is a warning. */
export type Outcome = Verdict['outcome'] | 'warning' | 'kit-error';

export const outcomeOf = ({ severity }: RuleFacts, { outcome }: Verdict): Outcome =>
  outcome === 'failed' && severity === 'should' ? 'warning' : outcome;

export const passed: Verdict = { outcome: 'passed' };
export const failed = (message: string): Verdict => ({ outcome: 'failed', message });
/** The answer does not have the optional part that the rule is about. */
export const notApplicable = (message: string): Verdict => ({ outcome: 'not-applicable', message });
/** The run has no data that could break the rule. */
export const notProven = (message: string): Verdict => ({ outcome: 'not-proven', message });
export const passedIf = (isPassed: boolean, fault: string): Verdict => (isPassed ? passed : failed(fault));
export const passedUnless = (fault: string | undefined): Verdict => (fault === undefined ? passed : failed(fault));

/** One statement of the specification that can be observed over HTTP. */
export interface RuleFacts {
  /** Stable: it is named in baselines, in findings and in reports. */
  readonly id: string;
  readonly section: string;
  readonly severity: 'must' | 'should';
  readonly operation: string;
  readonly title: string;
  /** What to change if it fails. */
  readonly remedy: string;
}

/** A statement about a server. */
export interface Rule extends RuleFacts {
  /** The exchange that it checks. The other rules of an exchange are evaluated only if the first one passed. */
  readonly on: string;
  /** Rules that must have passed as well. */
  readonly needs?: readonly string[];
  /** May throw `UnprovenError`. */
  readonly check: (exchange: Exchange, run: Exchanges) => Verdict | Promise<Verdict>;
}

/** The exchanges of a run. Each request is sent once, when a rule first needs it. */
export interface Exchanges {
  readonly fixtures: Fixtures;
  readonly runId: string;
  /** A list may be read page by page. Throws `UnprovenError`. */
  exchange(name: string, page?: number): Promise<Exchange>;
  /** The exchanges of a request that was repeated until the server was done, oldest first. */
  attempts(name: string): readonly Exchange[];
}

/** Data of the server that the kit asks for. */
export interface Fixtures {
  readonly haulerId?: string;
  readonly customerId?: string;
  readonly truckId?: string;
  readonly cameraId?: string;
  readonly from?: string;
  readonly to?: string;
  readonly siteId?: string;
  readonly materialId?: string;
}

/** How a request is authorised. */
export type Credentials = 'key' | 'none' | 'wrong-key' | 'other-header';

/** What a request says. */
export interface Content {
  /** A parameter that is undefined is left out. */
  readonly query?: Readonly<Record<string, string | undefined>>;
  /** An object is sent as JSON, text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** An absolute address in place of the operation's. */
  readonly url?: string;
  /** Reads only this many bytes of the body. */
  readonly peekBytes?: number;
}

/** One request of a role. */
export interface RequestPlan {
  readonly operation: string;
  /** The server may store something, so the request is sent only with `--write`. */
  readonly writes?: boolean;
  readonly credentials?: Credentials;
  /** On the one connection that stays open. */
  readonly isKept?: boolean;
  /** The time before the request, for a second look at what changes with time. */
  readonly pauseMs?: number;
  /** Throws `UnprovenError` if data for the request is missing. */
  readonly content: (run: Exchanges, page: number) => Content | Promise<Content>;
  /** The request is repeated until this is true, for at most a minute. */
  readonly until?: (exchange: Exchange) => boolean;
}

export interface Operation {
  readonly method: 'GET' | 'POST';
  /** Follows the base address. */
  readonly path: string;
  /** The platform reads no larger answer. */
  readonly maxBytes?: number;
  /** It sends files. */
  readonly isFile?: boolean;
}

/** A request with one change, which a server must refuse. */
export interface RefusedRequest {
  /** The ids of the rules of the status and of the error body. The first one is also the name of the request. */
  readonly ids: readonly [status: string, body: string];
  /** A member of the body or of the query; an empty one stands for the whole. */
  readonly field: string;
  /** What is wrong with it: `without customerId`. */
  readonly words: string;
  /** Replaces the field: undefined leaves it out, and a function computes it from the old one. Of a 401 the `Credentials`. */
  readonly value: unknown;
  /** In place of that of the group. */
  readonly remedy?: string;
}

/** How a server must refuse a request: the status, and the code of the common error body. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
}

export interface RefusedGroup extends Refusal {
  readonly operation: string;
  readonly section: string;
  readonly severity: Rule['severity'];
  /** With what the titles of its rules begin: `a list of videos`. */
  readonly subject: string;
  readonly remedy: string;
  readonly requests: readonly RefusedRequest[];
}

/** A server role: the requests that the kit sends, and the rules that check the answers. */
export interface ServerRole {
  readonly name: string;
  readonly keyHeader: string;
  readonly otherHeader: string;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly plans: Readonly<Record<string, RequestPlan>>;
  /** The requests that the server must refuse; `plans` has each under its first id, and `rules` has its rules. */
  readonly refused: readonly RefusedGroup[];
  /** If the first rule fails because the server lacks the operation, no other rule is evaluated. */
  readonly rules: readonly Rule[];
}
