import { createHash, randomUUID } from 'node:crypto';
import { ACCOUNT_API, CreateAccountRequest } from '../../contracts/account/account.api.js';
import { isJsonObject } from '../../contracts/common/json.js';
import { readerOf } from '../../contracts/common/fields/field.js';
import type { Violation } from '../../contracts/common/violation.js';
import { CreateScaleTicketRequest, SCALE_API, unknownMaterial } from '../../contracts/scale/scale.api.js';
import {
  type Call,
  json,
  jsonOf,
  type Peer,
  type PeerAnswer,
  type Received,
  refusal,
  soleHeader,
} from './client-rule.js';

const BODIES = { createTicket: CreateScaleTicketRequest, createAccount: CreateAccountRequest } as const;
export type Operation = keyof typeof BODIES;

const PATHS: Readonly<Record<string, Operation>> = {
  [`POST ${SCALE_API.prefix}${SCALE_API.routes.createTicket.path}`]: 'createTicket',
  [`POST ${ACCOUNT_API.prefix}${ACCOUNT_API.routes.createAccount.path}`]: 'createAccount',
};

/** The fault of each new request of an operation, in order. Later requests are accepted. */
export const PLATFORM_FAULTS: Readonly<Record<Operation, readonly string[]>> = {
  createTicket: ['none', 'too-many-requests', 'unavailable', 'server-error', 'answer-lost', 'rule-violated', 'invalid'],
  createAccount: ['none', 'too-many-requests', 'unavailable', 'server-error', 'answer-lost', 'conflict', 'invalid'],
};

/** Seconds that a client must wait after 429 and 503. */
const RETRY_AFTER = { 'Retry-After': '1' };

/** Faults of the request itself: a repeat gets the same answer. */
const FINAL: readonly (string | undefined)[] = ['rule-violated', 'invalid', 'conflict'];

/** The Scale and Account server that a partner calls. It accepts valid requests, except for the planned faults. */
export class PlatformPeer implements Peer {
  private readonly counts: Record<Operation, number> = { createTicket: 0, createAccount: 0 };

  constructor(private readonly apiKey: string) {}

  operationOf(method: string, path: string): string {
    return PATHS[`${method} ${path}`] ?? '';
  }

  answer(call: Received, earlier: readonly Call[]): PeerAnswer {
    const operation = PATHS[`${call.method} ${call.path}`];
    if (operation === undefined) return refusal(404, 'NOT_FOUND', `no route for ${call.method} ${call.path}`);
    if (soleHeader(call, SCALE_API.keyHeader) !== this.apiKey)
      return refusal(401, 'UNAUTHORIZED', 'the API key is missing or wrong');
    const { value, fault } = jsonOf(call);
    if (fault !== undefined) return refusal(400, 'INVALID_PAYLOAD', fault);
    const violations: Violation[] = [];
    readerOf<object>(BODIES[operation])(value, '', violations);
    if (violations.length > 0)
      return refusal(400, 'INVALID_PAYLOAD', 'the request body is invalid', { details: { violations } });
    const first = earlier.find((each) => isSameRequest(each, call));
    if (first === undefined) return this.faulty(operation, call);
    return FINAL.includes(first.answer.scenario) ? withoutScenario(first.answer) : accepted(operation, call, true);
  }

  private faulty(operation: Operation, call: Received): PeerAnswer {
    const scenario = PLATFORM_FAULTS[operation][this.counts[operation]++] ?? 'none';
    const message = `injected by the conformance kit: ${scenario}`;
    switch (scenario) {
      case 'answer-lost':
        return { status: 0, headers: {}, body: Buffer.alloc(0), scenario };
      case 'too-many-requests':
        return refusal(429, 'INTERNAL_ERROR', message, { scenario, headers: RETRY_AFTER });
      case 'unavailable':
        return refusal(503, 'INTERNAL_ERROR', message, { scenario, headers: RETRY_AFTER });
      case 'server-error':
        return refusal(500, 'INTERNAL_ERROR', message, { scenario, details: { requestId: randomUUID() } });
      case 'invalid':
        return refusal(400, 'INVALID_PAYLOAD', message, { scenario });
      case 'rule-violated':
        return refusal(422, 'VALIDATION_ERROR', message, { scenario, details: { violations: [unknownMaterial(0)] } });
      case 'conflict':
        return refusal(409, 'CONFLICT', message, { scenario, details: existing(call) });
      default:
        return accepted(operation, call, false);
    }
  }
}

const withoutScenario = ({ status, headers, body }: PeerAnswer): PeerAnswer => ({ status, headers, body });

function isSameRequest(earlier: Call, call: Received): boolean {
  if (earlier.operation !== PATHS[`${call.method} ${call.path}`] || earlier.answer.status === 401) return false;
  const [before, after] = [earlier, call].map((each) => soleHeader(each, 'Idempotency-Key'));
  return earlier.body.equals(call.body) || (before !== undefined && before === after);
}

const existing = (call: Received) => ({ reason: 'NAME_TAKEN', accountId: idOf(call), accountNumber: 'KIT-1' });

/** A UUID that is derived from the body, so that a repeat gets the same id. */
const idOf = ({ body }: Received): string => {
  const digest = createHash('sha256').update(body).digest('hex');
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-4${digest.slice(13, 16)}-8${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
};

function accepted(operation: Operation, call: Received, isReplay: boolean): PeerAnswer {
  const replayed: Record<string, string> =
    isReplay && soleHeader(call, 'Idempotency-Key') !== undefined ? { 'Idempotency-Replayed': 'true' } : {};
  const headers = { 'X-Request-Id': randomUUID(), ...replayed };
  if (operation === 'createTicket') {
    const result = { 'Ticket-Result': isReplay ? 'unchanged' : 'created' };
    return json(200, { success: true, disposalTicketId: idOf(call) }, { headers: { ...headers, ...result } });
  }
  const body = jsonOf(call).value;
  return json(200, { accountId: idOf(call), accountNumber: 'KIT-1', ...(isJsonObject(body) ? body : {}) }, { headers });
}
