import { Injectable } from '@nestjs/common';
import {
  type Exchange,
  type KitAnswer,
  type KitRequest,
  NoAnswerError,
  UnprovenError,
} from '../conformance/exchange.js';
import type { RequestPlan, ServerRole } from '../conformance/rule.js';
import { type RuleResult, runServerRole } from '../conformance/run.js';
import { MAX_WHOLE_BYTES } from '../contracts/common/answer-limits.js';
import { isJsonObject, ownField } from '../contracts/common/json.js';
import { rememberSiteFacts, SITE_LISTS, SiteFacts, siteFacts } from '../conformance/site/site-facts.js';
import { SITE_SERVER } from '../conformance/site/site-server.js';
import { listOf } from '../conformance/vision/vision-facts.js';
import { VISION_SERVER } from '../conformance/vision/vision-server.js';
import type { CheckedRule, PartnerInterface } from '../contracts/admin/connections.routes.js';
import type { ApiContract, ApiRoute } from '../contracts/common/api-contract.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import { SealBrokenError } from './connection-keys.service.js';
import type { ConnectionEntity } from './connection.entity.js';
import { type PartnerAnswer, recordTooLarge } from './partner-answer.js';
import { PartnerClient } from './partner-client.js';
import { type FailureKind, PartnerFailure } from './partner-failure.js';

interface Subject {
  readonly role: ServerRole;
  readonly api: ApiContract;
  /** The requests that the check makes: GETs with the fixtures of the connection. */
  readonly requests: readonly string[];
  /** The request without the hauler, after a 404 for it: a server that has the operation refuses it with 400. */
  readonly ifUnknown: string;
  /** What the first answer lists, as a sentence. */
  readonly listed: (exchange: Exchange) => string | undefined;
}

const SUBJECTS: Record<PartnerInterface, Subject> = {
  site: {
    role: SITE_SERVER,
    api: SITE_API,
    requests: ['list'],
    ifUnknown: 'SITE-060',
    listed: (exchange) => {
      const [sites, kiosks, materials] = Object.keys(SITE_LISTS).map((list) => siteFacts(exchange).countOf(list));
      return `The partner has ${sites} sites, ${kiosks} kiosks and ${materials} materials of this hauler.`;
    },
  },
  // The request without a truck (VISION-192) shows a server that lacks the operation, also where no truck is known.
  vision: {
    role: VISION_SERVER,
    api: VISION_API,
    requests: ['videos', 'continuous', 'VISION-192'],
    ifUnknown: 'VISION-060',
    listed: (exchange) => (listOf(exchange) === undefined ? undefined : 'The partner lists videos of this customer.'),
  },
};

const NOT_SENT = 'the check does not send this request: run the conformance kit';

/** The partner did not answer. */
const UNREACHABLE: ReadonlySet<FailureKind> = new Set([
  'addressRefused',
  'unreachable',
  'switchedOff',
  'broken',
  'timedOut',
  'connectionChanged',
]);
/** Failures that may pass: they prove nothing about the rules of a server. */
const PASSING: ReadonlySet<FailureKind> = new Set([...UNREACHABLE, 'tooLarge', 'rateLimited']);

/** What the first call shows about the connection. */
interface FirstCall {
  readonly reachable: boolean;
  readonly authorized: boolean;
  /** Absent if the partner did not answer. */
  readonly status?: number | undefined;
  /** Why its answer is no list, as a sentence. */
  readonly fault?: string;
}

export interface RuleFindings {
  readonly reachable: boolean;
  readonly authorized: boolean;
  /** Empty if the partner cannot be reached or refuses the key. */
  readonly rules: CheckedRule[];
  /** The ids of the rules that check an answer to one of our requests. */
  readonly asked: ReadonlySet<string>;
  /** How many rules the kit has for such a server. */
  readonly total: number;
  /** A sentence about the first answer, and one for each later call without an answer. */
  readonly findings: readonly string[];
}

/** Evaluates the rules of the conformance kit that need no more than a GET. */
@Injectable()
export class ConnectionRulesService {
  constructor(private readonly client: PartnerClient) {}

  /** A failure of the partner is part of the result. */
  async rules(connection: ConnectionEntity, truckId: string | undefined, signal: AbortSignal): Promise<RuleFindings> {
    const { role, api, requests, ifUnknown, listed } = SUBJECTS[connection.interface];
    const calls = new CheckCalls(this.client, connection, api, signal);
    const { haulerId, customerId } = connection;
    const isAsked = (plan: RequestPlan | undefined) =>
      requests.some((name) => role.plans[name] === plan) ||
      (calls.first?.status === 404 && role.plans[ifUnknown] === plan);
    const results = await runServerRole(role, {
      baseUrl: connection.baseUrl,
      apiKey: '',
      fixtures: { haulerId, customerId: customerId ?? haulerId, ...(truckId === undefined ? {} : { truckId }) },
      isEachOperationAsked: true,
      runId: 'check',
      refuse: (plan) => (isAsked(plan) && !calls.isOver ? undefined : NOT_SENT),
      send: (request) => calls.send(request),
    });
    const { reachable, authorized, fault } = calls.result();
    const asked = new Set(role.rules.filter(({ on }) => isAsked(role.plans[on])).map(({ id }) => id));
    const sentence = fault ?? firstFinding(results[0], listed);
    const findings = [...(sentence === undefined ? [] : [sentence]), ...calls.unproven];
    const total = role.rules.length;
    return { reachable, authorized, asked, total, findings, rules: calls.isOver ? [] : results.map(toCheckedRule) };
  }
}

