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
  private readonly inbound = new FlowIndex('inbound');
  private readonly outbound = new FlowIndex('outbound');
  private readonly stored: ReadonlyMap<string, Ticket>;
  private readonly created = new Map<string, Ticket>();
  private readonly updated = new Map<string, Ticket>();
  private readonly revisions: Revision[] = [];

  /** `stored`: every ticket that a flow of the batch matches. */
  constructor(stored: readonly Ticket[]) {
    this.stored = new Map(stored.map((ticket) => [ticket.id, ticket]));
    for (const ticket of this.stored.values()) this.enter(ticket);
  }

  receive(push: Push): Applied | 'conflict' {
    const matches = { inbound: this.inbound.find(push), outbound: this.outbound.find(push) };
    const applied = receive(matches, push);
    if (applied === 'conflict' || applied.result === 'unchanged') return applied;
    const replaced = matches.inbound ?? matches.outbound;
    if (replaced !== undefined) this.remove(replaced);
    this.enter(applied.ticket);
    this.keep(applied, push);
    return applied;
  }

  changes(): BookChanges {
    const created = [...this.created.values()].sort(byFlows);
    const updated = [...this.updated.values()].sort((a, b) => compare(a.id, b.id));
    const renamed = updated.filter((ticket) => givesUpNumber(this.stored.get(ticket.id), ticket));
    return { created, updated, renamed, revisions: this.revisions.toSorted((a, b) => compare(a.ticketId, b.ticketId)) };
  }

  /** A renamed flow's old number is free again (decision 20). */
  private remove(ticket: Ticket): void {
    this.inbound.remove(ticket);
    this.outbound.remove(ticket);
  }

  private enter(ticket: Ticket): void {
    this.inbound.enter(ticket);
    this.outbound.enter(ticket);
  }

  private keep({ result, ticket }: Applied, { body, receivedAt }: Push): void {
    const { id, haulerId, revision } = ticket;
    this.revisions.push({ haulerId, ticketId: id, revision, receivedAt, result, body });
    const isNew = result === 'created' || this.created.has(id);
    (isNew ? this.created : this.updated).set(id, ticket);
  }
}

/** The tickets by the number of one of their flows. Comparing hauler and site of the few that share a number costs less than a key of all three. */
class FlowIndex {
  private readonly byNumber = new Map<string, Ticket[]>();

  constructor(private readonly direction: Direction) {}

  find({ haulerId, siteId, flows }: Push): Ticket | undefined {
    const number = flows[this.direction]?.ticketNumber;
    const tickets = number === undefined ? undefined : this.byNumber.get(number);
    return tickets?.find((ticket) => ticket.siteId === siteId && ticket.haulerId === haulerId);
  }

  enter(ticket: Ticket): void {
    const number = ticket.flows[this.direction]?.ticketNumber;
    if (number === undefined) return;
    const tickets = this.byNumber.get(number);
    if (tickets === undefined) this.byNumber.set(number, [ticket]);
    else tickets.push(ticket);
  }

  remove({ id, flows }: Ticket): void {
    const number = flows[this.direction]?.ticketNumber;
    const others = number === undefined ? undefined : this.byNumber.get(number)?.filter((ticket) => ticket.id !== id);
    if (number !== undefined && others !== undefined) this.byNumber.set(number, others);
  }
}

function byFlows(a: Ticket, b: Ticket): number {
  return (
    compare(a.haulerId, b.haulerId) ||
    compare(a.siteId, b.siteId) ||
    compare(a.flows.inbound?.ticketNumber ?? '', b.flows.inbound?.ticketNumber ?? '') ||
    compare(a.flows.outbound?.ticketNumber ?? '', b.flows.outbound?.ticketNumber ?? '')
  );
}

function givesUpNumber(before: Ticket | undefined, after: Ticket): boolean {
  return DIRECTIONS.some((direction) => {
    const flow = before?.flows[direction];
    return flow !== undefined && flow.ticketNumber !== after.flows[direction]?.ticketNumber;
  });
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
