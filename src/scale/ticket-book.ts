import { type Applied, receive } from './ticket-rules.js';
import { DIRECTIONS, type Direction, type Push, type Revision, type Ticket } from './ticket.js';

/**
 * What a batch of pushes makes of the stored tickets. Each list is in an order that is the same for every batch, so that
 * two batches with the same tickets wait for one another and do not deadlock.
 */
export interface BookChanges {
  readonly created: readonly Ticket[];
  readonly updated: readonly Ticket[];
  /** Those of `updated` that gave a ticket number up, which another ticket may have taken. */
  readonly renamed: readonly Ticket[];
  readonly revisions: readonly Revision[];
}

/**
 * The tickets that a batch touches, in memory. Pushes are received one after the other, each seeing what those before
 * it did, and what came of all of them is written at once: two pushes of one flow in one batch obey the rules as if
 * each had been alone.
 */
export class TicketBook {
  private readonly byFlow = new Map<string, Ticket>();
  private readonly stored: ReadonlyMap<string, Ticket>;
  private readonly created = new Map<string, Ticket>();
  private readonly updated = new Map<string, Ticket>();
  private readonly revisions: Revision[] = [];

  /** `stored`: every ticket that a flow of the batch matches. */
  constructor(stored: readonly Ticket[]) {
    this.stored = new Map(stored.map((ticket) => [ticket.id, ticket]));
    for (const ticket of stored) this.enter(ticket, keysOf(ticket));
  }

  receive(push: Push): Applied | 'conflict' {
    const keys = keysOf(push);
    const matches = { inbound: this.find(keys.inbound), outbound: this.find(keys.outbound) };
    const applied = receive(matches, push);
    if (applied === 'conflict' || applied.result === 'unchanged') return applied;
    const replaced = matches.inbound ?? matches.outbound;
    if (replaced !== undefined) this.remove(replaced);
    this.enter(applied.ticket, applied.result === 'created' ? keys : keysOf(applied.ticket));
    this.keep(applied, push);
    return applied;
  }

  changes(): BookChanges {
    const created = sorted([...this.created.values()], orderOf);
    const updated = sorted([...this.updated.values()], ({ id }) => id);
    const renamed = updated.filter((ticket) => givesUpNumber(this.stored.get(ticket.id), ticket));
    return { created, updated, renamed, revisions: sorted(this.revisions, ({ ticketId }) => ticketId) };
  }

  private find(key: string | undefined): Ticket | undefined {
    return key === undefined ? undefined : this.byFlow.get(key);
  }

  /** A renamed flow's old number is free again (decision 20). */
  private remove(ticket: Ticket): void {
    const { inbound, outbound } = keysOf(ticket);
    if (inbound !== undefined) this.byFlow.delete(inbound);
    if (outbound !== undefined) this.byFlow.delete(outbound);
  }

  private enter(ticket: Ticket, { inbound, outbound }: FlowKeys): void {
    if (inbound !== undefined) this.byFlow.set(inbound, ticket);
    if (outbound !== undefined) this.byFlow.set(outbound, ticket);
  }

  private keep({ result, ticket }: Applied, { body, receivedAt }: Push): void {
    const { id, haulerId, revision } = ticket;
    this.revisions.push({ haulerId, ticketId: id, revision, receivedAt, result, body });
    const isNew = result === 'created' || this.created.has(id);
    (isNew ? this.created : this.updated).set(id, ticket);
  }
}

type FlowKeys = Readonly<Record<Direction, string | undefined>>;

/** What each flow is found by. The ticket number comes last: it may hold anything, the other parts are of fixed length. */
function keysOf({ haulerId, siteId, flows: { inbound, outbound } }: Push | Ticket): FlowKeys {
  return {
    inbound: inbound && `${haulerId}${siteId}i${inbound.ticketNumber}`,
    outbound: outbound && `${haulerId}${siteId}o${outbound.ticketNumber}`,
  };
}

function orderOf(ticket: Ticket): string {
  const { inbound, outbound } = ticket.flows;
  return `${ticket.haulerId}${ticket.siteId}${inbound?.ticketNumber ?? ''}\0${outbound?.ticketNumber ?? ''}`;
}

function givesUpNumber(before: Ticket | undefined, after: Ticket): boolean {
  return DIRECTIONS.some((direction) => {
    const flow = before?.flows[direction];
    return flow !== undefined && flow.ticketNumber !== after.flows[direction]?.ticketNumber;
  });
}

/** What has the same key stays in its order. */
function sorted<T>(values: readonly T[], key: (value: T) => string): T[] {
  const keyed = values.map((value) => ({ key: key(value), value }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ value }) => value);
}
