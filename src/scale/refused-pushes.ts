import { SCALE_API } from '../contracts/scale/scale.api.js';
import type { Outbox } from '../webhooks/events/outbox.js';
import type { CallSink } from '../core/http/call.js';

/** Statuses of a push that stored nothing and that is refused again if it is sent again. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 415, 422]);

/** Announces a push with a valid key that was refused, at whatever step. */
export function announceRefused(outbox: Outbox): CallSink {
  return ({ call, status, isComplete }) => {
    const haulerId = call.principal?.haulerId;
    if (!REFUSED.has(status) || !isComplete || haulerId == null) return;
    if (call.served?.route !== SCALE_API.routes.createTicket) return;
    const data = { requestId: call.requestId, exchangeId: call.exchangeId ?? null, status };
    outbox.writeSoon({ topic: 'ticket.refused', haulerId, data });
  };
}
