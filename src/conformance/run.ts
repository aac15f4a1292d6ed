import { setTimeout as delay } from 'node:timers/promises';
import { Exchange, type KitRequest, NoAnswerError, type Send, UnprovenError } from './exchange.js';
import {
  type Credentials,
  type Content,
  type Exchanges,
  type Fixtures,
  notApplicable,
  notProven,
  type Outcome,
  outcomeOf,
  type RequestPlan,
  type Rule,
  type RuleFacts,
  type ServerRole,
} from './rule.js';

export interface RuleResult {
  readonly rule: RuleFacts;
  readonly outcome: Outcome;
  readonly message?: string;
  /** The exchange that was checked. */
  readonly exchange?: Exchange;
}

export interface RunOptions {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly fixtures: Fixtures;
  readonly send: Send;
  readonly runId: string;
  /** Goes on with the other operations where the server lacks the first one. */
  readonly isEachOperationAsked?: boolean;
  /** Replaces the time between two requests. */
  readonly pause?: (ms: number) => Promise<unknown>;
  /** Why a request is not sent; undefined where it is. */
  readonly refuse: (plan: RequestPlan) => string | undefined;
}

/** After this number of requests without an answer, no other rule is evaluated. */
const MAX_FAILURES = 4;
const FIRST_PAUSE_MS = 200;
const MAX_PAUSE_MS = 2_000;
/** For an exchange that is repeated until the server is done. */
const MAX_WAIT_MS = 60_000;
const WRONG_KEY = 'conformance-kit-wrong-key';

/** Evaluates the rules of a server role in their order, one request after the other. */
export async function runServerRole(role: ServerRole, options: RunOptions): Promise<RuleResult[]> {
  return new Evaluation(role, options).results();
}

class Evaluation implements Exchanges {
  readonly fixtures: Fixtures;
  readonly runId: string;
  private readonly exchanges = new Map<string, Promise<Exchange>>();
  private readonly repeated = new Map<string, Exchange[]>();
  private readonly outcomes = new Map<string, Outcome>();
  private readonly firstRules = new Map<string, string>();
  private failures = 0;
  private isAbsent = false;

  constructor(
    private readonly role: ServerRole,
    private readonly options: RunOptions,
  ) {
    this.fixtures = options.fixtures;
    this.runId = options.runId;
    for (const { on, id } of role.rules) if (!this.firstRules.has(on)) this.firstRules.set(on, id);
  }

  async results(): Promise<RuleResult[]> {
    const results: RuleResult[] = [];
    for (const rule of this.role.rules) {
      const result = await this.evaluate(rule);
      this.outcomes.set(rule.id, result.outcome);
      results.push(result);
    }
    return results;
  }

  exchange(name: string, page = 1): Promise<Exchange> {
    const key = page === 1 ? name : `${name} ${page}`;
    let exchange = this.exchanges.get(key);
    if (exchange === undefined) {
      exchange = this.make(name, page);
      this.exchanges.set(key, exchange);
    }
    return exchange;
  }

  attempts(name: string): readonly Exchange[] {
    return this.repeated.get(name) ?? [];
  }

  private async evaluate(rule: Rule): Promise<RuleResult> {
    const obstacle = this.obstacleOf(rule);
    if (obstacle !== undefined) return { rule, ...obstacle };
    let exchange: Exchange | undefined;
    try {
      exchange = await this.exchange(rule.on);
      if (rule === this.role.rules[0] && this.options.isEachOperationAsked !== true) this.isAbsent = isAbsent(exchange);
      const verdict = await rule.check(exchange, this);
      return { rule, exchange, outcome: outcomeOf(rule, verdict), message: verdict.message };
    } catch (error) {
      if (error instanceof UnprovenError) return { rule, outcome: 'not-proven', message: error.message };
      return { rule, outcome: 'kit-error', message: `the kit failed: ${(error as Error).message}`, exchange };
    }
  }

  /** A rule about a part that the answer may leave out is as little applicable as the rule that it needs. */
  private obstacleOf({ id, on, needs = [] }: Rule): Pick<RuleResult, 'outcome' | 'message'> | undefined {
    const primary = this.role.rules[0]?.id ?? '';
    if (this.isAbsent && this.outcomes.get(primary) === 'failed') return notProven(`${primary} failed`);
    if (this.failures >= MAX_FAILURES) return notProven('the server did not answer several requests');
    const first = this.firstRules.get(on) ?? id;
    const needed = [...(first === id ? [] : [first]), ...needs];
    const missing = needed.find((each) => this.outcomes.get(each) !== 'passed');
    if (missing === undefined) return undefined;
    const outcome = this.outcomes.get(missing) ?? 'not evaluated';
    const message = `it needs ${missing}, which is ${outcome}`;
    return outcome === 'not-applicable' ? notApplicable(message) : notProven(message);
  }

  private async make(name: string, page: number): Promise<Exchange> {
    const plan = this.role.plans[name];
    if (plan === undefined) throw new Error(`unknown request ${name}`);
    const refusal = this.options.refuse(plan);
    if (refusal !== undefined) throw new UnprovenError(refusal);
    const request = this.requestOf(plan, await plan.content(this, page));
    const { pause = delay } = this.options;
    if (plan.pauseMs !== undefined) await pause(plan.pauseMs);
    const end = Date.now() + MAX_WAIT_MS;
    for (let pauseMs = FIRST_PAUSE_MS, waitedMs = 0; ; pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      const exchange = await this.sendOnce(request);
      if (plan.until !== undefined) this.repeated.set(name, [...this.attempts(name), exchange]);
      const isDone = plan.until === undefined || plan.until(exchange) || exchange.failure !== undefined;
      waitedMs += pauseMs;
      if (isDone || waitedMs > MAX_WAIT_MS || Date.now() + pauseMs > end) return exchange;
      await pause(pauseMs);
    }
  }

  private async sendOnce(request: KitRequest): Promise<Exchange> {
    try {
      return new Exchange(request, await this.options.send(request));
    } catch (error) {
      if (!(error instanceof NoAnswerError)) throw error;
      this.failures++;
      return new Exchange(request, error);
    }
  }

  private requestOf({ operation, credentials = 'key', isKept }: RequestPlan, content: Content): KitRequest {
    const route = this.role.operations[operation];
    const { url, query, body, peekBytes } = content;
    return {
      operation,
      method: route?.method ?? 'GET',
      url: url ?? `${this.options.baseUrl}${route?.path ?? ''}${searchOf(query)}`,
      headers: { ...this.keyOf(credentials), ...content.headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      peekBytes,
      isKept,
      maxBytes: route?.maxBytes,
      isFile: route?.isFile,
    };
  }

  private keyOf(credentials: Credentials): Record<string, string> {
    const { keyHeader, otherHeader } = this.role;
    const { apiKey } = this.options;
    switch (credentials) {
      case 'key':
        return { [keyHeader]: apiKey };
      case 'wrong-key':
        return { [keyHeader]: WRONG_KEY };
      case 'other-header':
        return { [otherHeader]: apiKey };
      case 'none':
        return {};
    }
  }
}

/** The server lacks the operation, or refuses the key: its other answers would prove nothing. */
const isAbsent = ({ failure, status }: Exchange): boolean =>
  failure !== undefined || (status >= 300 && status < 400) || [401, 403, 404, 405].includes(status) || status >= 500;

function searchOf(query: Content['query'] = {}): string {
  const sent = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const text = new URLSearchParams(sent).toString();
  return text === '' ? '' : `?${text}`;
}
