import { Injectable } from '@nestjs/common';
import { type KitAnswer, type KitRequest, NoAnswerError } from '../conformance/exchange.js';
import type { ServerRole } from '../conformance/rule.js';
import { runServerRole } from '../conformance/run.js';
import { SITE_SERVER } from '../conformance/site/site-server.js';
import { VISION_SERVER } from '../conformance/vision/vision-server.js';
import type { CheckedRule } from '../contracts/admin/connection.dto.js';
import type { ApiContract, ApiRoute } from '../contracts/common/api-contract.js';
import { SITE_API } from '../contracts/site/site.api.js';
import { VISION_API } from '../contracts/vision/vision.api.js';
import type { ConnectionEntity } from './connection.entity.js';
import type { StreamedAnswer } from './partner-answer.js';
import { PartnerClient } from './partner-client.js';
import type { PartnerInterface } from './partner-connection.js';
import { PartnerFailure } from './partner-failure.js';

interface Subject {
  readonly role: ServerRole;
  readonly api: ApiContract;
  /** The requests that the check makes: GETs with the fixtures of the connection. */
  readonly requests: readonly string[];
}

const SUBJECTS: Record<PartnerInterface, Subject> = {
  site: { role: SITE_SERVER, api: SITE_API, requests: ['list'] },
  // The request without a truck shows a server that lacks the operation, also where no truck is known.
  vision: { role: VISION_SERVER, api: VISION_API, requests: ['videos', 'continuous', 'continuousWithoutTruck'] },
};

const NOT_SENT = 'the check does not send this request: run the conformance kit';
const EXPECTED = [200, 400, 404];

/** Evaluates the rules of the conformance kit that need no more than a GET. */
@Injectable()
export class ConnectionRulesService {
  constructor(private readonly client: PartnerClient) {}

  async rules(connection: ConnectionEntity): Promise<CheckedRule[]> {
    const { role, api, requests } = SUBJECTS[connection.interface];
    const allowed = new Set(requests.map((name) => role.plans[name]));
    const { haulerId, customerId } = connection;
    const results = await runServerRole(role, {
      baseUrl: connection.baseUrl,
      apiKey: '',
      fixtures: { haulerId, customerId: customerId ?? haulerId },
      runId: 'check',
      refuse: (plan) => (allowed.has(plan) ? undefined : NOT_SENT),
      send: (request) => this.send(connection, api, request),
    });
    return results.map(({ rule: { id, operation, remedy }, outcome, message = '' }) => ({
      id,
      operation,
      outcome,
      message: message.slice(0, 2_000),
      ...(outcome === 'failed' || outcome === 'warning' ? { remedy } : {}),
    }));
  }

  private async send(connection: ConnectionEntity, api: ApiContract, request: KitRequest): Promise<KitAnswer> {
    const route = api.routes[request.operation] as ApiRoute;
    const query = Object.fromEntries(new URL(request.url).searchParams);
    const call = { api, route, query, accept: EXPECTED, once: true, breaker: false };
    try {
      return await this.client.stream(connection, call, answerOf);
    } catch (error) {
      if (!(error instanceof PartnerFailure)) throw error;
      if (error.status === undefined || error.status === 200) throw new NoAnswerError(error.message);
      return { status: error.status, headers: {}, body: Buffer.alloc(0) };
    }
  }
}

/** The answer without our keys. A body that is not JSON stays a body that is not JSON. */
async function answerOf(answer: StreamedAnswer): Promise<KitAnswer> {
  const { status, contentType } = answer;
  const headers: Record<string, string> = contentType === undefined ? {} : { 'content-type': contentType };
  const whole = await answer.whole();
  try {
    return { status, headers, body: Buffer.from(JSON.stringify(whole.json())) };
  } catch (error) {
    if (!(error instanceof PartnerFailure)) throw error;
    return { status, headers, body: Buffer.from('not JSON') };
  }
}
