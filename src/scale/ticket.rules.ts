import type { Instant } from '../contracts/common/instant.js';
import type { TicketResult } from '../contracts/scale/scale.api.js';
import {
  type Contents,
  type Direction,
  DIRECTIONS,
  type Flow,
  type Flows,
  type Push,
  type Revision,
  type Ticket,
} from './ticket.js';
import { changesOf } from './ticket-changes.rules.js';

/** The tickets that a push matches, each through one of its flows (decision 20). */
export interface Matches {
  readonly inbound?: Ticket | undefined;
  readonly outbound?: Ticket | undefined;
}

export interface Applied {
  readonly result: TicketResult;
  readonly ticket: Ticket;
}

/** The ids of the two tickets to which the flows of a push belong. */
export interface Conflict {
  readonly conflict: readonly [inbound: string, outbound: string];
}

/** Returns the ticket after the push, or a conflict if its two flows match two different tickets (decision 20). */
export function applyPush({ inbound, outbound }: Matches, push: Push): Applied | Conflict {
  if (inbound !== undefined && outbound !== undefined && inbound.id !== outbound.id) {
    return { conflict: [inbound.id, outbound.id] };
  }
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
 * The contents and each flow are separate registers. The newest push wins each of them, so the order of arrival does not
 * matter (decision 21). A push without any newer part is still stored in the history.
 */
function update(stored: Ticket, push: Push): Applied {
  if (isUnchanged(stored, push)) return { result: 'unchanged', ticket: stored };
  const version = versionOf(push.flows);
  const isApplied = stored.version === null || (version !== null && version >= stored.version);
  const flows: Flows = {
    inbound: newest(stored.flows.inbound, push.flows.inbound),
    outbound: newest(stored.flows.outbound, push.flows.outbound),
  };
  const hasNewFlow = flows.inbound !== stored.flows.inbound || flows.outbound !== stored.flows.outbound;
  const ticket = {
    ...stored,
    ...(isApplied ? { version, contents: push.contents } : {}),
    ...(isApplied || hasNewFlow ? { updatedAt: push.receivedAt } : {}),
    flows,
    revision: stored.revision + 1,
  };
  return { result: isApplied ? 'updated' : 'stale', ticket };
}

/** A push's version is the newest `updatedAt` of its flows (decision 21). */
function versionOf({ inbound, outbound }: Flows): Instant | null {
  if (inbound === undefined || outbound === undefined) return (inbound ?? outbound)?.updatedAt ?? null;
  return inbound.updatedAt > outbound.updatedAt ? inbound.updatedAt : outbound.updatedAt;
}

/** A flow that the push does not have stays. Of two equally new ones the later arrival wins (decision 21). */
export function newest(stored: Flow | undefined, pushed: Flow | undefined): Flow | undefined {
  if (stored === undefined || pushed === undefined) return pushed ?? stored;
  return pushed.updatedAt >= stored.updatedAt && !isSameFlow(stored, pushed) ? pushed : stored;
}

function isUnchanged(stored: Ticket, { contents, flows }: Push): boolean {
  return (
    isSameContents(stored.contents, contents) &&
    hasFlow(stored.flows.inbound, flows.inbound) &&
    hasFlow(stored.flows.outbound, flows.outbound)
  );
}

function hasFlow(stored: Flow | undefined, pushed: Flow | undefined): boolean {
  return pushed === undefined || (stored !== undefined && isSameFlow(stored, pushed));
}

function isSameFlow(a: Flow, b: Flow): boolean {
  return a.ticketNumber === b.ticketNumber && a.updatedAt === b.updatedAt;
}

function isSameContents(a: Contents, b: Contents): boolean {
  return a.materials === b.materials && a.customFields === b.customFields;
}

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

  apply(push: Push): Applied | Conflict {
    const matches = { inbound: this.inbound.find(push), outbound: this.outbound.find(push) };
    const applied = applyPush(matches, push);
    if ('conflict' in applied || applied.result === 'unchanged') return applied;
    const replaced = matches.inbound ?? matches.outbound;
    if (replaced !== undefined) this.remove(replaced);
    this.add(applied.ticket);
    this.record(applied, push, replaced);
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

  private record({ result, ticket }: Applied, { body, receivedAt, origin }: Push, replaced: Ticket | undefined): void {
    const { id, haulerId, revision } = ticket;
    const changes = replaced === undefined ? null : changesOf(replaced, ticket);
    this.revisions.push({ haulerId, ticketId: id, revision, receivedAt, result, body, origin, changes });
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

/** The names of a push's flows, which each belong to at most one ticket (decision 20). */
export function flowKeys({ haulerId, siteId, flows }: Push): string[] {
  return DIRECTIONS.flatMap((direction) => {
    const number = flows[direction]?.ticketNumber;
    return number === undefined ? [] : [`${direction} ${haulerId} ${siteId} ${number}`];
  });
}

/**
 * Those of the items that have no row in common with an earlier one: pushes of one flow are applied one after the other. An item
 * that comes later keeps its rows from those behind it, so that their order stays.
 */
export function firstOfLocks<T extends { readonly lockNames: readonly string[] }>(items: readonly T[]): T[] {
  const taken = new Set<string>();
  return items.filter(({ lockNames }) => {
    const isFirst = !lockNames.some((name) => taken.has(name));
    for (const name of lockNames) taken.add(name);
    return isFirst;
  });
}

/** The order in which batches write new tickets: two batches with the same flows wait for each other and cannot deadlock. */
export function byFlows(a: Ticket | Push, b: Ticket | Push): number {
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
