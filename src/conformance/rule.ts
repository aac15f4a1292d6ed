import type { Exchange } from './exchange.js';

export const OUTCOMES = ['passed', 'failed', 'warning', 'not-applicable', 'not-proven', 'kit-error'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The result of a check. A failed `should` is reported as a warning. */
export interface Verdict {
  readonly outcome: 'passed' | 'failed' | 'not-applicable' | 'not-proven';
  readonly message?: string;
}

export const passed: Verdict = { outcome: 'passed' };
export const failed = (message: string): Verdict => ({ outcome: 'failed', message });
/** The contract permits the server to leave it out. */
export const notApplicable = (message: string): Verdict => ({ outcome: 'not-applicable', message });
/** The kit saw no data that could show it. */
export const notProven = (message: string): Verdict => ({ outcome: 'not-proven', message });
export const passedUnless = (fault: string | undefined): Verdict => (fault === undefined ? passed : failed(fault));

/** One statement of the specification that can be observed over HTTP. */
export interface RuleFacts {
  /** Stable: it is named in baselines, in findings and in reports. */
  readonly id: string;
  readonly section: string;
  readonly severity: 'must' | 'should';
  readonly operation: string;
  readonly title: string;
  /** What to change when it fails. */
  readonly remedy: string;
}

/** A statement about a server. */
export interface Rule extends RuleFacts {
  /**
   * The exchange that it looks at. The first rule of an exchange decides whether the answer is the expected one; the others
   * are evaluated only when it passed.
   */
  readonly on: string;
  /** Rules that must have passed as well. */
  readonly needs?: readonly string[];
  readonly check: (exchange: Exchange, run: Exchanges) => Verdict | Promise<Verdict>;
}

/** No request could be built: the sentence says what is missing. */
export class MissingData {
  constructor(readonly message: string) {}
}

/** The exchanges of a run, each made once. */
export interface Exchanges {
  readonly fixtures: Fixtures;
  readonly runId: string;
  readonly now: () => Date;
  exchange(name: string): Promise<Exchange | MissingData>;
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

export interface Draft {
  readonly query?: Readonly<Record<string, string>>;
  /** An object is sent as JSON, text as it is. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** An absolute address in place of the operation's. */
  readonly url?: string;
  /** Reads no more of the body, which is then no failure. */
  readonly peekBytes?: number;
  /** For an answer that may be larger than a page. */
  readonly maxBytes?: number;
}

/** One request of a role. */
export interface RequestPlan {
  readonly operation: string;
  /** `write`: a server may store something. Sent only with `--write`. */
  readonly writes?: boolean;
  readonly credentials?: Credentials;
  readonly draft: (run: Exchanges) => Draft | MissingData | Promise<Draft | MissingData>;
  /** The request is repeated until this holds, or the waiting time is over. */
  readonly until?: (exchange: Exchange) => boolean;
}

export interface Operation {
  readonly method: 'GET' | 'POST';
  /** From the base address on. */
  readonly path: string;
}

/** A server role: the requests that the kit makes, and the rules that look at the answers. */
export interface ServerRole {
  readonly name: string;
  readonly keyHeader: string;
  readonly otherHeader: string;
  readonly operations: Readonly<Record<string, Operation>>;
  readonly plans: Readonly<Record<string, RequestPlan>>;
  /** Nothing else is evaluated when the first rule fails because the operation is not there. */
  readonly rules: readonly Rule[];
}
