import { type Applied, applyPush } from './ticket.rules.js';
import { DIRECTIONS, type Direction, type Push, type Revision, type Ticket } from './ticket.js';

/** The changes of a batch. Every batch sorts its lists in the same way, so that two batches with the same tickets cannot deadlock. */
export interface BatchChanges {
  readonly created: readonly Ticket[];
  readonly updated: readonly Ticket[];
  /** The tickets of `updated` that gave up a ticket number, which another ticket may have taken. */
  readonly renamed: readonly Ticket[];
  readonly revisions: readonly Revision[];
}

/**
 * The tickets of a batch, in memory. Pushes are applied one after the other, each to the result of those before it, and
 * all changes are written at once. So two pushes of one flow in one batch follow the rules as if each were alone.
 */
export class BatchState {
  private readonly inbound = new FlowIndex('inbound');
  private readonly outbound = new FlowIndex('outbound');
  private readonly stored: ReadonlyMap<string, Ticket>;
  private readonly created = new Map<string, Ticket>();
  private readonly updated = new Map<string, Ticket>();
  private readonly revisions: Revision[] = [];

  /** `stored`: every ticket that a flow of the batch matches. */
  constructor(stored: readonly Ticket[]) {
    this.stored = new Map(stored.map((ticket) => [ticket.id, ticket]));
    for (const ticket of this.stored.values()) this.add(ticket);
  }

  apply(push: Push): Applied | 'conflict' {
    const matches = { inbound: this.inbound.find(push), outbound: this.outbound.find(push) };
    const applied = applyPush(matches, push);
    if (applied === 'conflict' || applied.result === 'unchanged') return applied;
    const replaced = matches.inbound ?? matches.outbound;
    if (replaced !== undefined) this.remove(replaced);
    this.add(applied.ticket);
    this.record(applied, push);
    return applied;
  }

  changes(): BatchChanges {
    const created = [...this.created.values()].sort(byFlows);
    const updated = [...this.updated.values()].sort((a, b) => compare(a.id, b.id));
    const renamed = updated.filter((ticket) => hasGivenUpNumber(this.stored.get(ticket.id), ticket));
    return { created, updated, renamed, revisions: this.revisions.toSorted((a, b) => compare(a.ticketId, b.ticketId)) };
  }

  private add(ticket: Ticket): void {
    this.inbound.add(ticket);
    this.outbound.add(ticket);
  }

  /** Frees the old number of a renamed flow (decision 20). */
  private remove(ticket: Ticket): void {
    this.inbound.remove(ticket);
    this.outbound.remove(ticket);
  }

  private record({ result, ticket }: Applied, { body, receivedAt, origin }: Push): void {
    const { id, haulerId, revision } = ticket;
    this.revisions.push({ haulerId, ticketId: id, revision, receivedAt, result, body, origin });
    const isNew = result === 'created' || this.created.has(id);
    (isNew ? this.created : this.updated).set(id, ticket);
  }
}

/** Tickets by the number of one of their flows. Few tickets share a number, so hauler and site are compared afterwards. */
class FlowIndex {
  private readonly byNumber = new Map<string, Ticket[]>();

  constructor(private readonly direction: Direction) {}

  find({ haulerId, siteId, flows }: Push): Ticket | undefined {
    const number = flows[this.direction]?.ticketNumber;
    const tickets = number === undefined ? undefined : this.byNumber.get(number);
    return tickets?.find((ticket) => ticket.siteId === siteId && ticket.haulerId === haulerId);
  }

  add(ticket: Ticket): void {
    const number = ticket.flows[this.direction]?.ticketNumber;
    if (number !== undefined) this.byNumber.set(number, [...(this.byNumber.get(number) ?? []), ticket]);
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

function hasGivenUpNumber(before: Ticket | undefined, after: Ticket): boolean {
  return DIRECTIONS.some((direction) => {
    const flow = before?.flows[direction];
    return flow !== undefined && flow.ticketNumber !== after.flows[direction]?.ticketNumber;
  });
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
