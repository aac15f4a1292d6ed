import { Injectable } from '@nestjs/common';
import { type KitAnswer, type KitRequest, NoAnswerError, UnprovenError } from '../conformance/exchange.js';
import type { ServerRole } from '../conformance/rule.js';
import { runServerRole } from '../conformance/run.js';
import { MAX_WHOLE_BYTES } from '../contracts/common/answer-limits.js';
import { isJsonObject, ownField } from '../contracts/common/json.js';
import { rememberSiteFacts, SITE_LISTS, SiteFacts } from '../conformance/site/site-facts.js';
import { SITE_SERVER } from '../conformance/site/site-server.js';
import { VISION_SERVER } from '../conformance/vision/vision-server.js';
import type { CheckedRule } from '../contracts/admin/connection-check.dto.js';
import type { PartnerInterface } from '../contracts/admin/connection.dto.js';
import type { ApiContract, ApiRoute } from '../contracts/common/api-contract.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import type { ConnectionEntity } from './connection.entity.js';
import type { StreamedAnswer } from './partner-answer.js';
import { PartnerClient } from './partner-client.js';
import { type FailureKind, PartnerFailure } from './partner-failure.js';

interface Subject {
  readonly role: ServerRole;
  readonly api: ApiContract;
  /** The requests that the check makes: GETs with the fixtures of the connection. */
  readonly requests: readonly string[];
  /** The request without the hauler, after a 404 for it: a server that has the operation refuses it with 400. */
  readonly ifUnknown: string;
}

const SUBJECTS: Record<PartnerInterface, Subject> = {
  site: { role: SITE_SERVER, api: SITE_API, requests: ['list'], ifUnknown: 'SITE-060' },
  // The request without a truck (VISION-192) shows a server that lacks the operation, also where no truck is known.
  vision: {
    role: VISION_SERVER,
    api: VISION_API,
    requests: ['videos', 'continuous', 'VISION-192'],
    ifUnknown: 'VISION-060',
  },
};

const NOT_SENT = 'the check does not send this request: run the conformance kit';
const EXPECTED = [200, 400, 404];
/** Failures that may pass: they prove nothing about a server whose first answer was the expected one. */
const PASSING: ReadonlySet<FailureKind> = new Set([
  'addressRefused',
  'unreachable',
  'switchedOff',
  'broken',
  'timedOut',
  'tooLarge',
  'rateLimited',
  'connectionChanged',
]);

export interface RuleFindings {
  readonly rules: CheckedRule[];
  /** The ids of the rules that check an answer to one of our requests. */
  readonly asked: ReadonlySet<string>;
  /** One sentence for each call without an answer. */
  readonly unproven: string[];
}

/** Evaluates the rules of the conformance kit that need no more than a GET. */
@Injectable()
export class ConnectionRulesService {
  constructor(private readonly client: PartnerClient) {}

  async rules(
    connection: ConnectionEntity,
    truckId: string | undefined,
    { isUnknown, signal }: { readonly isUnknown: boolean; readonly signal: AbortSignal },
  ): Promise<RuleFindings> {
    const { role, api, requests, ifUnknown } = SUBJECTS[connection.interface];
    const allowed = new Set([...requests, ...(isUnknown ? [ifUnknown] : [])].map((name) => role.plans[name]));
    const { haulerId, customerId } = connection;
    const unproven: string[] = [];
    const results = await runServerRole(role, {
      baseUrl: connection.baseUrl,
      apiKey: '',
      fixtures: { haulerId, customerId: customerId ?? haulerId, ...(truckId === undefined ? {} : { truckId }) },
      isEachOperationAsked: true,
      runId: 'check',
      refuse: (plan) => (allowed.has(plan) ? undefined : NOT_SENT),
      send: (request) => this.send(connection, api, { request, signal }, unproven),
    });
    const rules = results.map(({ rule: { id, operation, remedy }, outcome, message = '' }) => ({
      id,
      operation,
      outcome,
      message: message.slice(0, 2_000),
      ...(outcome === 'failed' || outcome === 'warning' ? { remedy } : {}),
    }));
    const asked = new Set(role.rules.filter(({ on }) => allowed.has(role.plans[on])).map(({ id }) => id));
    return { rules, asked, unproven };
  }

  private async send(
    connection: ConnectionEntity,
    api: ApiContract,
    { request, signal }: { readonly request: KitRequest; readonly signal: AbortSignal },
    unproven: string[],
  ): Promise<KitAnswer> {
    const route = api.routes[request.operation] as ApiRoute;
    const query = Object.fromEntries(new URL(request.url).searchParams);
    const call = { api, route, query, accept: EXPECTED, once: true, duringPause: true, signal };
    try {
      return await this.client.stream(connection, call, (answer) => answerOf(answer, request));
    } catch (error) {
      if (!(error instanceof PartnerFailure)) throw error;
      if (PASSING.has(error.kind)) {
        unproven.push(`${request.operation} is not proven: ${error.message}`);
        throw new UnprovenError(error.message);
      }
      if (error.status === undefined || error.status === 200) throw new NoAnswerError(error.message);
      return { status: error.status, headers: {}, body: Buffer.alloc(0) };
    }
  }
}

/** The answer without our keys. A fixed text replaces a body that is not JSON. */
async function answerOf(answer: StreamedAnswer, request: KitRequest): Promise<KitAnswer> {
  const { status, contentType } = answer;
  const headers: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType };
  const isSmall = await answer.prefetch(MAX_WHOLE_BYTES);
  try {
    if (!isSmall && status === 200 && request.operation === 'getSites') return await siteAnswer(answer, headers);
    return { status, headers, body: jsonOf((await answer.whole()).json()) };
  } catch (error) {
    if (!(error instanceof PartnerFailure) || error.kind !== 'notJson') throw error;
    return { status, headers, body: Buffer.from('not JSON') };
  }
}

const jsonOf = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

/** Checks a list of any size in constant memory: records are checked as they arrive; the body is the rest. */
async function siteAnswer(answer: StreamedAnswer, headers: Record<string, string>): Promise<KitAnswer> {
  const facts = new SiteFacts();
  const notObjects = new Map<string, unknown>();
  for await (const records of answer.records(Object.keys(SITE_LISTS))) {
    for (const { list, index, value, text } of records) {
      // The fields of a record that is too large are not known.
      if (text === undefined) continue;
      if (isJsonObject(value)) facts.addRecord(list, index, value);
      else notObjects.set(list, value);
    }
  }
  const { envelope, status } = answer;
  const listOf = (path: string) => path.split('.').reduce<unknown>(ownField, envelope);
  for (const [list, value] of notObjects) (listOf(list) as unknown[]).push(value);
  facts.link((list) => Array.isArray(listOf(list)));
  return rememberSiteFacts({ status, headers, body: jsonOf(envelope) }, facts);
}
