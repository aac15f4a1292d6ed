import type { Instant } from '../contracts/common/instant.js';
import type { TicketResult } from '../contracts/scale/ticket-result.js';
import type { Contents, Flow, Flows, Push, Ticket } from './ticket.js';

/** The tickets that a push's flows match, each through its own flow (decision 20). */
export interface Matches {
  readonly inbound?: Ticket | undefined;
  readonly outbound?: Ticket | undefined;
}

export interface Applied {
  readonly result: TicketResult;
  readonly ticket: Ticket;
}

/** What a push makes of what is stored; `conflict` where its two flows match two different tickets (decision 20). */
export function receive({ inbound, outbound }: Matches, push: Push): Applied | 'conflict' {
  if (inbound !== undefined && outbound !== undefined && inbound.id !== outbound.id) return 'conflict';
  const stored = inbound ?? outbound;
  return stored === undefined ? create(push) : update(stored, push);
}

function create(push: Push): Applied {
  const { id, haulerId, siteId, flows, contents, receivedAt } = push;
  const times = { createdAt: receivedAt, updatedAt: receivedAt };
  const ticket = { id, haulerId, siteId, revision: 1, version: versionOf(flows), flows, contents, ...times };
  return { result: 'created', ticket };
}

/**
 * Contents and flows are registers of their own, each won by the newest, so that the order in which pushes arrive does
 * not matter (decision 21). A push without any newer part is kept in the history all the same.
 */
function update(stored: Ticket, push: Push): Applied {
  if (saysWhatIsStored(stored, push)) return { result: 'unchanged', ticket: stored };
  const version = versionOf(push.flows);
  const applies = stored.version === null || (version !== null && version >= stored.version);
  const flows: Flows = {
    inbound: newest(stored.flows.inbound, push.flows.inbound),
    outbound: newest(stored.flows.outbound, push.flows.outbound),
  };
  const changes =
    applies || flows.inbound !== stored.flows.inbound || flows.outbound !== stored.flows.outbound
      ? { updatedAt: push.receivedAt }
      : {};
  const contents = applies ? { version, contents: push.contents } : {};
  const ticket = { ...stored, ...contents, ...changes, flows, revision: stored.revision + 1 };
  return { result: applies ? 'updated' : 'stale', ticket };
}

/** A push's version is the newest `updatedAt` of its flows (decision 21). */
function versionOf({ inbound, outbound }: Flows): Instant | null {
  if (inbound === undefined || outbound === undefined) return (inbound ?? outbound)?.updatedAt ?? null;
  return inbound.updatedAt > outbound.updatedAt ? inbound.updatedAt : outbound.updatedAt;
}

/** A flow that a push does not carry stays; of two equally new ones the later arrival counts (decision 21). */
function newest(stored: Flow | undefined, pushed: Flow | undefined): Flow | undefined {
  if (stored === undefined || pushed === undefined) return pushed ?? stored;
  return pushed.updatedAt >= stored.updatedAt && !sameFlow(stored, pushed) ? pushed : stored;
}

function saysWhatIsStored(stored: Ticket, { contents, flows }: Push): boolean {
  return (
    sameContents(stored.contents, contents) &&
    holds(stored.flows.inbound, flows.inbound) &&
    holds(stored.flows.outbound, flows.outbound)
  );
}

function holds(stored: Flow | undefined, pushed: Flow | undefined): boolean {
  return pushed === undefined || (stored !== undefined && sameFlow(stored, pushed));
}

function sameFlow(a: Flow, b: Flow): boolean {
  return a.ticketNumber === b.ticketNumber && a.updatedAt === b.updatedAt;
}

function sameContents(a: Contents, b: Contents): boolean {
  return a.materials === b.materials && a.customFields === b.customFields;
}