/** What a first answer lists, or why its rule is not proven. The other rules name what it lacks. */
function firstFinding(first: RuleResult | undefined, listed: Subject['listed']): string | undefined {
  if (first?.outcome === 'not-proven') return first.message;
  return first?.outcome === 'passed' && first.exchange !== undefined ? listed(first.exchange) : undefined;
}

const toCheckedRule = ({ rule: { id, operation, remedy }, outcome, message = '' }: RuleResult): CheckedRule => ({
  id,
  operation,
  outcome,
  message: message.slice(0, 2_000),
  ...(outcome === 'failed' || outcome === 'warning' ? { remedy } : {}),
});

/** The calls of one check. Nothing is sent after a first one that shows that the partner is away or refuses the key. */
class CheckCalls {
  first: FirstCall | undefined;
  /** A sentence for each later call without an answer. */
  readonly unproven: string[] = [];
  /** Not of the partner, such as that of the database. */
  private error: unknown;
  /** What the rules see of an answer that is not JSON; the exchange log has it as a failure. */
  private notJson: KitAnswer | undefined;

  constructor(
    private readonly client: PartnerClient,
    private readonly connection: ConnectionEntity,
    private readonly api: ApiContract,
    private readonly signal: AbortSignal,
  ) {}

  get isOver(): boolean {
    return this.error !== undefined || (this.first !== undefined && !(this.first.reachable && this.first.authorized));
  }

  /** Throws the error that was not one of the partner. */
  result(): FirstCall {
    if (this.error !== undefined || this.first === undefined) throw this.error;
    return this.first;
  }

  async send(request: KitRequest): Promise<KitAnswer> {
    const { api, signal } = this;
    const route = api.routes[request.operation] as ApiRoute;
    const query = Object.fromEntries(new URL(request.url).searchParams);
    // A first answer of 400 is a failure with the partner's own reason.
    const accept = this.first === undefined ? [200, 404] : [200, 400, 404];
    const call = { api, route, query, accept, once: true, duringPause: true, signal };
    try {
      const answer = await this.client.stream(this.connection, call, (streamed) => this.read(streamed, request));
      this.first ??= { reachable: true, authorized: true, status: answer.status };
      return answer;
    } catch (error) {
      return this.failed(error, request);
    }
  }

  /** The answer without our keys. A fixed text replaces a body that is not JSON. */
  private async read(answer: PartnerAnswer, { operation }: KitRequest): Promise<KitAnswer> {
    const { status, contentType } = answer;
    const headers: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType };
    const isSmall = await answer.prefetch(MAX_WHOLE_BYTES);
    try {
      const isStreamed = !isSmall && status === 200 && operation === 'getSites';
      const { body, facts } = isStreamed ? await siteBody(answer) : { body: await answer.json() };
      if (status === 200 && ownField(body, 'success') === false) this.refused(answer, body);
      const kept = { status, headers, body: Buffer.from(JSON.stringify(body)) };
      return facts === undefined ? kept : rememberSiteFacts(kept, facts);
    } catch (error) {
      if (!(error instanceof PartnerFailure) || error.kind !== 'notJson') throw error;
      this.notJson = { status, headers, body: Buffer.from('not JSON') };
      throw error;
    }
  }

  /** An error body with status 200: its code says whether the key was refused. */
  private refused(answer: PartnerAnswer, body: unknown): void {
    const authorized = ownField(ownField(body, 'error'), 'code') !== 'UNAUTHORIZED';
    this.first ??= { reachable: true, authorized, status: answer.status, fault: answer.refusal(body).message };
  }

  private failed(error: unknown, { operation }: KitRequest): KitAnswer {
    const isFirst = this.first === undefined;
    if (error instanceof SealBrokenError) {
      this.first ??= { reachable: false, authorized: false, fault: error.message };
      throw new UnprovenError(error.message);
    }
    if (!(error instanceof PartnerFailure)) {
      this.error ??= error;
      throw error;
    }
    const { kind, status = this.notJson?.status, message } = error;
    const reachable = !UNREACHABLE.has(kind);
    const authorized = reachable && kind !== 'unauthorized' && status !== 403;
    this.first ??= { reachable, authorized, status, fault: message };
    if (kind === 'notJson' && this.notJson !== undefined) return this.notJson;
    if (PASSING.has(kind)) {
      if (!isFirst) this.unproven.push(`${operation} is not proven: ${message}`);
      throw new UnprovenError(message);
    }
    if (status === undefined || status === 200) throw new NoAnswerError(message);
    return { status, headers: {}, body: Buffer.alloc(0) };
  }
}

/** Checks a list of any size in constant memory: records are checked as they arrive; the body is the rest. */
async function siteBody(answer: PartnerAnswer): Promise<{ readonly body: unknown; readonly facts: SiteFacts }> {
  const facts = new SiteFacts();
  const notObjects = new Map<string, unknown>();
  for await (const records of answer.records(Object.keys(SITE_LISTS))) {
    for (const { list, index, value, text } of records) {
      // The fields of a record that is too large are not known, its id among them.
      if (text === undefined) facts.addFault(`${list}[].id`, recordTooLarge(`${list}[${index}]`).message);
      else if (isJsonObject(value)) facts.addRecord(list, index, value);
      else notObjects.set(list, value);
    }
  }
  const body = answer.envelope;
  const listOfRecords = (path: string) => path.split('.').reduce<unknown>(ownField, body);
  for (const [list, value] of notObjects) (listOfRecords(list) as unknown[]).push(value);
  facts.link((list) => Array.isArray(listOfRecords(list)));
  return { body, facts };
}
